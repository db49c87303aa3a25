"""Files of a local pattern, one after another in the order of their names (data.md 3.1)."""

import glob
from itertools import islice
from pathlib import Path

from odf_core.ingest.errors import FetchStepUnsupported, InvalidFetchStep, SourceTooLarge
from odf_core.ingest.fetch.event_time import time_of_path
from odf_core.ingest.fetch.local import file_facts
from odf_core.ingest.fetch.policy import Permission
from odf_core.ingest.fetch.values import ETAG, FetchContext, Fetched, UpToDate
from odf_core.metadata.enums import SourceOrdering
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import (
    EventTimeSourceFromMetadata,
    EventTimeSourceFromPath,
    FetchStepFilesGlob,
)


def fetch_glob(
    step: FetchStepFilesGlob, state: SourceState | None, context: FetchContext
) -> Fetched | UpToDate:
    """The first file whose name is greater than the last one's, where it lies; the state is its name.

    Raises `FetchNotAllowed`, `FetchStepUnsupported`, `InvalidFetchStep`, `SourceNotFound`,
    `SourceUnreachable`, `EventTimeUnreadable`, `SourceTooLarge` (also: too many files).
    """
    context.policy.require(Permission.FILES_GLOB, "Fetching files of this machine by a pattern")
    if step.order is SourceOrdering.BY_EVENT_TIME:
        raise FetchStepUnsupported(
            "Files are fetched in the order of their names: the state of such a source is the last "
            "name, which an order by event time does not follow. Leave `order` out, or set it to ByName."
        )
    last = state.value if state is not None and state.kind == ETAG else None
    waiting = [path for path in _matches(step.path, context) if last is None or path.name > last]
    if not waiting:
        return UpToDate()
    chosen = min(waiting, key=lambda path: path.name)
    _refuse_twins(chosen, waiting)
    size, modified = file_facts(chosen, context.options.max_file_bytes)
    event_time = context.system_time
    if isinstance(step.event_time, EventTimeSourceFromPath):
        event_time = time_of_path(step.event_time, chosen.as_posix())
    elif isinstance(step.event_time, EventTimeSourceFromMetadata):
        event_time = modified
    return Fetched(
        path=chosen,
        size=size,
        source_state=context.state(ETAG, chosen.name),
        event_time=event_time,
        has_more=len(waiting) > 1,
        borrowed=True,
    )


def _matches(pattern: str, context: FetchContext) -> list[Path]:
    """Files that match, folders left out; a name that is no text is refused, as no state can hold it."""
    if "\0" in pattern or not _is_text(pattern):
        raise InvalidFetchStep("The pattern of the fetch step has a character that no path has.")
    limit = context.options.max_glob_files
    # Path.glob takes no absolute patterns.
    found = list(islice(glob.iglob(pattern, recursive=True), limit + 1))  # noqa: PTH207
    if len(found) > limit:
        raise SourceTooLarge(f"The pattern {pattern[:500]!r} matches more than {limit} files.")
    for name in found:
        if not _is_text(name):
            raise InvalidFetchStep(f"The pattern matches {name!r}, whose name is not UTF-8; rename the file.")
    return [path for path in map(Path, found) if path.is_file()]


def _is_text(name: str) -> bool:
    try:
        name.encode()
    except UnicodeEncodeError:
        return False
    return True


def _refuse_twins(chosen: Path, waiting: list[Path]) -> None:
    twins = sorted(str(path) for path in waiting if path.name == chosen.name)
    if len(twins) > 1:
        raise InvalidFetchStep(
            f"{twins[0]} and {twins[1]} have the same name; files are told apart by their names, so one of "
            "them would never be fetched. Rename one, or narrow the pattern.",
            objects=twins[:2],
        )
