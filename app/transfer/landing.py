"""A push's way into the bucket and the index, in the order that promise 2 of the house demands.

Objects are there already (`admission`). Blocks go into the bucket under their hashes, where nobody looks
for them yet; then one transaction makes them and the head visible; then the bucket's copy of the head
follows. A process that dies in between leaves either the old state or the new one, and the start of the
next process brings the bucket's head up to date.
"""

from collections.abc import Awaitable, Callable, Sequence
from functools import partial

import anyio
import anyio.to_thread
import structlog
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin, connect
from app.datasets.mirror import mirror_dataset_info, mirror_head
from app.datasets.model import DatasetInfo
from app.datasets.tables import Dataset, Ref
from app.transfer.commit import NewDataset, commit_blocks
from odf_core.errors import OdfError
from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import StoredBlock
from odf_core.storage import block_key, dataset_prefix

log = structlog.get_logger(__name__)

PARALLEL_BLOCK_WRITES = 16


async def land(
    context: NodeContext,
    *,
    dataset: DatasetInfo | None,
    create: NewDataset | None,
    dataset_id: DatasetId,
    blocks: Sequence[StoredBlock],
    expected_head: Multihash | None,
    replaces_chain: bool,
    within: Callable[[AsyncConnection], Awaitable[None]] | None = None,
) -> None:
    """Make `blocks` the newest part of the dataset and move its head, and do `within` with it.

    Raises what `commit_blocks` raises, `DatabaseUnavailable`, `CommitOutcomeUnknown` and
    `StoreUnavailable`; the dataset is unchanged then, but for an unknown outcome.
    """
    await _write_blocks(context, dataset_id, blocks)
    pk = await commit_blocks(
        context.engine,
        dataset_pk=None if dataset is None else dataset.pk,
        create=create,
        blocks=blocks,
        expected_head=expected_head,
        replaces_chain=replaces_chain,
        within=within,
    )
    try:
        await follow_head(context, pk)
    except OdfError as error:  # the push is committed; `follow_heads` repeats this
        log.warning("head_not_mirrored", code=error.code, dataset_id=str(dataset_id))


async def _write_blocks(context: NodeContext, dataset_id: DatasetId, blocks: Sequence[StoredBlock]) -> None:
    prefix = dataset_prefix(dataset_id)
    limiter = anyio.CapacityLimiter(PARALLEL_BLOCK_WRITES)

    def write(part: Sequence[StoredBlock]) -> None:
        for block in part:
            context.store.write(
                prefix + block_key(block.hash), block.data, size=len(block.data), settle=False
            )

    share = max(1, -(-len(blocks) // PARALLEL_BLOCK_WRITES))
    async with anyio.create_task_group() as group:
        for start in range(0, len(blocks), share):
            part = blocks[start : start + share]
            group.start_soon(partial(anyio.to_thread.run_sync, write, part, limiter=limiter))
    keys = [prefix + block_key(block.hash) for block in blocks]
    await anyio.to_thread.run_sync(context.store.settle, keys)


async def follow_head(context: NodeContext, dataset_pk: int) -> None:
    """Bring the bucket's `refs/head` to the index's head.

    The row stays locked meanwhile, so that of two commits the later one is what the bucket keeps.
    """
    async with begin(context.engine) as conn:
        row = (
            await conn.execute(
                select(Ref.block_hash, Ref.mirrored_hash, Dataset.dataset_id)
                .join(Dataset, Dataset.id == Ref.dataset_pk)
                .where(Ref.dataset_pk == dataset_pk, Ref.name == "head")
                .with_for_update(of=Ref)
            )
        ).one_or_none()
        if row is None or row.mirrored_hash == row.block_hash:
            return
        if row.mirrored_hash is None:  # before the head, without which nobody looks
            await mirror_dataset_info(context.store, conn, dataset_pk)
        head = Multihash.from_bytes(row.block_hash)
        await anyio.to_thread.run_sync(mirror_head, context.store, row.dataset_id, head)
        await conn.execute(
            update(Ref)
            .where(Ref.dataset_pk == dataset_pk, Ref.name == "head")
            .values(mirrored_hash=row.block_hash)
        )


async def follow_heads(context: NodeContext) -> int:
    """Repeat what a crash or an outage of S3 left undone; returns how many heads were behind."""
    async with connect(context.engine) as conn:
        behind = (
            (
                await conn.execute(
                    select(Ref.dataset_pk).where(
                        Ref.name == "head", Ref.mirrored_hash.is_distinct_from(Ref.block_hash)
                    )
                )
            )
            .scalars()
            .all()
        )
    for dataset_pk in behind:
        await follow_head(context, dataset_pk)
    return len(behind)
