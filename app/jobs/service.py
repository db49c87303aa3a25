"""Jobs in the index: made with their place in the queue, begun, and ended in their effect's transaction."""

from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.accounts.model import Caller
from app.database import begin, connect
from app.jobs.errors import JobExists, JobNotFound, JobSuperseded, error_values
from app.jobs.model import JobInfo, JobKind
from app.jobs.queue import enqueue
from app.jobs.tables import Job
from odf_core.errors import OdfError

_COLUMNS = (
    Job.id,
    Job.kind,
    Job.dataset_pk.label("subject_pk"),
    Job.account_id,
    Job.request,
    Job.state,
    Job.attempts,
    Job.result,
    Job.error,
    Job.created_at,
    Job.started_at,
    Job.finished_at,
)


def _info(row: Row[*tuple[Any, ...]]) -> JobInfo:
    return JobInfo(**row._mapping)


async def add_job(
    conn: AsyncConnection,
    job_id: UUID,
    *,
    kind: JobKind,
    dataset_pk: int | None,
    account_id: UUID,
    request: dict[str, Any],
    idempotency_key: str | None = None,
    lock: str | None = None,
) -> UUID:
    """A job and its place in the queue, in the transaction of `conn`; its id. Without a dataset, `lock` says
    which jobs run one after another.

    It is the id of an earlier job where the account has sent the same `idempotency_key` for the dataset.
    Raises `JobExists` where `job_id` is that of another dataset's or account's job.
    """
    made = await conn.execute(
        insert(Job)
        .values(
            id=job_id,
            kind=kind,
            dataset_pk=dataset_pk,
            account_id=account_id,
            idempotency_key=idempotency_key,
            request=request,
        )
        .on_conflict_do_nothing()
        .returning(Job.id)
    )
    if made.scalar_one_or_none() is not None:
        await enqueue(conn, job_id, lock or f"dataset:{dataset_pk}")
        return job_id
    earlier = await find_repeated(conn, dataset_pk, account_id, idempotency_key)
    if earlier is not None:
        return earlier
    known = await find_job(conn, job_id)
    if known is None or (known.subject_pk, known.account_id) != (dataset_pk, account_id):
        raise JobExists(f"Job {job_id} exists, and is another's.", objects=[job_id])
    return job_id


async def find_repeated(
    conn: AsyncConnection, dataset_pk: int | None, account_id: UUID, idempotency_key: str | None
) -> UUID | None:
    """The job that the account has asked for with this key, None where there is none (or no key)."""
    if idempotency_key is None:
        return None
    found = await conn.execute(
        select(Job.id).where(
            Job.dataset_pk == dataset_pk,
            Job.account_id == account_id,
            Job.idempotency_key == idempotency_key,
        )
    )
    return found.scalar_one_or_none()


async def find_waiting(
    conn: AsyncConnection, kind: JobKind, dataset_pk: int, *, keep_waiting: bool = False
) -> UUID | None:
    """The job of this kind that the dataset has in its queue and that nobody has begun.

    With `keep_waiting` nobody begins it before the transaction of `conn` is over.
    """
    wanted = (
        select(Job.id)
        .where(Job.dataset_pk == dataset_pk, Job.kind == kind, Job.state == "waiting")
        .order_by(Job.created_at)
        .limit(1)
    )
    found = await conn.execute(wanted.with_for_update(read=True) if keep_waiting else wanted)
    return found.scalar_one_or_none()


async def unfinished_jobs(engine: AsyncEngine, kind: JobKind) -> list[UUID]:
    """The jobs of this kind that are still to be done or under way. Raises `DatabaseUnavailable`."""
    async with connect(engine) as conn:
        found = await conn.execute(select(Job.id).where(Job.kind == kind, Job.finished_at.is_(None)))
    return list(found.scalars())


async def find_job(conn: AsyncConnection, job_id: UUID) -> JobInfo | None:
    """The job, None where there is none."""
    row = (await conn.execute(select(*_COLUMNS).where(Job.id == job_id))).one_or_none()
    return None if row is None else _info(row)


async def read_job(engine: AsyncEngine, job_id: UUID) -> JobInfo:
    """The job. Raises `JobNotFound`, `DatabaseUnavailable`."""
    async with connect(engine) as conn:
        found = await find_job(conn, job_id)
    if found is None:
        raise _not_found(job_id)
    return found


async def read_job_of(engine: AsyncEngine, caller: Caller, job_id: UUID) -> JobInfo:
    """The job, if it is the caller's own or the caller an admin. Raises as `read_job`."""
    account, job = caller.require_account(), await read_job(engine, job_id)
    if job.account_id != account.id and not account.is_admin:
        raise _not_found(job_id)
    return job


def _not_found(job_id: UUID) -> JobNotFound:
    return JobNotFound(f"There is no job {job_id}, or it is not yours.", objects=[job_id])


async def begin_job(engine: AsyncEngine, job_id: UUID) -> JobInfo | None:
    """Count one more attempt; the job, or None where it is over or gone (with its dataset)."""
    async with begin(engine) as conn:
        row = (
            await conn.execute(
                update(Job)
                .where(Job.id == job_id, Job.finished_at.is_(None))
                .values(
                    state="running",
                    attempts=Job.attempts + 1,
                    started_at=func.coalesce(Job.started_at, func.now()),
                )
                .returning(*_COLUMNS)
            )
        ).one_or_none()
    return None if row is None else _info(row)


async def record_result(
    conn: AsyncConnection, job_id: UUID, result: dict[str, Any], *, attempt: int, is_final: bool
) -> None:
    """What the job has done, in the transaction that does it.

    Raises `JobSuperseded` where it is over already, or where another worker took it up meanwhile because
    this one was thought dead: the transaction then undoes what it did.
    """
    values: dict[str, Any] = {"result": result}
    if is_final:
        values |= {"state": "done", "finished_at": datetime.now(UTC)}
    changed = await conn.execute(
        update(Job)
        .where(Job.id == job_id, Job.finished_at.is_(None), Job.attempts == attempt)
        .values(**values)
        .returning(Job.id)
    )
    if changed.scalar_one_or_none() is None:
        raise JobSuperseded(f"Job {job_id} was taken over by another worker.", objects=[job_id])


async def fail_job(engine: AsyncEngine, job_id: UUID, error: OdfError) -> None:
    """End the job with an error; nothing where it is over already."""
    async with begin(engine) as conn:
        await conn.execute(
            update(Job)
            .where(Job.id == job_id, Job.finished_at.is_(None))
            .values(state="failed", finished_at=datetime.now(UTC), error=error_values(error))
        )


async def forget_jobs(engine: AsyncEngine, older_than: timedelta) -> int:
    """Remove jobs that ended so long ago; how many."""
    async with begin(engine) as conn:
        gone = await conn.execute(
            delete(Job).where(Job.finished_at < datetime.now(UTC) - older_than).returning(Job.id)
        )
    return len(gone.scalars().all())
