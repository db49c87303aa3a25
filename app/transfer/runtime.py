"""What all sessions of one process share: the archives, and how many sessions there are."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import ClassVar

from app.settings import TransferSettings
from app.transfer.archive_cache import ArchiveCache
from odf_core.errors import Unavailable


class NodeBusy(Unavailable):
    """The node has as many sessions as it takes, or is about to stop."""

    code: ClassVar[str] = "node_busy"


@dataclass(slots=True)
class TransferRuntime:
    """Made once by `app.main`; `draining` refuses new sessions while old ones end."""

    archives: ArchiveCache
    max_sessions: int
    sessions: int = 0
    draining: bool = False

    @classmethod
    def of(cls, settings: TransferSettings) -> "TransferRuntime":
        archives = ArchiveCache(settings.archive_cache_bytes, settings.archive_parallelism)
        return cls(archives, settings.max_sessions)

    @contextmanager
    def session(self) -> Iterator[None]:
        """A place among the sessions; raises `NodeBusy` (503 with Retry-After) before the upgrade."""
        if self.draining or self.sessions >= self.max_sessions:
            raise NodeBusy("The node takes no more sessions at this moment; try again shortly.")
        self.sessions += 1
        try:
            yield
        finally:
            self.sessions -= 1

    def close(self) -> None:
        self.archives.close()
