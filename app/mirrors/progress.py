"""How far the pull of a mirror is, for the job's row; and where it is too much."""

from typing import Any, ClassVar

from app.mirrors.errors import MirrorTooLarge
from odf_core.errors import Conflict
from odf_core.transfer.client import Phase, Progress


class PullStopped(Conflict):
    """The job of a pull is over; its threads end with this."""

    code: ClassVar[str] = "pull_stopped"


class PullProgress(Progress):
    """Counts what comes from `source`. Numbers may be a little behind: they are for people."""

    def __init__(self, source: str, most_bytes: int) -> None:
        self._source, self._most_bytes = source, most_bytes
        self._phase, self._of, self._done = Phase.CONNECT, 0, 0
        self._bytes, self._of_bytes = 0, 0
        self.is_stopped = False

    def phase(self, phase: Phase, *, count: int = 0, size: int = 0) -> None:
        """Raises `MirrorTooLarge` before the first byte of objects that are more than the node takes."""
        if phase is Phase.OBJECTS and size > self._most_bytes:
            raise MirrorTooLarge(
                f"{self._source} has {size} new bytes, and the node takes {self._most_bytes} at once; its "
                "operator can allow more (mirrors.max_bytes).",
                objects=[self._source],
            )
        self._phase, self._of, self._done = phase, count, 0
        self._bytes, self._of_bytes = 0, size

    def moved(self, size: int) -> None:
        """Raises `PullStopped`."""
        if self.is_stopped:
            raise PullStopped("The job of this pull is over.")
        self._bytes += size

    def done(self, count: int = 1) -> None:
        self._done += count

    def to_values(self) -> dict[str, Any]:
        """What a job's status shows."""
        return {
            "source": self._source,
            "phase": self._phase.value,
            "count": self._of,
            "countDone": self._done,
            "bytes": self._of_bytes,
            "bytesDone": self._bytes,
        }
