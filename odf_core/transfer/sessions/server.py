"""What the server's sides share: reading what is due, and telling an error on the right channel."""

import enum
from typing import Any, TypeVar

from odf_core.errors import OdfError
from odf_core.transfer.frames import Outgoing
from odf_core.transfer.messages import Message
from odf_core.transfer.model import Phase
from odf_core.transfer.sessions.base import Session

State = TypeVar("State", bound=enum.Enum)


class ServerSession(Session[State]):
    """The node's side. After `fail` returned a CloseFrame, close; else wait for the client's close."""

    failed_state: State

    @property
    def is_failed(self) -> bool:
        """Whether the session ended by `fail`."""
        return self.state is self.failed_state

    def fail(self, error: OdfError, phase: Phase | None = None) -> tuple[Outgoing, ...]:
        """What to send so that the client learns of `error`; the session is over then.

        `phase` replaces the session's own where the dialect tells one. Nothing is said twice.
        """
        if self.is_failed:
            return ()
        reply = self.turns[self.state].reply
        self.state = self.failed_state
        return self.dialect.encode_error(error, reply, phase)

    def _read(self, text: bytes | str) -> tuple[Message[Any], Any]:
        self._check_size(text)
        if not self.due:
            raise self._unexpected()
        message = self.dialect.which(text, *self.due)
        return message, self.dialect.decode(message, text, self.limits)
