"""What a worker does for a job: one round after another, each committed with what the job has done so far."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin
from app.ingest.chain import ChainNow, append, read_chain
from app.ingest.engine import slice_urls
from app.ingest.requests import IngestRequest, PullRequest, input_key
from app.ingest.scratch import Scratch
from app.ingest.uploads import require_size
from app.jobs.model import JobInfo
from app.jobs.service import record_result
from odf_core.engines.input_names import naming_input
from odf_core.identity import DatasetId, Multihash
from odf_core.ingest.fetch import FetchContext, FetchPolicy, SavepointStore
from odf_core.ingest.fetch.options import FetchOptions
from odf_core.ingest.merge_job import MergeEngine
from odf_core.ingest.prepare import PrepareContext
from odf_core.ingest.read import ReadOptions
from odf_core.ingest.round import LocateObject
from odf_core.ingest.turn import SourceTurn, Turn
from odf_core.metadata import Timestamp
from odf_core.storage import data_key, dataset_prefix
from odf_core.transfer.errors import HeadMoved

log = structlog.get_logger(__name__)

_TRIES = 3
"""How often a round is done anew because a push came between it and its commit."""
_PIECE_BYTES = 1 << 20


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
                    self._take, job, chain, max(system_time, last), workdir, abandon_on_cancel=True
                )
                try:
                    return done.has_more, await self._commit(job, chain, done)
                except HeadMoved:
                    if not tries_left:
                        raise
                    log.info("round_repeated", job=str(job.id), dataset=str(chain.dataset.alias))
        raise AssertionError("unreachable")

    async def _commit(self, job: JobInfo, chain: ChainNow, done: Turn) -> JobInfo:
        result = _result_so_far(job, chain, done)

        async def record(conn: AsyncConnection) -> None:
            await record_result(conn, job.id, result, attempt=job.attempts, is_final=not done.has_more)

        if done.commit is None:
            async with begin(self.node.engine) as conn:
                await record(conn)
        else:
            await append(self.node, chain.dataset, chain.key_blocks, done.commit, record)
        if done.savepoint is not None:
            SavepointStore(self.scratch.savepoints).remove(done.savepoint)
        return replace(job, result=result)

    def _take(self, job: JobInfo, chain: ChainNow, system_time: Timestamp, workdir: Path) -> Turn:
        """One turn, in a thread: nothing of the dataset is changed."""
        turn = self._turn(chain, workdir)
        if job.kind == "ingest":
            return self._push(job, turn, system_time)
        return self._poll(job, chain, turn, system_time)

    def _push(self, job: JobInfo, turn: SourceTurn, system_time: Timestamp) -> Turn:
        request = IngestRequest.from_values(job.request)
        return turn.push(
            self._download_input(job, request, turn.workdir),
            name=request.file_name or "request body",
            source_name=request.source_name,
            media_type=request.media_type,
            system_time=system_time,
            event_time=None if request.event_time is None else Timestamp.parse(request.event_time),
            may_add_source=request.is_upload,
        )

    def _poll(self, job: JobInfo, chain: ChainNow, turn: SourceTurn, system_time: Timestamp) -> Turn:
        request = PullRequest.from_values(job.request)
        return turn.poll(
            self._fetch_context(chain, system_time, turn.workdir),
            PrepareContext(workdir=turn.workdir, policy=self.policy, environment=self.environment),
            fetch_uncacheable=request.fetch_uncacheable,
            option="fetchUncacheable",
        )

    def _turn(self, chain: ChainNow, workdir: Path) -> SourceTurn:
        def size_of(physical_hash: Multihash) -> int | None:
            found = self.node.store.stat(dataset_prefix(chain.dataset.id) + data_key(physical_hash))
            return None if found is None else found.size

        return SourceTurn(
            dataset=str(chain.dataset.alias),
            history=chain.history,
            engine=self.engine,
            locate=self._locate(chain.dataset.id),
            size_of=size_of,
            workdir=workdir,
            read=ReadOptions(limits=self.node.settings.bounds),
            naming=naming_input,
        )

    def _locate(self, dataset_id: DatasetId) -> LocateObject:
        """Where a slice lies for the engine: in S3 beside a cluster, else in a file here."""
        urls = slice_urls(self.node.settings)
        if urls is not None:
            return partial(urls, dataset_id)
        return partial(self.scratch.fetch, self.node.store, dataset_id)

    def _download_input(self, job: JobInfo, request: IngestRequest, workdir: Path) -> Path:
        path, wanted = workdir / "input", request.size
        with self.node.store.open(input_key(job.id)) as stream, path.open("wb") as file:
            if wanted is not None:  # its uploader could replace it after it was looked at
                require_size(request.file_name or "", wanted, stream.size)
            while piece := stream.read(_PIECE_BYTES):
                file.write(piece)
        return path

    def _fetch_context(self, chain: ChainNow, system_time: Timestamp, workdir: Path) -> FetchContext:
        bounds = self.node.settings.ingest
        return FetchContext(
            workdir=workdir,
            system_time=system_time,
            policy=self.policy,
            options=FetchOptions(max_bytes=bounds.max_bytes, max_file_bytes=bounds.max_file_bytes),
            environment=self.environment,
            dataset=str(chain.dataset.id),
            savepoints=SavepointStore(self.scratch.savepoints),
        )


def _result_so_far(job: JobInfo, chain: ChainNow, done: Turn) -> dict[str, Any]:
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
