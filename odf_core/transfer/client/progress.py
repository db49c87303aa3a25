"""What a transfer tells whoever watches it; every method may be called from any thread."""

from enum import StrEnum


class Phase(StrEnum):
    """What a transfer is doing."""

    CONNECT = "connect"
    BLOCKS = "blocks"
    OBJECTS = "objects"
    COMMIT = "commit"


class Progress:
    """A watcher that does nothing; derive from it what should be shown."""

    def phase(self, phase: Phase, *, count: int = 0, size: int = 0) -> None:
        """A phase begins, with `count` things of `size` bytes ahead (0: not known)."""

    def moved(self, size: int) -> None:
        """`size` more bytes went over the wire; negative when they have to go again."""

    def done(self, count: int = 1) -> None:
        """`count` more things of this phase are in place."""

    def note(self, message: str) -> None:
        """Something that a person may want to know: a retry, URLs asked for anew."""


SILENT = Progress()
"""The watcher for callers that watch nothing."""
