"""The chain of a dataset as an ingest needs it: read from the index, and continued by the node's commit."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

import anyio.to_thread
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import connect
from app.datasets.errors import DatasetNotFound
from app.datasets.model import DatasetInfo
from app.datasets.service import find_dataset_by_pk
from app.datasets.tables import StoredObject
from app.ingest.histories import read_history
from app.transfer.claims import take_in
from app.transfer.landing import land
from odf_core.identity import Multihash, ObjectRef
from odf_core.ingest.commit import IngestCommit
from odf_core.ingest.history import History
from odf_core.metadata import StoredBlock
from odf_core.storage import dataset_prefix, object_key
from odf_core.transform.commit import TransformCommit

Within = Callable[[AsyncConnection], Awaitable[None]]
"""What else is to happen in the transaction of a commit."""


@dataclass(frozen=True, slots=True)
class ChainNow:
    """A dataset at one moment: its head, the history up to it, the blocks that decide what may follow."""

    dataset: DatasetInfo
    history: History
    key_blocks: tuple[StoredBlock, ...]


async def read_chain(node: NodeContext, dataset_pk: int) -> ChainNow:
    """The chain of a dataset at its head. Raises `DatasetNotFound`, `DatabaseUnavailable`."""
    async with connect(node.engine) as conn:
        dataset = await find_dataset_by_pk(conn, dataset_pk)
        if dataset is None:
            raise DatasetNotFound("The dataset was deleted.")
        return ChainNow(dataset, *await read_history(conn, dataset, node.settings.bounds))


async def append(
    node: NodeContext,
    dataset: DatasetInfo,
    key_blocks: Sequence[StoredBlock],
    commit: IngestCommit | TransformCommit,
    within: Within,
) -> Multihash:
    """Make `commit` the newest part of the dataset, whose chain is that of `key_blocks`; the new head.

    Objects first, then blocks and head in one transaction with `within` (promise 2 of the house). Raises
    the refusals of `ChainState.append`, `HeadMoved`, what `within` raises, `StoreUnavailable`,
    `DatabaseUnavailable`, `CommitOutcomeUnknown`.
    """
    intake = take_in(key_blocks, commit.blocks, node.settings.bounds)
    await anyio.to_thread.run_sync(_put_objects, node, dataset, commit)

    async def with_objects(conn: AsyncConnection) -> None:
        await _remember(conn, dataset, list(commit.objects))
        await within(conn)

    await land(
        node,
        dataset=dataset,
        create=None,
        dataset_id=dataset.id,
        blocks=intake.blocks,
        expected_head=dataset.head,
        replaces_chain=False,
        within=with_objects,
    )
    return intake.blocks[-1].hash


def _put_objects(node: NodeContext, dataset: DatasetInfo, commit: IngestCommit | TransformCommit) -> None:
    """Under their content keys: what is there already is the same bytes."""
    keys = []
    for ref, path in commit.objects.items():
        key = dataset_prefix(dataset.id) + object_key(ref)
        with path.open("rb") as file:
            node.store.write(key, file, size=path.stat().st_size, settle=False)
        keys.append(key)
    node.store.settle(keys)


async def _remember(conn: AsyncConnection, dataset: DatasetInfo, refs: list[ObjectRef]) -> None:
    if refs:
        rows = [
            {
                "dataset_id": dataset.id.multibase,
                "kind": ref.kind.value,
                "hash": ref.hash.to_bytes(),
                "size": ref.size,
            }
            for ref in refs
        ]
        await conn.execute(insert(StoredObject).on_conflict_do_nothing(), rows)
