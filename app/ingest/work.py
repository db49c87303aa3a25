"""What a worker does for a job: one round after another, each committed with what the job has done so far."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin
from app.ingest.chain import ChainNow, append, read_chain
from app.ingest.requests import IngestRequest, PullRequest, input_key
from app.ingest.scratch import Scratch
from app.jobs.model import JobInfo
from app.jobs.service import record_result
from odf_core.identity import ObjectRef
from odf_core.ingest.commit import IngestCommit
from odf_core.ingest.fetch import FetchContext, FetchPolicy, SavepointStore, UpToDate, fetch
from odf_core.ingest.fetch.options import FetchOptions
from odf_core.ingest.merge_job import MergeEngine
from odf_core.ingest.plan import ReadPlan
from odf_core.ingest.prepare import PrepareContext, prepare
from odf_core.ingest.read import ReadOptions
from odf_core.ingest.round import Round, run_round
from odf_core.ingest.sources import is_uncacheable, polling_source, push_source, source_state
from odf_core.ingest.write import SliceTimes
from odf_core.metadata import Timestamp
from odf_core.transfer.errors import HeadMoved

log = structlog.get_logger(__name__)

_TRIES = 3
"""How often a round is done anew because a push came between it and its commit."""
_PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class _Done:
    """One round: what it adds (None: nothing, and why), and whether the source has more."""

    commit: IngestCommit | None
    why: str | None = None
    has_more: bool = False
    savepoint: str | None = None


@dataclass(slots=True)
class IngestWork:
    """Ingests of one worker; `now` is the system time of rounds that have none given."""

    node: NodeContext
    engine: MergeEngine
    scratch: Scratch
    environment: Mapping[str, str]
    now: Callable[[], Timestamp] = Timestamp.now
    policy: FetchPolicy = field(init=False)

    def __post_init__(self) -> None:
        self.policy = FetchPolicy.node(self.node.settings.ingest.allow)

    async def run(self, job: JobInfo) -> None:
        """Do the whole job, continuing what an earlier attempt has committed.

        Raises `DatasetNotFound`, what reading, fetching, merging, writing and committing raise, and
        `JobSuperseded`; what was committed before stays.
        """
        is_first = True
        while True:
            system_time = self._system_time(job) if is_first else self.now()
            has_more, job = await self._round(job, system_time)
            if not has_more:
                return
            is_first = False

    def _system_time(self, job: JobInfo) -> Timestamp:
        """That of the first attempt, so that one after a kill makes the same bytes again."""
        if job.started_at is None or job.result is not None:
            return self.now()
        return Timestamp.from_datetime(job.started_at)

    async def _round(self, job: JobInfo, system_time: Timestamp) -> tuple[bool, JobInfo]:
        for tries_left in reversed(range(_TRIES)):
            chain = await read_chain(self.node, job.dataset_pk)
            last = chain.key_blocks[-1].block.system_time
            with self.scratch.workdir() as workdir:
                done = await anyio.to_thread.run_sync(
                    self._blocks, job, chain, max(system_time, last), workdir, abandon_on_cancel=True
                )
                try:
                    return done.has_more, await self._commit(job, chain, done)
                except HeadMoved:
                    if not tries_left:
                        raise
                    log.info("round_repeated", job=str(job.id), dataset=str(chain.dataset.alias))
        raise AssertionError("unreachable")

    async def _commit(self, job: JobInfo, chain: ChainNow, done: _Done) -> JobInfo:
        result = _result_so_far(job, chain, done)

        async def record(conn: AsyncConnection) -> None:
            await record_result(conn, job.id, result, attempt=job.attempts, is_final=not done.has_more)

        if done.commit is None:
            async with begin(self.node.engine) as conn:
                await record(conn)
        else:
            await append(self.node, chain, done.commit, record)
        if done.savepoint is not None:
            SavepointStore(self.scratch.savepoints).remove(done.savepoint)
        return replace(job, result=result)

    def _blocks(self, job: JobInfo, chain: ChainNow, system_time: Timestamp, workdir: Path) -> _Done:
        """One round, in a thread: nothing of the dataset is changed."""
        if job.kind == "ingest":
            return self._push(job, chain, system_time, workdir)
        return self._poll(job, chain, system_time, workdir)

    def _push(self, job: JobInfo, chain: ChainNow, system_time: Timestamp, workdir: Path) -> _Done:
        request = IngestRequest.from_values(job.request)
        source = push_source(chain.dataset.alias, chain.history.projection, request.source_name)
        options = ReadOptions(name="the input", limits=self.node.settings.bounds)
        plan = ReadPlan.of_push(source, request.media_type, options)
        path = self._download_input(job, workdir)
        event_time = None if request.event_time is None else Timestamp.parse(request.event_time)
        times = SliceTimes(system_time, event_time or system_time)
        commit = self._merged(plan, path, times, None, chain, workdir)
        return _Done(commit, None if commit is not None else "the input has nothing new")

    def _poll(self, job: JobInfo, chain: ChainNow, system_time: Timestamp, workdir: Path) -> _Done:
        at = chain.history.projection
        source = polling_source(chain.dataset.alias, at)
        if is_uncacheable(source, at) and not PullRequest.from_values(job.request).fetch_uncacheable:
            return _Done(None, "the source tells no state (fetchUncacheable fetches it anew)")
        context = self._fetch_context(chain, system_time, workdir)
        fetched = fetch(source.fetch, source_state(source, at), context)
        if isinstance(fetched, UpToDate):
            return _Done(None, "the source has nothing new")
        preparing = PrepareContext(workdir=workdir, policy=self.policy, environment=self.environment)
        path = prepare(source.prepare or (), fetched.path, preparing)
        plan = ReadPlan.of_polling(source, ReadOptions(limits=self.node.settings.bounds))
        times = SliceTimes(system_time, fetched.event_time or system_time)
        commit = self._merged(plan, path, times, fetched.source_state, chain, workdir)
        why = None if commit is not None else "the input has nothing new"
        return _Done(commit, why, fetched.has_more and commit is not None, fetched.savepoint)

    def _merged(
        self, plan: ReadPlan, path: Path, times: SliceTimes, state: Any, chain: ChainNow, workdir: Path
    ) -> IngestCommit | None:
        staged = plan.staged(path, chain.history, workdir)
        work = Round(staged, plan.merge, plan.preprocess, times, state)

        def locate(ref: ObjectRef) -> Path:
            return self.scratch.fetch(self.node.store, chain.dataset.id, ref)

        return run_round(work, chain.history, self.engine, locate, workdir)

    def _download_input(self, job: JobInfo, workdir: Path) -> Path:
        path = workdir / "input"
        with self.node.store.open(input_key(job.id)) as stream, path.open("wb") as file:
            while piece := stream.read(_PIECE_BYTES):
                file.write(piece)
        return path

    def _fetch_context(self, chain: ChainNow, system_time: Timestamp, workdir: Path) -> FetchContext:
        return FetchContext(
            workdir=workdir,
            system_time=system_time,
            policy=self.policy,
            options=FetchOptions(max_bytes=self.node.settings.ingest.max_bytes),
            environment=self.environment,
            dataset=str(chain.dataset.id),
            savepoints=SavepointStore(self.scratch.savepoints),
        )


def _result_so_far(job: JobInfo, chain: ChainNow, done: _Done) -> dict[str, Any]:
    """What the job has come to with this round: the fields of `IngestResult`."""
    head = str(chain.dataset.head)
    before = job.result or {"oldHead": head, "numBlocks": 0, "numRecords": 0}
    blocks = before["numBlocks"] + (len(done.commit.blocks) if done.commit is not None else 0)
    records = before["numRecords"] + (done.commit.num_records if done.commit is not None else 0)
    result: dict[str, Any] = {
        "result": "Updated" if blocks else "UpToDate",
        "oldHead": before["oldHead"],
        "newHead": head if done.commit is None else str(done.commit.blocks[-1].hash),
        "numBlocks": blocks,
        "numRecords": records,
    }
    if not blocks:
        result["why"] = done.why
    return result
