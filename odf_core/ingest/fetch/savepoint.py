"""Fetched bytes that outlive a failed ingest, so that the next run need not fetch them again."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from odf_core.ingest.fetch.values import FetchContext, Fetched
from odf_core.limits import GiB
from odf_core.metadata.errors import InvalidTimestamp
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import FetchStep
from odf_core.metadata.timestamp import Timestamp

_NOTE = ".json"


class SavepointStore:
    """Savepoints in a folder of their own, on the file system of the work folders.

    At most `max_entries` of at most `max_bytes` together are kept; the oldest make room. A savepoint is
    a file of bytes and a note beside it; without its note a file is nothing and is removed.
    """

    def __init__(self, folder: Path, *, max_bytes: int = 10 * GiB, max_entries: int = 256) -> None:
        self._folder = folder
        self._max_bytes = max_bytes
        self._max_entries = max_entries
        folder.mkdir(parents=True, exist_ok=True)

    @staticmethod
    def key(step: FetchStep, state: SourceState | None, context: FetchContext) -> str:
        """Names what is fetched: dataset, source, step and state (data.md 3.1)."""
        told = repr((context.dataset, context.source_name, step, state))
        return hashlib.sha3_256(told.encode()).hexdigest()

    def find(self, key: str) -> Fetched | None:
        """What an earlier run has left under the key; a savepoint that is not whole is removed."""
        try:
            note = json.loads(self._note(key).read_bytes())
            fetched = _from_note(note, self._folder / key, key)
            if fetched.path.stat().st_size == fetched.size:
                return fetched
        except FileNotFoundError:
            return None
        except (ValueError, TypeError, LookupError, InvalidTimestamp):
            pass  # not a note of this program, or one cut short
        self.remove(key)
        return None

    def keep(self, key: str, fetched: Fetched) -> Fetched:
        """Moves the bytes here and returns them in their new place.

        A borrowed file needs no savepoint and what is larger than the store gets none: they are returned
        as they are.
        """
        if fetched.borrowed or fetched.size > self._max_bytes:
            return fetched
        self._make_room(fetched.size)
        path = fetched.path.replace(self._folder / key)
        draft = self._folder / f"{key}.draft"
        draft.write_text(json.dumps(_to_note(fetched)), encoding="utf-8")
        draft.replace(self._note(key))
        return _moved(fetched, path, key)

    def remove(self, key: str | None) -> None:
        """What was committed, or is not wanted any more; None and unknown keys are nothing."""
        if key is not None:
            self._note(key).unlink(missing_ok=True)
            (self._folder / key).unlink(missing_ok=True)

    def _note(self, key: str) -> Path:
        return self._folder / f"{key}{_NOTE}"

    def _make_room(self, size: int) -> None:
        entries = sorted(self._entries())
        total = size + sum(item[1] for item in entries)
        while entries and (total > self._max_bytes or len(entries) >= self._max_entries):
            _, freed, key = entries.pop(0)
            total -= freed
            self.remove(key)

    def _entries(self) -> Iterator[tuple[int, int, str]]:
        for path in self._folder.iterdir():
            if path.suffix:
                continue
            with suppress(FileNotFoundError):  # removed by another ingest meanwhile
                facts = path.stat()
                yield facts.st_mtime_ns, facts.st_size, path.name


def _moved(fetched: Fetched, path: Path, key: str) -> Fetched:
    return Fetched(
        path=path,
        size=fetched.size,
        source_state=fetched.source_state,
        event_time=fetched.event_time,
        has_more=fetched.has_more,
        savepoint=key,
    )


def _to_note(fetched: Fetched) -> dict[str, Any]:
    state = fetched.source_state
    return {
        "size": fetched.size,
        "state": None if state is None else [state.source_name, state.kind, state.value],
        "event_time": None if fetched.event_time is None else str(fetched.event_time),
        "has_more": fetched.has_more,
    }


def _from_note(note: dict[str, Any], path: Path, key: str) -> Fetched:
    """Raises ValueError, TypeError, LookupError, `InvalidTimestamp` for what `_to_note` has not made."""
    state = None
    if note["state"] is not None:
        name, kind, value = map(str, note["state"])
        state = SourceState(source_name=name, kind=kind, value=value)
    told = note["event_time"]
    return Fetched(
        path=path,
        size=int(note["size"]),
        source_state=state,
        event_time=None if told is None else Timestamp.parse(told),
        has_more=bool(note["has_more"]),
        savepoint=key,
    )
