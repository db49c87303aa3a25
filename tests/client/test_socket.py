"""The WebSocket below a session: handshake, frames, closes."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from websockets.datastructures import Headers
from websockets.http11 import Request, Response
from websockets.server import ServerProtocol
from websockets.sync.server import ServerConnection, serve

from odf_core.limits import Limits
from odf_core.transfer.client.errors import (
    RemoteDatasetNotFound,
    RemoteForbidden,
    RemoteRefused,
    RemoteUnauthenticated,
    RemoteUnavailable,
    UnexpectedAnswer,
)
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.socket import SmartSocket
from odf_core.transfer.errors import MessageTooLarge
from odf_core.transfer.frames import TextMessage
from odf_core.transfer.model import CloseFrame
from tests.client.fake_node import FakePeer

PUBLISHED = "odf/smart-transfer-protocol/v1"
OPTIONS = TransferOptions(close_timeout=2, frame_bytes=64 * 1024, limits=Limits(message_bytes=1024 * 1024))


class Peer:
    """A server of the websockets library, told what to do with a connection."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.requests: list[Request] = []
        self.received: list[object] = []
        self.closed: list[tuple[int | None, str | None]] = []
        self.done = threading.Event()


@contextmanager
def peer(
    handle: Callable[[ServerConnection, Peer], None], *, echo: str | None = None, deny: Response | None = None
) -> Iterator[Peer]:
    class Loose(ServerProtocol):
        def process_subprotocol(self, headers: Headers) -> None:
            return None

    def request(connection: ServerConnection, request: Request) -> Response | None:
        connection.protocol.__class__ = Loose
        it.requests.append(request)
        return deny

    def response(connection: ServerConnection, request: Request, response: Response) -> None:
        if echo is not None:
            response.headers["Sec-WebSocket-Protocol"] = echo

    def run(connection: ServerConnection) -> None:
        try:
            handle(connection, it)
            for message in connection:
                it.received.append(message)
        finally:
            it.closed.append((connection.close_code, connection.close_reason))
            it.done.set()

    with serve(
        run,
        "127.0.0.1",
        0,
        process_request=request,
        process_response=response,
        compression=None,
        ping_interval=None,
        max_size=None,
    ) as server:
        it = Peer(f"http://127.0.0.1:{server.socket.getsockname()[1]}/a/d/pull")
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield it
        server.shutdown()
        thread.join(10)


def connect(url: str, *, token: str | None = None, subprotocol: str | None = None) -> SmartSocket:
    return SmartSocket.connect(url, token=token, subprotocol=subprotocol, options=OPTIONS)


def idle(connection: ServerConnection, it: Peer) -> None:
    pass


def test_deployed_handshake_offers_nothing() -> None:
    with peer(idle) as it, connect(it.url, token="secret") as ws:
        ws.close("done")
    (request,) = it.requests
    assert request.headers["x-odf-smtp-version"] == "1"
    assert request.headers["Authorization"] == "Bearer secret"
    assert "Sec-WebSocket-Protocol" not in request.headers
    assert "Sec-WebSocket-Extensions" not in request.headers
    assert "Origin" not in request.headers


def test_published_subprotocol_has_a_slash() -> None:
    with peer(idle, echo=PUBLISHED) as it, connect(it.url, subprotocol=PUBLISHED) as ws:
        ws.close("done")
    assert it.requests[0].headers["Sec-WebSocket-Protocol"] == PUBLISHED
    assert "Authorization" not in it.requests[0].headers


@pytest.mark.parametrize("echo", [None, "odf/other", f"{PUBLISHED}, other"])
def test_published_subprotocol_has_to_be_taken_up(echo: str | None) -> None:
    with peer(idle, echo=echo) as it, pytest.raises(UnexpectedAnswer):
        connect(it.url, subprotocol=PUBLISHED)


