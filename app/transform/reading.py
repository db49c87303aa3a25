"""A derivative dataset and its inputs as one job sees them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.accounts.service import find_account_by_id
from app.context import NodeContext
from app.database import connect
from app.datasets.access import authorize
from app.datasets.errors import DatasetNotFound
from app.datasets.model import Action, DatasetAddress, DatasetInfo
from app.datasets.service import find_dataset, find_dataset_by_id, find_dataset_by_pk
from app.transform.chains import read_whole_chain
from odf_core.errors import NotFound
from odf_core.identity import DatasetAlias, DatasetId, Multihash
from odf_core.metadata import StoredBlock, TransformInput
from odf_core.transform.chains import InputChain
from odf_core.transform.derivation import Derivation
from odf_core.transform.errors import TransformNotDefined


class InputNotHere(NotFound):
    """An input is not on this node, or whoever the dataset is computed for may not read it."""

    code: ClassVar[str] = "input_not_here"


@dataclass(frozen=True, slots=True)
class Target:
    """A derivative dataset with its blocks, and its inputs in the order of its transform."""

    dataset: DatasetInfo
    blocks: tuple[StoredBlock, ...]
    inputs: tuple[DatasetInfo, ...]
    chains: tuple[InputChain, ...]

    @property
    def heads(self) -> list[tuple[DatasetId, Multihash]]:
        """The inputs with the heads that were read."""
        return [(item.id, item.head) for item in self.inputs]


async def read_target(node: NodeContext, dataset_pk: int, account_id: UUID) -> Target:
    """What a step of the dataset is planned from, by the rights of the account.

    Raises `DatasetNotFound`, `TransformNotDefined`, `InputNotHere`, `DatabaseUnavailable`.
    """
    limits = node.settings.bounds
    async with connect(node.engine) as conn:
        dataset = await find_dataset_by_pk(conn, dataset_pk)
        if dataset is None:
            raise DatasetNotFound("The dataset was deleted.")
        blocks = await read_whole_chain(conn, dataset, limits)
        caller = Caller(await find_account_by_id(conn, account_id))
        inputs = [await find_input(conn, caller, dataset.alias, item) for item in _inputs_of(dataset, blocks)]
        chains = [
            InputChain(item.id, str(item.alias), await read_whole_chain(conn, item, limits))
            for item in inputs
        ]
    return Target(dataset, blocks, tuple(inputs), tuple(chains))


def _inputs_of(dataset: DatasetInfo, blocks: Sequence[StoredBlock]) -> Sequence[TransformInput]:
    event = Derivation.of(blocks).state.transform
    if event is None:
        raise TransformNotDefined(
            f"{dataset.alias} has no transformation: it is not computed from other datasets.",
            objects=[dataset.id],
        )
    return event.inputs


async def find_input(
    conn: AsyncConnection, caller: Caller, reader: DatasetAlias, item: TransformInput
) -> DatasetInfo:
    """The dataset that an input of `reader` names, if the caller may read it. Raises `InputNotHere`."""
    ref = item.dataset_ref
    if isinstance(ref, DatasetId):
        found = await find_dataset_by_id(conn, ref)
    else:
        owner = ref.account or reader.account
        found = None if owner is None else await find_dataset(conn, DatasetAddress(owner, ref.name))
    try:
        return authorize(caller, found, Action.READ)
    except DatasetNotFound as error:
        raise InputNotHere(
            f"The input {ref} of {reader} is neither on this node nor on a repository registered here, "
            "or its owner may not read it; push it here, or have it made readable.",
            objects=[ref],
        ) from error
