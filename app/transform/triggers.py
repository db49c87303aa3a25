"""When derivative datasets get jobs: in the transaction that moves an input, and when left behind."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

from sqlalchemy import exists, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin
from app.datasets.service import HEAD
from app.datasets.tables import Dataset, Ref
from app.jobs.service import add_job, find_waiting
from app.jobs.tables import Job
from app.mirrors.tables import Repository
from app.transform.inputs import note_blocks, note_forgotten
from app.transform.tables import Derivation, DerivationInput
from odf_core.metadata import StoredBlock

_AT_ONCE = 100


async def start_transform(conn: AsyncConnection, dataset_pk: int, account_id: UUID) -> UUID:
    """The job that brings the dataset up to date: the one that waits already, else a new one.

    One that waits is begun only after the transaction of `conn`, so it sees what this one does.
    """
    waiting = await find_waiting(conn, "transform", dataset_pk, keep_waiting=True)
    if waiting is not None:
        return waiting
    return await add_job(
        conn, uuid4(), kind="transform", dataset_pk=dataset_pk, account_id=account_id, request={}
    )


async def after_commit(
    conn: AsyncConnection, dataset_pk: int, blocks: Sequence[StoredBlock], *, replaces_chain: bool
) -> None:
    """What follows from a commit, in its transaction: its own inputs noted, its readers woken.

    Raises `TransformCycle`.
    """
    has_new_inputs = await note_blocks(conn, dataset_pk, blocks, replaces_chain=replaces_chain)
    for pk, owner_id in await _readers(conn, dataset_pk, with_itself=has_new_inputs):
        await start_transform(conn, pk, owner_id)


async def _readers(conn: AsyncConnection, dataset_pk: int, *, with_itself: bool) -> list[tuple[int, UUID]]:
    """The automatic datasets that read this one, and their owners; in one order for all transactions."""
    own = select(Dataset.dataset_id).where(Dataset.id == dataset_pk).scalar_subquery()
    reads = exists().where(
        DerivationInput.dataset_pk == Derivation.dataset_pk, DerivationInput.input_id == own
    )
    wanted = reads | (Derivation.dataset_pk == dataset_pk) if with_itself else reads
    rows = await conn.execute(
        select(Dataset.id, Dataset.owner_id)
        .join(Derivation, Derivation.dataset_pk == Dataset.id)
        .where(Derivation.is_automatic, wanted)
        .order_by(Dataset.id)
    )
    return [(row.id, row.owner_id) for row in rows]


async def start_stragglers(node: NodeContext) -> int:
    """Make a job for each automatic dataset that is behind an input, or lacks one that a registered
    repository may have, and has no job; how many.

    This is where a dataset whose job failed gets another one, `transform.retry_seconds` later. Raises
    `DatabaseUnavailable`.
    """
    await note_forgotten(node.engine, node.settings.bounds)
    patience = timedelta(seconds=node.settings.transform.retry_seconds)
    is_behind = exists(
        select(DerivationInput.position)
        .join(Dataset, Dataset.dataset_id == DerivationInput.input_id)
        .join(Ref, (Ref.dataset_pk == Dataset.id) & (Ref.name == HEAD))
        .where(
            DerivationInput.dataset_pk == Derivation.dataset_pk,
            DerivationInput.seen_hash.is_distinct_from(Ref.block_hash),
        )
    )
    lacks_input = exists(
        select(DerivationInput.position)
        .outerjoin(Dataset, Dataset.dataset_id == DerivationInput.input_id)
        .where(DerivationInput.dataset_pk == Derivation.dataset_pk, Dataset.id.is_(None))
    ) & exists(select(Repository.name))
    has_job = exists().where(
        Job.dataset_pk == Derivation.dataset_pk,
        Job.kind == "transform",
        Job.finished_at.is_(None)
        | (Job.finished_at > datetime.now(UTC) - patience) & (Job.state == "failed"),
    )
    async with begin(node.engine) as conn:
        rows = await conn.execute(
            select(Derivation.dataset_pk, Dataset.owner_id)
            .join_from(Derivation, Dataset, Dataset.id == Derivation.dataset_pk)
            .where(Derivation.is_automatic, is_behind | lacks_input, ~has_job)
            .order_by(Derivation.dataset_pk)
            .limit(_AT_ONCE)
            .with_for_update(of=Derivation, skip_locked=True)
        )
        behind = rows.all()
        for row in behind:
            await start_transform(conn, row.dataset_pk, row.owner_id)
    return len(behind)
