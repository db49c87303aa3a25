"""What a worker does for a transform: one step after another, each committed with what the job has done."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin
from app.ingest.chain import append
from app.ingest.scratch import Scratch
from app.jobs.model import JobInfo
from app.jobs.service import record_result
from app.transform.engines import engines_of
from app.transform.inputs import mark_seen
from app.transform.reading import Target, read_target
from odf_core.identity import DatasetId, ObjectRef
from odf_core.metadata import Timestamp
from odf_core.transfer.errors import HeadMoved
from odf_core.transform import execute
from odf_core.transform.commit import TransformCommit, commit_of
from odf_core.transform.derivation import Derivation
from odf_core.transform.plan import plan_next
from odf_core.workspace.transforms import ChooseEngine

log = structlog.get_logger(__name__)

_TRIES = 3
"""How often a step is done anew because somebody else's commit came between it and its own."""


@dataclass(frozen=True, slots=True)
class Step:
    """What a step came to; no commit: the inputs have nothing more."""

    commit: TransformCommit | None
    late_rows: int = 0


@dataclass(slots=True)
class TransformWork:
    """Transforms of one worker; `now` is the system time of steps."""

    node: NodeContext
    choose: ChooseEngine
    scratch: Scratch
    bring_inputs: Callable[[JobInfo], Awaitable[None]]
    """Has the inputs that are on other nodes mirrored here (`app.mirrors`)."""
    now: Callable[[], Timestamp] = Timestamp.now

    async def run(self, job: JobInfo) -> None:
        """Bring the dataset up to date, continuing what an earlier attempt has committed.

        Raises what `bring_inputs` raises, `DatasetNotFound`, `TransformNotDefined`, `InputNotHere`,
        `InputDiverged`, `TransformInputsChanged`, what the engine raises, `IncompatibleResult`, what
        committing raises, and `JobSuperseded`; what was committed before stays.
        """
        await self.bring_inputs(job)
        has_more, system_time = True, self._first_time(job)
        while has_more:
            has_more, job = await self._step(job, system_time)
            system_time = self.now()

    def _first_time(self, job: JobInfo) -> Timestamp:
        """That of the first attempt, so that one after a kill makes the same bytes again."""
        if job.started_at is None or job.result is not None:
            return self.now()
        return Timestamp.from_datetime(job.started_at)

    async def _step(self, job: JobInfo, system_time: Timestamp) -> tuple[bool, JobInfo]:
        for tries_left in reversed(range(_TRIES)):
            target = await read_target(self.node, job.dataset_pk, job.account_id)
            moment = max(system_time, target.blocks[-1].block.system_time)
            with self.scratch.workdir() as workdir:
                done = await anyio.to_thread.run_sync(
                    self._take, target, moment, workdir, abandon_on_cancel=True
                )
                try:
                    return done.commit is not None, await self._commit(job, target, done)
                except HeadMoved:
                    if not tries_left:
                        raise
                    log.info("step_repeated", job=str(job.id), dataset=str(target.dataset.alias))
        raise AssertionError("unreachable")

    def _take(self, target: Target, system_time: Timestamp, workdir: Path) -> Step:
        """One step, in a thread: nothing of the dataset is changed."""
        derivation = Derivation.of(target.blocks)
        planned = plan_next(derivation.state, target.chains, changed_since=derivation.changed_since)
        if planned is None:
            return Step(None)
        choose = engines_of(self.node.settings, self.choose, target.dataset.id)
        executed = execute.execute_step(
            planned,
            execute.Target(target.dataset.id, str(target.dataset.alias)),
            choose(planned.transform),
            system_time,
            self._locate,
            workdir,
        )
        return Step(commit_of(executed, system_time), executed.done.late_rows)

    def _locate(self, dataset_id: DatasetId, ref: ObjectRef) -> Path:
        return self.scratch.fetch(self.node.store, dataset_id, ref)

    async def _commit(self, job: JobInfo, target: Target, done: Step) -> JobInfo:
        result = _result_so_far(job, target, done)
        record = partial(
            record_result, job_id=job.id, result=result, attempt=job.attempts, is_final=done.commit is None
        )
        if done.commit is not None:

            async def within(conn: AsyncConnection) -> None:
                await record(conn)

            await append(self.node, target.dataset, target.blocks, done.commit, within)
        else:
            async with begin(self.node.engine) as conn:
                await record(conn)
                await mark_seen(conn, target.dataset.pk, target.heads)
        return replace(job, result=result)


def _result_so_far(job: JobInfo, target: Target, done: Step) -> dict[str, Any]:
    """What the job has come to with this step: the fields of `IngestResult`."""
    head = str(target.dataset.head)
    before = job.result or {"oldHead": head, "numBlocks": 0, "numRecords": 0}
    commit = done.commit
    blocks = before["numBlocks"] + (len(commit.blocks) if commit is not None else 0)
    late = before.get("lateRecords", 0) + done.late_rows
    result: dict[str, Any] = {
        "result": "Updated" if blocks else "UpToDate",
        "oldHead": before["oldHead"],
        "newHead": head if commit is None else str(commit.blocks[-1].hash),
        "numBlocks": blocks,
        "numRecords": before["numRecords"] + (commit.num_records if commit is not None else 0),
    }
    if late:
        result["lateRecords"] = late
    if not blocks:
        result["why"] = "the inputs have nothing new"
    return result
