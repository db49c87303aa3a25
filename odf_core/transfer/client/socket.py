"""One WebSocket session with a node: text out, text or a close frame in (wire.md 2, 3.7).

The websockets library and its exceptions stay behind this module. It is used one level below
`websockets.sync.client.connect`, which validates subprotocols as HTTP tokens: the published one,
`odf/smart-transfer-protocol/v1`, is none (wire-published.md, "Trap").
"""

import contextlib
import socket
import ssl
from collections.abc import Iterator
from typing import cast
from urllib.parse import urlsplit, urlunsplit

from urllib3 import HTTPHeaderDict
from websockets.client import ClientProtocol
from websockets.datastructures import Headers
from websockets.exceptions import (
    ConnectionClosed,
    InvalidHandshake,
    InvalidStatus,
    NegotiationError,
    WebSocketException,
)
from websockets.frames import CloseCode
from websockets.http11 import Response
from websockets.sync.client import ClientConnection
from websockets.typing import Subprotocol
from websockets.uri import parse_uri

from odf_core.errors import OdfError
from odf_core.transfer.client.answers import refusal
from odf_core.transfer.client.errors import RemoteUnavailable, UnexpectedAnswer
from odf_core.transfer.client.http import ACCEPT_HEADER, USER_AGENT, VERSION_HEADER
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.urls import origin_of, shown_url
from odf_core.transfer.errors import MessageTooLarge
from odf_core.transfer.frames import TextMessage
from odf_core.transfer.model import CloseFrame


class SlashSubprotocol(ClientProtocol):
    """Offers and accepts subprotocols as plain text, so that their names may hold a slash."""

    def process_subprotocol(self, headers: Headers) -> Subprotocol | None:
        """The one that the server chose; raises `NegotiationError` if it was not offered."""
        chosen = [
            item.strip() for line in headers.get_all("Sec-WebSocket-Protocol") for item in line.split(",")
        ]
        offered = list(self.available_subprotocols or ())
        if not chosen:
            if offered:
                raise NegotiationError("the server does not speak any offered subprotocol")
            return None
        if len(chosen) != 1 or chosen[0] not in offered:
            raise NegotiationError(f"unsupported subprotocol: {', '.join(chosen)}")
        return cast(Subprotocol, chosen[0])


class SmartSocket:
    """A context manager; leaving it after an error ends the connection without a success Close."""

    def __init__(self, connection: ClientConnection, url: str, options: TransferOptions) -> None:
        self._connection = connection
        self._options = options
        self.url = url

    @classmethod
    def connect(
        cls, url: str, *, token: str | None, subprotocol: str | None, options: TransferOptions
    ) -> "SmartSocket":
        """Open `url` (http or https) as a WebSocket.

        Raises the error of a denial's status (`answers.refusal`), `RemoteUnavailable` without an
        answer, `UnexpectedAnswer` for a handshake that is none.
        """
        headers: dict[str, str] = dict([VERSION_HEADER, ACCEPT_HEADER])
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        protocol = SlashSubprotocol(
            parse_uri(_ws_url(url)),
            subprotocols=[cast(Subprotocol, subprotocol)] if subprotocol is not None else None,
            max_size=options.limits.message_bytes,
        )
        sock = _open_socket(url, options)
        # No pings: a deployed node takes one for a fault (wire.md 9).
        connection = ClientConnection(
            sock, protocol, ping_interval=None, close_timeout=options.close_timeout, max_queue=None
        )
        try:
            with _handshake_errors(url, with_token=token is not None):
                connection.handshake(headers, USER_AGENT, options.read_timeout)
        except BaseException:
            connection.close_socket()
            connection.recv_events_thread.join()
            raise
        connection.__enter__()
        return cls(connection, url, options)

    def __enter__(self) -> "SmartSocket":
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None:
            self._connection.close(CloseCode.INTERNAL_ERROR)

    def send(self, message: TextMessage) -> None:
        """Send one text message, in fragments where it is longer than `frame_bytes`.

        Raises nothing when the peer is gone: what it said last is then read by `receive`.
        """
        frame = self._options.frame_bytes
        whole = message.size <= frame
        with contextlib.suppress(ConnectionClosed):
            self._connection.send(message.to_bytes() if whole else _fragments(message, frame), text=True)

    def receive(self, timeout: float | None = None) -> bytes | CloseFrame | None:
        """The next message, the close frame that ended the connection, or None after `timeout` seconds.

        A connection that ended without a Close reads as code 1006. Raises `UnexpectedAnswer` for a
        binary message, `MessageTooLarge`.
        """
        try:
            message = self._connection.recv(timeout)
        except TimeoutError:
            return None
        except ConnectionClosed as closed:
            if closed.sent is not None and closed.sent.code == CloseCode.MESSAGE_TOO_BIG:
                raise MessageTooLarge(
                    f"The node sent a message of more than {self._options.limits.message_bytes} bytes."
                ) from closed
            if closed.rcvd is None:
                return CloseFrame(CloseCode.ABNORMAL_CLOSURE, "")
            return CloseFrame(closed.rcvd.code, closed.rcvd.reason)
        if isinstance(message, str):
            return message.encode()
        raise UnexpectedAnswer(
            "The node sent a binary message where only text is allowed.", objects=[self.url]
        )

    def close(self, reason: str) -> None:
        """End a session that succeeded: Close 1000 with `reason`, then wait shortly for the echo."""
        self._connection.close(1000, reason)


def _fragments(message: TextMessage, frame_bytes: int) -> Iterator[bytes]:
    for chunk in message.chunks():
        for start in range(0, len(chunk), frame_bytes):
            yield chunk[start : start + frame_bytes]


def _ws_url(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(scheme="wss" if parts.scheme == "https" else "ws"))


def _open_socket(url: str, options: TransferOptions) -> socket.socket:
    uri = parse_uri(_ws_url(url))
    try:
        sock = socket.create_connection((uri.host, uri.port), timeout=options.connect_timeout)
    except OSError as error:
        raise RemoteUnavailable(
            f"{origin_of(url)} does not answer ({error.strerror or error}).", objects=[shown_url(url)]
        ) from error
    try:
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, True)
        if uri.secure:
            sock = ssl.create_default_context().wrap_socket(sock, server_hostname=uri.host)
        sock.settimeout(None)
    except OSError as error:
        sock.close()
        raise UnexpectedAnswer(
            f"No secure connection to {origin_of(url)} ({error}).", objects=[shown_url(url)]
        ) from error
    return sock


@contextlib.contextmanager
def _handshake_errors(url: str, *, with_token: bool) -> Iterator[None]:
    shown = [shown_url(url)]
    try:
        yield
    except InvalidStatus as error:
        raise _denial(error.response, url, with_token=with_token) from error
    except (InvalidHandshake, WebSocketException) as error:
        raise UnexpectedAnswer(
            f"{origin_of(url)} does not answer as a node does ({error}).", objects=shown
        ) from error
    except (OSError, EOFError) as error:
        raise RemoteUnavailable(f"{origin_of(url)} broke off during the handshake.", objects=shown) from error


def _denial(response: Response, url: str, *, with_token: bool) -> OdfError:
    headers = HTTPHeaderDict(response.headers.raw_items())
    body = bytes(response.body or b"")
    return refusal(response.status_code, headers, body, shown_url(url), with_token=with_token)
