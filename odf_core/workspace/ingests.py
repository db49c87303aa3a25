"""Ingest into datasets of a workspace: a file that is pushed in, or a source that is polled (data.md 3)."""

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from odf_core.engines.input_names import naming_input
from odf_core.identity import Multihash
from odf_core.ingest.fetch import FetchContext, FetchPolicy, SavepointStore
from odf_core.ingest.fetch.options import FetchOptions
from odf_core.ingest.merge_job import MergeEngine
from odf_core.ingest.prepare import PrepareContext, PrepareOptions
from odf_core.ingest.read import ReadOptions
from odf_core.ingest.turn import SourceTurn, Turn
from odf_core.metadata import Timestamp
from odf_core.workspace.creation import append_blocks
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.history import read_history
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
            turn = self._turn(dataset, workdir).push(
                path,
                name=name or path.name,
                source_name=source_name,
                media_type=media_type,
                system_time=self.now(),
                event_time=event_time,
            )
            return _placed(dataset, turn)

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
        with self._workdir() as workdir:
            context = self._context(dataset, workdir)
            turn = self._turn(dataset, workdir).poll(
                context,
                self._preparing(workdir),
                fetch_uncacheable=fetch_uncacheable,
                option="--fetch-uncacheable",
            )
            done = _placed(dataset, turn)
            if context.savepoints is not None and turn.savepoint is not None:
                context.savepoints.remove(turn.savepoint)
        return done, turn.has_more

    def _turn(self, dataset: LocalDataset, workdir: Path) -> SourceTurn:
        return SourceTurn(
            dataset=str(dataset.alias),
            history=read_history(dataset.folder),
            engine=self.engine,
            locate=dataset.folder.object_path,
            size_of=dataset.folder.data_size,
            workdir=workdir,
            read=self.read_options,
            naming=naming_input,
        )

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


def _placed(dataset: LocalDataset, turn: Turn) -> Ingested:
    """The turn's commit in the dataset."""
    old_head, commit = dataset.head, turn.commit
    if commit is None:
        return Ingested(dataset, old_head, old_head, why=turn.why)
    new_head = append_blocks(dataset.folder, commit.blocks, commit.objects)
    return Ingested(dataset, old_head, new_head, len(commit.blocks), commit.num_records)
