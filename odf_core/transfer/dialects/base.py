"""What a dialect is: an encoding of one session, without logic of its own (wire-published.md, end)."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

from odf_core.errors import OdfError
from odf_core.limits import Limits
from odf_core.transfer.dialects.codec import Codec
from odf_core.transfer.dialects.reading import to_bytes, top_level_keys
from odf_core.transfer.errors import ConnectionLost, MessageTooLarge, PushOutcomeUnknown
from odf_core.transfer.frames import CLOSE_INTERNAL, Outgoing, TextMessage
from odf_core.transfer.messages import PUSH_CONFIRMED, Message, Party
from odf_core.transfer.model import CloseFrame, MediaType, Payload, Phase

T = TypeVar("T")
_TOO_BIG = 1009


class Dialect(ABC):
    """One encoding of the session's messages, errors and archives. Its instances hold no state."""

    name: ClassVar[str]
    subprotocol: ClassVar[str | None]
    archive_media_type: ClassVar[MediaType]
    has_progress: ClassVar[bool]
    """Whether uploads are reported and ended by messages of their own."""

    codecs: Mapping[Message[Any], Codec[Any]]

    def encode(self, message: Message[T], value: T) -> TextMessage:
        """Text of a message; DialectLimitation if the dialect has no words for it."""
        return self.codecs[message].encode(value)

    def decode(self, message: Message[T], text: bytes | str, limits: Limits) -> T:
        """Value of the message that is due.

        A text of the server may tell an error instead, which is raised as it was meant there. Raises
        MalformedMessage, UnexpectedMessage and the leaves of what the message holds.
        """
        data = to_bytes(text)
        if message.sender is Party.SERVER:
            error = self.peer_error(data, message)
            if error is not None:
                raise error
        value: T = self.codecs[message].decode(data, limits)
        return value

    def which(self, text: bytes | str, *candidates: Message[Any]) -> Message[Any]:
        """The candidate whose fields the text has; without a match, the last one."""
        if len(candidates) == 1:
            return candidates[0]
        keys = top_level_keys(to_bytes(text), candidates[-1])
        for candidate in candidates:
            markers = self.codecs[candidate].markers
            if markers and markers <= keys:
                return candidate
        return candidates[-1]

    @abstractmethod
    def peer_error(self, data: bytes, awaiting: Message[Any]) -> OdfError | None:
        """The error that a server's text tells, None if it tells none."""

    @abstractmethod
    def encode_error(
        self, error: OdfError, awaiting: Message[Any], phase: Phase | None = None
    ) -> tuple[Outgoing, ...]:
        """What to send to a client that waits for `awaiting`, so that it learns of the error.

        Without a CloseFrame at its end, the client is expected to close. `phase` is that of `awaiting`
        unless told otherwise.
        """

    def defers(self, error: OdfError, awaiting: Message[Any]) -> bool:
        """Whether the client can read this error only as answer to its next message."""
        return False

    def close_error(self, frame: CloseFrame, awaiting: Message[Any]) -> OdfError:
        """What a close frame means to a client that waits for `awaiting` (wire.md 3.6)."""
        if frame.code == CLOSE_INTERNAL and (error := self.reason_error(frame.reason, awaiting)) is not None:
            return error
        told = f"code {frame.code}" + (f", {frame.reason!r}" if frame.reason else "")
        if awaiting is PUSH_CONFIRMED:
            return PushOutcomeUnknown(
                f"The connection ended ({told}) while the node committed; ask for its head, then decide."
            )
        if frame.code == _TOO_BIG:
            return MessageTooLarge(f"The node does not read messages of this size ({told}).")
        return ConnectionLost(f"The connection ended ({told}) while a {awaiting} was due; try again.")

    @abstractmethod
    def reason_error(self, reason: str, awaiting: Message[Any]) -> OdfError | None:
        """The error that the reason of a 1011 close tells, None if it is no error of this dialect."""

    @abstractmethod
    def payload_size(self, data: Payload) -> int:
        """Bytes of message text that these bytes of an archive take; adds up over pieces."""

    @abstractmethod
    def payload_bound(self, length: int) -> int:
        """The most that `payload_size` says for any `length` bytes."""
