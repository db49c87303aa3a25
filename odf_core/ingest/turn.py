"""One turn of a source: bytes that were pushed or fetched become the blocks of one commit (data.md 3).

A workspace and a node's workers take turns alike; how the blocks get into the dataset is theirs.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

from odf_core.ingest.commit import IngestCommit
from odf_core.ingest.fetch import FetchContext, Fetched, UpToDate, fetch
from odf_core.ingest.history import History
from odf_core.ingest.links import ObjectSize
from odf_core.ingest.merge_job import MergeEngine
from odf_core.ingest.plan import ReadPlan
from odf_core.ingest.prepare import PrepareContext, prepare
from odf_core.ingest.read import ReadOptions
from odf_core.ingest.round import LocateObject, Round, run_round
from odf_core.ingest.sources import (
    automatic_source,
    is_uncacheable,
    polling_source,
    push_source,
    source_state,
)
from odf_core.ingest.write import SliceTimes
from odf_core.metadata import FetchStep, FetchStepUrl, MetadataEvent, SourceState, Timestamp

Naming: TypeAlias = Callable[[str, str], AbstractContextManager[None]]
"""Has what is raised inside say which input it is about, and of which dataset."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What a turn adds (`commit` None: nothing, and why), and whether the source has more after it.

    `savepoint` is what may be forgotten of the fetch once the commit is in the dataset.
    """

    commit: IngestCommit | None
    why: str | None = None
    has_more: bool = False
    savepoint: str | None = None


@dataclass(frozen=True, slots=True)
class SourceTurn:
    """A turn of the sources of `dataset` (as messages call it) after `history`.

    Files are made below `workdir`, that of the new slice among them: it has to be placed before the folder
    goes. `read` bounds the reading.
    """

    dataset: str
    history: History
    engine: MergeEngine
    locate: LocateObject
    size_of: ObjectSize
    workdir: Path
    read: ReadOptions
    naming: Naming

    def push(
        self,
        path: Path,
        *,
        name: str,
        source_name: str | None,
        media_type: str | None,
        system_time: Timestamp,
        event_time: Timestamp | None,
        may_add_source: bool = False,
    ) -> Turn:
        """Take in the file `path`, which messages call `name`, through a push source. `event_time` is for
        records that have none, else system time stands in. `may_add_source`: a dataset without a source
        gets one of the file's format.

        Raises `PushSourceNotFound`, `PushSourceAmbiguous`, what reading, merging and writing raise.
        """
        at = self.history.projection
        added = automatic_source(at, source_name, media_type) if may_add_source else None
        source = added or push_source(self.dataset, at, source_name)
        plan = ReadPlan.of_push(source, media_type, replace(self.read, name=name))
        times = SliceTimes(system_time, event_time or system_time)
        with self.naming(name, self.dataset):
            return self._merged(plan, path, times, None, first=() if added is None else (added,))

    def poll(
        self, fetching: FetchContext, preparing: PrepareContext, *, fetch_uncacheable: bool, option: str
    ) -> Turn:
        """Ask the polling source for what is newer than its last state.

        `option` is how a caller asks for `fetch_uncacheable`. Raises `NoPollingSource`, what fetching,
        preparing, reading, merging and writing raise.
        """
        at = self.history.projection
        source = polling_source(self.dataset, at)
        if is_uncacheable(source, at) and not fetch_uncacheable:
            return Turn(None, f"the source tells no state ({option} fetches it anew)")
        fetched = fetch(source.fetch, source_state(source, at), fetching)
        if isinstance(fetched, UpToDate):
            return Turn(None, "the source has nothing new")
        name = _name_of(source.fetch, fetched)
        plan = ReadPlan.of_polling(source, replace(self.read, name=name))
        times = SliceTimes(fetching.system_time, fetched.event_time or fetching.system_time)
        with self.naming(name, self.dataset):
            path = prepare(source.prepare or (), fetched.path, preparing)
            turn = self._merged(plan, path, times, fetched.source_state)
        # Without a commit the state stays as it is, and the next turn would fetch the same again.
        has_more = fetched.has_more and turn.commit is not None
        return replace(turn, has_more=has_more, savepoint=fetched.savepoint)

    def _merged(
        self,
        plan: ReadPlan,
        path: Path,
        times: SliceTimes,
        state: SourceState | None,
        first: tuple[MetadataEvent, ...] = (),
    ) -> Turn:
        staged = plan.staged(path, self.history, self.workdir)
        work = Round(staged, plan.merge, plan.preprocess, times, state, first, plan.read.schema)
        commit = run_round(work, self.history, self.engine, self.locate, self.size_of, self.workdir)
        return Turn(commit, "the input has nothing new" if commit is None else None)


def _name_of(step: FetchStep, fetched: Fetched) -> str:
    """The URL as the manifest has it, for its templates may hold secrets; of other sources the file."""
    return step.url if isinstance(step, FetchStepUrl) else fetched.path.name
