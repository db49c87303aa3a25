"""A dataset and all inputs that it ever had, as a verification reads them."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.accounts.service import find_account_by_id
from app.context import NodeContext
from app.database import connect
from app.datasets.errors import DatasetNotFound
from app.datasets.model import DatasetInfo
from app.datasets.service import find_dataset_by_pk
from app.transform.chains import read_whole_chain
from app.transform.reading import InputNotHere, find_input
from app.verification.check import Subject
from odf_core.errors import OdfError
from odf_core.identity import DatasetAlias, DatasetId
from odf_core.limits import Limits
from odf_core.metadata import SetTransform, StoredBlock, TransformInput
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Target


async def read_subject(node: NodeContext, dataset_pk: int, account_id: UUID) -> tuple[DatasetInfo, Subject]:
    """The dataset at its head, with the inputs that the account may read.

    Raises `DatasetNotFound`, `DatabaseUnavailable`.
    """
    limits = node.settings.bounds
    async with connect(node.engine) as conn:
        dataset = await find_dataset_by_pk(conn, dataset_pk)
        if dataset is None:
            raise DatasetNotFound("The dataset was deleted.")
        blocks = await read_whole_chain(conn, dataset, limits)
        caller = Caller(await find_account_by_id(conn, account_id))
        inputs = await read_inputs(conn, caller, dataset.alias, blocks, limits)
    return dataset, Subject(Target(dataset.id, str(dataset.alias)), blocks, inputs)


async def read_inputs(
    conn: AsyncConnection,
    caller: Caller,
    alias: DatasetAlias,
    blocks: Sequence[StoredBlock],
    limits: Limits,
) -> dict[DatasetId, InputChain | OdfError]:
    """The chain of each dataset that a transform of the chain names, or why it cannot be read."""
    found: dict[DatasetId, InputChain | OdfError] = {}
    for block in blocks:
        event = block.block.event
        for item in event.inputs if isinstance(event, SetTransform) else ():
            if isinstance(item.dataset_ref, DatasetId) and item.dataset_ref not in found:
                found[item.dataset_ref] = await _chain(conn, caller, alias, item, limits)
    return found


async def _chain(
    conn: AsyncConnection, caller: Caller, alias: DatasetAlias, item: TransformInput, limits: Limits
) -> InputChain | OdfError:
    try:
        dataset = await find_input(conn, caller, alias, item)
    except InputNotHere as error:
        return error
    return InputChain(dataset.id, str(dataset.alias), await read_whole_chain(conn, dataset, limits))