def test_a_subprotocol_that_was_not_offered() -> None:
    with peer(idle, echo=PUBLISHED) as it, pytest.raises(UnexpectedAnswer):
        connect(it.url)


def test_messages_and_the_close_of_success() -> None:
    def handle(connection: ServerConnection, it: Peer) -> None:
        connection.send('{"Ok": "ä"}')
        connection.send(["frag", "ments"])

    with peer(handle) as it, connect(it.url) as ws:
        assert ws.receive(20) == '{"Ok": "ä"}'.encode()
        assert ws.receive(20) == b"fragments"
        assert ws.receive(0) is None
        ws.send(TextMessage(b"{}"))
        ws.close("Client pull flow succeeded")
        assert it.done.wait(20)
    assert it.received == ["{}"]
    assert it.closed == [(1000, "Client pull flow succeeded")]


def test_long_messages_leave_in_frames() -> None:
    def handle(connection: ServerConnection, it: Peer) -> None:
        it.received += list(connection.recv_streaming())

    text = b"[" + b"1," * 100_000 + b"1]"
    with peer(handle) as it, connect(it.url) as ws:
        ws.send(TextMessage(text))
        ws.close("done")
        assert it.done.wait(20)
    assert "".join(map(str, it.received)) == text.decode()
    assert [len(str(item)) for item in it.received] == [65536, 65536, 65536, len(text) - 3 * 65536, 0]


def test_a_close_with_a_reason_is_handed_over() -> None:
    def handle(connection: ServerConnection, it: Peer) -> None:
        connection.close(1011, '{"Err":1}')

    with peer(handle) as it, connect(it.url) as ws:
        assert ws.receive(20) == CloseFrame(1011, '{"Err":1}')
        ws.send(TextMessage(b"{}"))  # nobody is there: what was said last counts
        assert ws.receive(20) == CloseFrame(1011, '{"Err":1}')


def test_a_dropped_connection() -> None:
    def handle(connection: ServerConnection, it: Peer) -> None:
        connection.socket.close()

    with peer(handle) as it, connect(it.url) as ws:
        assert ws.receive(20) == CloseFrame(1006, "")


def test_binary_messages() -> None:
    with (
        peer(lambda connection, it: connection.send(b"\x00")) as it,
        connect(it.url) as ws,
        pytest.raises(UnexpectedAnswer, match="binary"),
    ):
        ws.receive(20)


def test_a_message_over_the_limit() -> None:
    with (
        peer(lambda connection, it: connection.send("x" * (1024 * 1024 + 1))) as it,
        connect(it.url) as ws,
        pytest.raises(MessageTooLarge),
    ):
        ws.receive(20)


def test_an_error_ends_without_the_close_of_success() -> None:
    with peer(idle) as it:
        with pytest.raises(ZeroDivisionError), connect(it.url):
            raise ZeroDivisionError
        assert it.done.wait(20)
    assert it.closed[0][0] == 1011


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, RemoteRefused),
        (401, RemoteUnauthenticated),
        (403, RemoteForbidden),
        (404, RemoteDatasetNotFound),
        (503, RemoteUnavailable),
        (302, UnexpectedAnswer),
    ],
)
def test_denials(status: int, error: type[Exception]) -> None:
    body = b'{"message":"Incompatible client version"}'
    deny = Response(status, "X", Headers({"Content-Length": str(len(body)), "Retry-After": "7"}), body)
    with peer(idle, deny=deny) as it, pytest.raises(error, match="Incompatible client version") as caught:
        connect(it.url)
    assert caught.value.extras["retryAfter"] == 7  # type: ignore[attr-defined]


def test_no_node_at_all() -> None:
    with FakePeer() as gone:
        pass
    with pytest.raises(RemoteUnavailable):
        connect(gone.url)


def test_a_peer_that_speaks_no_websocket() -> None:
    with FakePeer() as http, pytest.raises(RemoteDatasetNotFound):
        connect(http.url)
