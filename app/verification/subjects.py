"""A dataset and all inputs that it ever had, as a verification reads them; and what these are made of."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.accounts.service import find_account_by_id
from app.context import NodeContext
from app.database import connect
from app.datasets.access import may_write
from app.datasets.errors import DatasetNotFound
from app.datasets.model import DatasetInfo
from app.datasets.service import find_dataset_by_pk
from app.transform.chains import read_whole_chain
from app.transform.lineage import MOST_DATASETS, LineageTooLarge
from app.transform.reading import InputNotHere, find_input
from app.verification.check import Subject
from odf_core.errors import OdfError
from odf_core.identity import DatasetAlias, DatasetId
from odf_core.limits import Limits
from odf_core.metadata import SetTransform, StoredBlock, TransformInput
from odf_core.transform.chains import InputChain
from odf_core.transform.execute import Target
from odf_core.verify.lineage import inputs_first


@dataclass(frozen=True, slots=True)
class SubjectFound:
    """A subject as the index has it; `may_write`: whoever asked may also write to it."""

    dataset: DatasetInfo
    subject: Subject
    may_write: bool


async def read_subjects(
    node: NodeContext, dataset_pk: int, account_id: UUID, *, recursive: bool
) -> list[SubjectFound]:
    """The dataset at its head, with the inputs that the account may read: the last one. Before it, if
    `recursive`, all that it is computed from as far as the account may read, each once, inputs first.

    Raises `DatasetNotFound`, `LineageTooLarge`, `DatabaseUnavailable`.
    """
    async with connect(node.engine) as conn:
        asked = await find_dataset_by_pk(conn, dataset_pk)
        if asked is None:
            raise DatasetNotFound("The dataset was deleted.")
        caller = Caller(await find_account_by_id(conn, account_id))
        reading = _Reading(conn, caller, node.settings.bounds)
        found = await reading.upstream(asked) if recursive else {asked.id: await reading.subject(asked)}

    def inputs(dataset_id: DatasetId) -> Iterator[DatasetId]:
        return (item for item in found[dataset_id].subject.inputs if item in found)

    return [found[item] for item in inputs_first([asked.id], inputs)]


async def read_inputs(
    conn: AsyncConnection,
    caller: Caller,
    alias: DatasetAlias,
    blocks: Sequence[StoredBlock],
    limits: Limits,
) -> Mapping[DatasetId, InputChain | OdfError]:
    """The chain of each dataset that a transform of the chain names, or why it cannot be read."""
    return await _Reading(conn, caller, limits).inputs(alias, blocks)


@dataclass(slots=True)
class _Reading:
    """Each chain is read once: what is replayed over is what was verified."""

    conn: AsyncConnection
    caller: Caller
    limits: Limits
    datasets: dict[DatasetId, DatasetInfo] = field(default_factory=dict)
    chains: dict[DatasetId, InputChain] = field(default_factory=dict)

    async def upstream(self, asked: DatasetInfo) -> dict[DatasetId, SubjectFound]:
        found: dict[DatasetId, SubjectFound] = {}
        waiting = [asked]
        while waiting:
            dataset = waiting.pop()
            if dataset.id in found:
                continue
            if len(found) == MOST_DATASETS:
                raise LineageTooLarge(
                    f"{asked.alias} is computed from more than {MOST_DATASETS} datasets; verify those that "
                    "are further up first, and then this one alone.",
                    objects=[asked.id],
                )
            found[dataset.id] = taken = await self.subject(dataset)
            waiting += [self.datasets[item] for item in taken.subject.inputs if item in self.datasets]
        return found

    async def subject(self, dataset: DatasetInfo) -> SubjectFound:
        blocks = (await self._chain(dataset)).blocks
        inputs = await self.inputs(dataset.alias, blocks)
        subject = Subject(Target(dataset.id, str(dataset.alias)), blocks, inputs)
        return SubjectFound(dataset, subject, may_write(self.caller, dataset))

    async def inputs(
        self, alias: DatasetAlias, blocks: Sequence[StoredBlock]
    ) -> dict[DatasetId, InputChain | OdfError]:
        found: dict[DatasetId, InputChain | OdfError] = {}
        for block in blocks:
            event = block.block.event
            for item in event.inputs if isinstance(event, SetTransform) else ():
                if isinstance(item.dataset_ref, DatasetId) and item.dataset_ref not in found:
                    found[item.dataset_ref] = await self._input(alias, item)
        return found

    async def _input(self, alias: DatasetAlias, item: TransformInput) -> InputChain | OdfError:
        try:
            return await self._chain(await find_input(self.conn, self.caller, alias, item))
        except InputNotHere as error:
            return error

    async def _chain(self, dataset: DatasetInfo) -> InputChain:
        known = self.chains.get(dataset.id)
        if known is None:
            blocks = await read_whole_chain(self.conn, dataset, self.limits)
            known = self.chains[dataset.id] = InputChain(dataset.id, str(dataset.alias), blocks)
            self.datasets[dataset.id] = dataset
        return known
