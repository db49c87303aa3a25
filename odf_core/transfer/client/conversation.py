"""A session with a node: what the state machine says goes to the socket, and what comes back to it."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from odf_core.limits import Limits
from odf_core.transfer import (
    DEPLOYED,
    PUBLISHED,
    ClientPullSession,
    ClientPushSession,
    CloseFrame,
    Dialect,
    TextMessage,
)
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.options import DialectName, TransferOptions
from odf_core.transfer.client.socket import SmartSocket
from odf_core.transfer.errors import ConnectionLost, UnexpectedMessage

Session = TypeVar("Session", ClientPullSession, ClientPushSession)

_DIALECTS: dict[DialectName, Dialect] = {DialectName.DEPLOYED: DEPLOYED, DialectName.PUBLISHED: PUBLISHED}


def dialect_of(options: TransferOptions) -> Dialect:
    """The dialect that a session with these options speaks."""
    return _DIALECTS[options.dialect]


@dataclass(slots=True)
class Conversation(Generic[Session]):
    """One session over one socket."""

    session: Session
    socket: SmartSocket
    options: TransferOptions

    def ask(self, message: TextMessage) -> object:
        """Send a message and return the value of its answer; raises the error told instead of one."""
        self.socket.send(message)
        return self.hear(self.options.reply_timeout)

    def hear(self, timeout: float) -> object:
        """The next message as a value. Raises what it tells, and `ConnectionLost` after `timeout`."""
        received = self.socket.receive(timeout)
        if received is None:
            raise ConnectionLost(f"The node said nothing for {timeout:.0f} s; try again.")
        return self._read(received)

    def overhear(self) -> object:
        """The next message if there is one already, else None."""
        received = self.socket.receive(0)
        return None if received is None else self._read(received)

    def finish(self) -> None:
        """The Close of success."""
        self.socket.close(self.session.finish().reason)

    def _read(self, received: bytes | CloseFrame) -> object:
        if isinstance(received, CloseFrame):
            raise self.session.receive_close(received) or UnexpectedMessage("The session is over.")
        return self.session.receive_text(received)


@contextlib.contextmanager
def open_conversation(
    http: Http, url: str, token: str | None, make: Callable[[Dialect, Limits], Session]
) -> Iterator[Conversation[Session]]:
    """Connect to `url`, with tries, and leave with the Close of an error if the block raises."""
    options = http.options
    dialect = dialect_of(options)

    def connect() -> SmartSocket:
        return SmartSocket.connect(url, token=token, subprotocol=dialect.subprotocol, options=options)

    with http.retrying(connect) as socket:
        yield Conversation(make(dialect, options.limits), socket, options)
