"""A worker: takes jobs from the queue one at a time, and looks after those whose worker died."""

import asyncio
import contextlib
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from datetime import timedelta
from uuid import UUID

import anyio.to_thread
import procrastinate
import structlog
from procrastinate.retry import RetryStrategy

from app.context import NodeContext
from app.database import CommitOutcomeUnknown, DatabaseUnavailable
from app.jobs.errors import JobAbandoned, JobSuperseded
from app.jobs.model import JobInfo, JobKind
from app.jobs.queue import TASK, worker_queue
from app.jobs.rescue import rescue_stalled
from app.jobs.service import begin_job, fail_job, forget_jobs
from odf_core.engines.errors import EngineBusy, EngineDied
from odf_core.errors import InternalError, OdfError
from odf_core.storage import StoreUnavailable, discard_session
from odf_core.transfer.client import RemoteUnavailable
from odf_core.transfer.errors import ConnectionLost

log = structlog.get_logger(__name__)

Work = Callable[[JobInfo], Awaitable[None]]
"""Does a job, and ends it in the transaction of its effect."""
Chore = Callable[[], Awaitable[object]]
"""What workers do beside jobs, at each tick."""

_PASSING = (
    CommitOutcomeUnknown,
    ConnectionLost,
    DatabaseUnavailable,
    EngineBusy,
    EngineDied,
    RemoteUnavailable,
    StoreUnavailable,
)
"""Errors that say nothing about the job: it is tried again."""
_GRACE_SECONDS = 20.0


def by_kind(works: Mapping[JobKind, Work]) -> Work:
    """Does each job as its kind is done."""

    async def work(job: JobInfo) -> None:
        await works[job.kind](job)

    return work


class Worker:
    """Works on the node's jobs until it is told to stop."""

    def __init__(self, node: NodeContext, work: Work, chores: Sequence[Chore] = ()) -> None:
        self._node, self._work, self._chores = node, work, chores
        self._settings = node.settings.jobs
        self._queue = worker_queue(node.settings.database)
        retry = RetryStrategy(exponential_wait=2, retry_exceptions=_PASSING)
        self._queue.task(name=TASK, retry=retry)(self._run)

    async def run(self) -> None:
        """Work until SIGINT or SIGTERM; a job under way may end first. Raises `DatabaseUnavailable`."""
        async with _opened(self._queue):
            ticks = asyncio.create_task(self._tick_for_ever(), name="ticks")
            try:
                await self._queue.run_worker_async(
                    name=f"odf-{os.getpid()}",
                    concurrency=1,
                    fetch_job_polling_interval=self._settings.poll_seconds,
                    update_heartbeat_interval=self._settings.heartbeat_seconds,
                    stalled_worker_timeout=self._settings.stalled_seconds,
                    shutdown_graceful_timeout=_GRACE_SECONDS,
                    delete_jobs="always",
                )
            finally:
                ticks.cancel()
                await asyncio.gather(ticks, return_exceptions=True)

    async def _run(self, job_id: str) -> None:
        """The task of the queue. Raises only what is to be tried again later."""
        job = await begin_job(self._node.engine, UUID(job_id))
        if job is None:  # done by a worker that died before it could say so, or gone with its dataset
            await self._discard(UUID(job_id))
            return
        told = log.bind(job=job_id, kind=job.kind, attempt=job.attempts)
        try:
            if job.attempts > self._settings.max_attempts:
                raise JobAbandoned(
                    f"The job was begun {job.attempts - 1} times and its worker died each time; the worker's "
                    "log may say why.",
                    objects=[job.id],
                )
            await self._work(job)
            told.info("job_done")
        except JobSuperseded:
            told.warning("job_superseded")
        except _PASSING as error:
            told.warning("job_put_off", code=error.code, message=error.message)
            if job.attempts < self._settings.max_attempts:
                raise
            await self._fail(job, error)
        except OdfError as error:
            told.info("job_failed", code=error.code, message=error.message)
            await self._fail(job, error)
        except Exception:  # noqa: BLE001 - the last place before the queue, which would only log it
            told.exception("job_broke")
            fault = f"The job {job.id} failed by a fault of the node; the worker's log has the details."
            await self._fail(job, InternalError(fault))
        else:
            await self._discard(job.id)

    async def _fail(self, job: JobInfo, error: OdfError) -> None:
        await fail_job(self._node.engine, job.id, error)
        await self._discard(job.id)

    async def _discard(self, job_id: UUID) -> None:
        """Remove the staged input; what fails here is swept later with other uploads."""
        with contextlib.suppress(StoreUnavailable):
            await anyio.to_thread.run_sync(discard_session, self._node.store, job_id)

    async def _tick_for_ever(self) -> None:
        """Chores, again and again; an outage is logged and ends with the next round that succeeds."""
        pause = min(self._settings.stalled_seconds / 3, 10.0)
        keep = timedelta(days=self._settings.keep_days)
        while True:
            try:
                rescued = await rescue_stalled(self._node.engine, self._queue, self._settings.stalled_seconds)
                if rescued:
                    log.warning("jobs_rescued", count=rescued)
                await forget_jobs(self._node.engine, keep)
                for chore in self._chores:
                    await chore()
            except OdfError as error:
                log.warning("tick_failed", code=error.code)
            except procrastinate.exceptions.ProcrastinateException as error:
                log.warning("tick_failed", reason=repr(error))
            await asyncio.sleep(pause)


@contextlib.asynccontextmanager
async def _opened(queue: procrastinate.App):  # type: ignore[no-untyped-def]
    try:
        await queue.open_async()
    except procrastinate.exceptions.ConnectorException as error:
        raise DatabaseUnavailable("The database does not answer; the worker cannot start.") from error
    try:
        yield
    finally:
        await queue.close_async()
