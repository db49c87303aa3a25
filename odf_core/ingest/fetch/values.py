"""What a fetch is given and what it brings back."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING

from odf_core.ingest.fetch.options import FetchOptions
from odf_core.ingest.fetch.policy import FetchPolicy
from odf_core.metadata.events import SourceState
from odf_core.metadata.timestamp import Timestamp

if TYPE_CHECKING:
    from odf_core.ingest.fetch.savepoint import SavepointStore

ETAG = "odf/etag"
LAST_MODIFIED = "odf/last-modified"
DEFAULT_SOURCE = "default"

ProgressFn = Callable[[int, int | None], None]
"""Told of bytes so far and, where the source announced it, of the total. What it raises ends the fetch."""


def _silent(_so_far: int, _total: int | None) -> None:
    """Nobody watches."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchContext:
    """Where and under which rules a fetch runs.

    New files are made below `workdir`, which exists and belongs to this ingest. `environment` is where
    templates and containers find variables, as far as `policy` lets them. `dataset` (its id) names
    the session at an MQTT broker; without it messages that came between two polls are lost.
    """

    workdir: Path
    system_time: Timestamp
    policy: FetchPolicy
    options: FetchOptions = field(default_factory=FetchOptions)
    environment: Mapping[str, str] = field(default_factory=dict)
    source_name: str = DEFAULT_SOURCE
    dataset: str | None = None
    progress: ProgressFn = _silent
    savepoints: "SavepointStore | None" = None

    def new_path(self) -> Path:
        """A path below `workdir` where nothing is yet."""
        return self.workdir / f"fetched-{token_hex(8)}"

    def state(self, kind: str, value: str) -> SourceState:
        """The state of this context's source."""
        return SourceState(source_name=self.source_name, kind=kind, value=value)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """A file of raw bytes.

    `event_time` None: the source tells none, system time stands in (data.md 3.1). `has_more`: another
    fetch with `source_state` finds more. `borrowed`: the file is the source itself and must stay as it
    is. `savepoint`: the key to remove from the context's savepoints after the commit.
    """

    path: Path
    size: int
    source_state: SourceState | None
    event_time: Timestamp | None
    has_more: bool = False
    borrowed: bool = False
    savepoint: str | None = None


@dataclass(frozen=True, slots=True)
class UpToDate:
    """The source has nothing that is newer than the state."""
