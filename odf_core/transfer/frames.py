"""What a session hands to its connection: text messages (whole or in pieces) and close frames."""

from collections.abc import Iterator

from odf_core.transfer.model import CloseFrame
from odf_core.transfer.payload import PayloadText

CLOSE_NORMAL = 1000
CLOSE_INTERNAL = 1011
"""The code of every error close (wire.md 3.6)."""

MAX_REASON_BYTES = 123
"""What a control frame leaves for the reason; a receiver breaks off at more."""

_PIECE = 256 * 1024


class TextMessage:
    """One WebSocket text message. `chunks` can be called again; nothing is held between."""

    __slots__ = ("_parts",)

    def __init__(self, *parts: bytes | PayloadText) -> None:
        self._parts = parts

    def chunks(self) -> Iterator[bytes]:
        """UTF-8 text in pieces of at most 256 KiB: the frames of one fragmented message."""
        for part in self._parts:
            if isinstance(part, bytes):
                for start in range(0, len(part), _PIECE):
                    yield part[start : start + _PIECE]
            else:
                yield from part.chunks()

    @property
    def size(self) -> int:
        """Bytes of the whole message, counted without making it."""
        return sum(len(part) if isinstance(part, bytes) else part.size for part in self._parts)

    def to_bytes(self) -> bytes:
        """The whole message as UTF-8."""
        return b"".join(self.chunks())

    def to_text(self) -> str:
        """The whole message."""
        return self.to_bytes().decode("utf-8")

    def __repr__(self) -> str:
        return f"TextMessage({self.size} bytes)"


Outgoing = TextMessage | CloseFrame
