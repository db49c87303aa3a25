"""How far a verification is, counted by the threads that verify, and told at the job meanwhile."""

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Iterator
from typing import Any

import structlog

from app.context import NodeContext
from app.database import begin
from app.jobs.model import JobInfo
from app.jobs.service import record_result
from odf_core.errors import OdfError
from odf_core.verify import Progress, ProgressCallback

log = structlog.get_logger(__name__)


class LineageProgress:
    """The datasets of one verification, by their names. Threads may share it."""

    def __init__(self, total: int) -> None:
        self._total, self._done = total, 0
        self._current: dict[str, Progress | None] = {}
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def of(self, name: str) -> Iterator[ProgressCallback]:
        """While a dataset is verified: what is to be called after each item of it."""
        with self._lock:
            self._current[name] = None
        try:
            yield self._callback(name)
        finally:
            with self._lock:
                del self._current[name]
                self._done += 1

    def _callback(self, name: str) -> ProgressCallback:
        def show(progress: Progress) -> None:
            with self._lock:
                self._current[name] = progress

        return show

    def to_json(self) -> dict[str, Any]:
        """The fields of `VerificationProgress` (app.jobs.routes)."""
        with self._lock:
            current = [_told(name, progress) for name, progress in self._current.items()]
            return {"datasets": self._total, "verified": self._done, "current": current}


@contextlib.asynccontextmanager
async def told_at_job(
    node: NodeContext, job: JobInfo, progress: LineageProgress, seconds: float
) -> AsyncIterator[None]:
    """While the block lasts, the job's row tells the progress, so often at most."""
    telling = asyncio.create_task(_tell(node, job, progress, seconds), name="progress")
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)


async def _tell(node: NodeContext, job: JobInfo, progress: LineageProgress, seconds: float) -> None:
    """Ends where it cannot be told: the verification goes on, and its end meets the same trouble."""
    told = None
    try:
        while True:
            found = progress.to_json()
            if found != told:
                async with begin(node.engine) as conn:
                    await record_result(
                        conn, job.id, {"progress": found}, attempt=job.attempts, is_final=False
                    )
                told = found
            await asyncio.sleep(seconds)
    except OdfError as error:
        log.warning("progress_not_told", job=str(job.id), code=error.code)


def _told(name: str, progress: Progress | None) -> dict[str, Any]:
    if progress is None:
        return {"dataset": name}
    return {"dataset": name, "phase": progress.phase, "done": progress.done, "total": progress.total}
