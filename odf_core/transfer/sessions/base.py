"""What the four sessions share: whose turn it is, how large a message may be, what an error says.

A session has no socket: texts go in and come out, and values go in and come out on the other side. It
is not thread-safe.
"""

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NoReturn, TypeVar

from odf_core.limits import Limits
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.errors import BinaryFrame, MessageTooLarge, SessionMisuse, UnexpectedMessage
from odf_core.transfer.frames import TextMessage
from odf_core.transfer.messages import (
    PULL_METADATA_RESPONSE,
    PULL_OBJECTS_REQUEST,
    PULL_OBJECTS_RESPONSE,
    PUSH_METADATA,
    PUSH_OBJECTS_REQUEST,
    PUSH_OBJECTS_RESPONSE,
    Message,
)
from odf_core.transfer.model import Phase

State = TypeVar("State", bound=enum.Enum)
T = TypeVar("T")

_ARCHIVES = {PULL_METADATA_RESPONSE, PUSH_METADATA}
_OBJECT_LISTS = {PULL_OBJECTS_REQUEST, PUSH_OBJECTS_REQUEST}
# URLs are long, and there may be as many as this side asked for.
_URL_LISTS = {PULL_OBJECTS_RESPONSE, PUSH_OBJECTS_RESPONSE}


@dataclass(frozen=True, slots=True)
class Turn:
    """A state seen from outside: messages that may come now, and the answer that the client waits for
    (or will wait for, once it has sent what is due)."""

    due: tuple[Message[Any], ...]
    reply: Message[Any]


class Session(Generic[State]):
    """One side of one pull or push."""

    turns: ClassVar[Mapping[Any, Turn]]

    def __init__(self, dialect: Dialect, limits: Limits, initial: State) -> None:
        self.dialect = dialect
        self.limits = limits
        self.state = initial

    @property
    def phase(self) -> Phase:
        """Where in its flow the session is."""
        return self.turns[self.state].reply.phase

    @property
    def due(self) -> tuple[Message[Any], ...]:
        """Messages that the peer may send now."""
        return tuple(message for message in self.turns[self.state].due if message in self.dialect.codecs)

    @property
    def max_message_bytes(self) -> int:
        """Bytes of the largest message that is read now: much only where much is due."""
        due = set(self.due)
        if due & _ARCHIVES or due & _URL_LISTS:
            return self.limits.message_bytes
        if due & _OBJECT_LISTS:
            return self.limits.objects_message_bytes
        return self.limits.small_message_bytes

    def receive_binary(self, data: bytes = b"") -> NoReturn:
        """What a binary message means: raises BinaryFrame (wire.md 2)."""
        raise BinaryFrame("A binary message came; the protocol has text messages only.")

    def _check_size(self, text: bytes | str) -> None:
        # A string has no more characters than bytes, so what is refused need not be encoded.
        if len(text) > self.max_message_bytes:
            raise MessageTooLarge(
                f"A message of {len(text)} bytes came where at most {self.max_message_bytes} are read."
            )

    def _unexpected(self) -> UnexpectedMessage:
        due = " or ".join(str(message) for message in self.due) or "no message"
        return UnexpectedMessage(f"A message came while {due} was due.")

    def _send(
        self, message: Message[T], value: T, *, at: State | tuple[State, ...], then: State
    ) -> TextMessage:
        """The text of a message of ours, if it is its turn; raises SessionMisuse otherwise."""
        self._require(at, str(message))
        text = self.dialect.encode(message, value)
        self.state = then
        return text

    def _require(self, at: State | tuple[State, ...], what: str) -> None:
        if self.state not in (at if isinstance(at, tuple) else (at,)):
            raise SessionMisuse(f"A {what} cannot be sent in state {self.state.name}.")
