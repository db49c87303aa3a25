"""Ingest into datasets of a workspace: a file that is pushed in, or a source that is polled (data.md 3)."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

from odf_core.identity import Multihash
from odf_core.ingest.fetch import FetchContext, FetchPolicy, SavepointStore, UpToDate, fetch
from odf_core.ingest.fetch.options import FetchOptions
from odf_core.ingest.history import History
from odf_core.ingest.merge_job import MergeEngine
from odf_core.ingest.plan import ReadPlan
from odf_core.ingest.prepare import PrepareContext, PrepareOptions, prepare
from odf_core.ingest.read import ReadOptions
from odf_core.ingest.round import Round, run_round
from odf_core.ingest.sources import is_uncacheable, polling_source, push_source, source_state
from odf_core.ingest.write import SliceTimes
from odf_core.metadata import SourceState, Timestamp
from odf_core.workspace.creation import append_blocks
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.input_names import name_of, naming_input
from odf_core.workspace.workspace import Workspace

_PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Ingested:
    """What an ingest came to. `why` says why nothing was added, where nothing was."""

    dataset: LocalDataset
    old_head: Multihash | None
    new_head: Multihash | None
    num_blocks: int = 0
    num_records: int = 0
    why: str | None = None

    @property
    def is_updated(self) -> bool:
        """Whether there are new blocks."""
        return self.old_head != self.new_head


@dataclass(slots=True)
class Ingests:
    """Ingests by `engine`; `now` is read once for each round and is the system time of its blocks."""

    workspace: Workspace
    engine: MergeEngine
    now: Callable[[], Timestamp] = Timestamp.now
    policy: FetchPolicy = field(default_factory=FetchPolicy.person)
    fetch_options: FetchOptions = field(default_factory=FetchOptions)
    prepare_options: PrepareOptions = field(default_factory=PrepareOptions)
    read_options: ReadOptions = field(default_factory=ReadOptions)
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def push(
        self,
        reference: str,
        path: Path,
        *,
        source_name: str | None = None,
        media_type: str | None = None,
        event_time: Timestamp | None = None,
        name: str | None = None,
    ) -> Ingested:
        """Ingest the file `path` through a push source. `event_time` is for records that have none, else
        system time stands in; `media_type` where the file is not of the source's own format; `name` is
        what messages call the input.

        Raises `LocalDatasetNotFound`, `PushSourceNotFound`, `PushSourceAmbiguous`, what reading, merging
        and writing raise, `DatasetBusy`.
        """
        dataset = self.workspace.dataset(reference)
        with dataset.lock(patience=_PATIENCE_SECONDS), self._workdir() as workdir:
            history = _history(dataset)
            source = push_source(dataset.alias, history.projection, source_name)
            system_time = self.now()
            name = name or path.name
            plan = ReadPlan.of_push(source, media_type, replace(self.read_options, name=name))
            times = SliceTimes(system_time, event_time or system_time)
            with naming_input(name, str(dataset.alias)):
                return self._round(dataset, history, plan, path, times, None, workdir)

    def poll(self, reference: str, *, fetch_uncacheable: bool = False) -> Ingested:
        """Ask the polling source for news until it has no more; each file is a commit of its own.

        Raises `LocalDatasetNotFound`, `NoPollingSource`, what fetching, preparing, reading, merging and
        writing raise, `DatasetBusy`. What was committed before an error stays.
        """
        dataset = self.workspace.dataset(reference)
        with dataset.lock(patience=_PATIENCE_SECONDS):
            old_head = dataset.head
            blocks = records = 0
            why: str | None = None
            while True:
                done, has_more = self._poll_once(dataset, fetch_uncacheable)
                blocks, records = blocks + done.num_blocks, records + done.num_records
                why = why or done.why
                if not has_more:
                    return Ingested(dataset, old_head, dataset.head, blocks, records, None if blocks else why)

    def _poll_once(self, dataset: LocalDataset, fetch_uncacheable: bool) -> tuple[Ingested, bool]:
        history = _history(dataset)
        at = history.projection
        source = polling_source(dataset.alias, at)
        if is_uncacheable(source, at) and not fetch_uncacheable:
            return _unchanged(
                dataset, "the source tells no state (--fetch-uncacheable fetches it anew)"
            ), False
        with self._workdir() as workdir:
            context = self._context(dataset, workdir)
            fetched = fetch(source.fetch, source_state(source, at), context)
            if isinstance(fetched, UpToDate):
                return _unchanged(dataset, "the source has nothing new"), False
            name = name_of(source.fetch, fetched)
            plan = ReadPlan.of_polling(source, replace(self.read_options, name=name))
            times = SliceTimes(context.system_time, fetched.event_time or context.system_time)
            with naming_input(name, str(dataset.alias)):
                path = prepare(source.prepare or (), fetched.path, self._preparing(workdir))
                done = self._round(dataset, history, plan, path, times, fetched.source_state, workdir)
            if context.savepoints is not None and fetched.savepoint is not None:
                context.savepoints.remove(fetched.savepoint)
        return done, fetched.has_more

    def _round(
        self,
        dataset: LocalDataset,
        history: History,
        plan: ReadPlan,
        path: Path,
        times: SliceTimes,
        state: SourceState | None,
        workdir: Path,
    ) -> Ingested:
        staged = plan.staged(path, history, workdir)
        work = Round(staged, plan.merge, plan.preprocess, times, state)
        commit = run_round(work, history, self.engine, dataset.folder.object_path, workdir)
        if commit is None:
            return _unchanged(dataset, "the input has nothing new")
        old_head = dataset.head
        new_head = append_blocks(dataset.folder, commit.blocks, commit.objects)
        return Ingested(dataset, old_head, new_head, len(commit.blocks), commit.num_records)

    def _context(self, dataset: LocalDataset, workdir: Path) -> FetchContext:
        return FetchContext(
            workdir=workdir,
            system_time=self.now(),
            policy=self.policy,
            options=self.fetch_options,
            environment=self.environment,
            dataset=str(dataset.id),
            savepoints=SavepointStore(self.workspace.root / "savepoints"),
        )

    def _preparing(self, workdir: Path) -> PrepareContext:
        return PrepareContext(
            workdir=workdir, policy=self.policy, options=self.prepare_options, environment=self.environment
        )

    @contextmanager
    def _workdir(self) -> Iterator[Path]:
        """A folder inside the workspace, so that new slices need not cross file systems."""
        parent = self.workspace.root / "work"
        parent.mkdir(exist_ok=True)
        path = Path(tempfile.mkdtemp(prefix="ingest-", dir=parent))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


def _history(dataset: LocalDataset) -> History:
    return History.of(reversed(list(dataset.folder.walk())))


def _unchanged(dataset: LocalDataset, why: str) -> Ingested:
    return Ingested(dataset, dataset.head, dataset.head, why=why)
