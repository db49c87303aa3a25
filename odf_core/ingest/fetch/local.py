"""Files of this machine: used where they lie, and known by their time of modification."""

import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path
from urllib.parse import SplitResult, unquote

from odf_core.ingest.errors import InvalidFetchStep, SourceNotFound, SourceTooLarge, SourceUnreachable
from odf_core.ingest.fetch.event_time import time_of_path
from odf_core.ingest.fetch.policy import Permission
from odf_core.ingest.fetch.values import LAST_MODIFIED, FetchContext, Fetched, UpToDate
from odf_core.metadata.errors import InvalidTimestamp
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import (
    EventTimeSource,
    EventTimeSourceFromPath,
    EventTimeSourceFromSystemTime,
    FetchStepUrl,
)
from odf_core.metadata.timestamp import Timestamp

_MILLISECOND = 1_000_000
_DAY_MILLISECONDS = 86_400_000
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def fetch_file(
    step: FetchStepUrl, url: SplitResult, state: SourceState | None, context: FetchContext
) -> Fetched | UpToDate:
    """`file:///…`, without a copy; up to date when the time of modification is that of the state.

    Raises `FetchNotAllowed`, `InvalidFetchStep`, `SourceNotFound`, `SourceUnreachable`, `SourceTooLarge`.
    """
    context.policy.require(Permission.FILE, "Fetching a file of this machine")
    path = _path_of(url)
    size, modified = file_facts(path, context.options.max_file_bytes)
    if state is not None and state.kind == LAST_MODIFIED and _same_moment(state.value, modified):
        return UpToDate()
    return Fetched(
        path=path,
        size=size,
        source_state=context.state(LAST_MODIFIED, str(modified)),
        event_time=_event_time(step.event_time, path, modified, context),
        borrowed=True,
    )


def file_facts(path: Path, most: int) -> tuple[int, Timestamp]:
    """Size and time of modification (in milliseconds) of a regular file of at most `most` bytes.

    Raises `SourceNotFound`, `SourceUnreachable` for what is no file or may not be read, `SourceTooLarge`.
    """
    try:
        facts = path.stat()
        if not stat.S_ISREG(facts.st_mode):
            raise SourceUnreachable(f"{path} is no regular file.", objects=(path,))
        with path.open("rb"):
            pass
    except FileNotFoundError as error:
        raise SourceNotFound(f"There is no file {path}.", objects=(path,)) from error
    except (OSError, ValueError) as error:  # ValueError: a NUL in the path
        raise SourceUnreachable(f"{str(path)!r} cannot be read: {error}.", objects=(path,)) from error
    if facts.st_size > most:
        raise SourceTooLarge(f"{path} has {facts.st_size} bytes; {most} are allowed.", objects=(path,))
    return facts.st_size, _rounded(facts.st_mtime_ns)


def _path_of(url: SplitResult) -> Path:
    path = unquote(url.path)
    if url.hostname not in (None, "localhost") or not path.startswith("/"):
        raise InvalidFetchStep("A file URL has the form file:///absolute/path.")
    return Path(path)


def _rounded(nanoseconds: int) -> Timestamp:
    """Halves go up, as in the deployed implementation, whose states have to compare equal."""
    days, rest = divmod((nanoseconds + _MILLISECOND // 2) // _MILLISECOND, _DAY_MILLISECONDS)
    seconds, milliseconds = divmod(rest, 1000)
    day = Timestamp.from_datetime(_EPOCH + timedelta(days=days))
    return day._replace(seconds=seconds, nanoseconds=milliseconds * _MILLISECOND)


def _same_moment(text: str, modified: Timestamp) -> bool:
    try:
        return Timestamp.parse(text) == modified
    except InvalidTimestamp:
        return False  # written by something else: whatever it means, it is not this file's time


def _event_time(
    source: EventTimeSource | None, path: Path, modified: Timestamp, context: FetchContext
) -> Timestamp:
    if isinstance(source, EventTimeSourceFromPath):
        return time_of_path(source, path.as_posix())
    if isinstance(source, EventTimeSourceFromSystemTime):
        return context.system_time
    return modified
