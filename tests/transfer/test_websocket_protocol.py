"""The subclass of uvicorn's WebSocket protocol, over real sockets, with the strict scripted client."""

import asyncio
import threading
from collections.abc import Iterator

import pytest
import uvicorn
from starlette.applications import Starlette
from starlette.routing import WebSocketRoute
from starlette.websockets import WebSocket

from app.transfer.channel import Channel, ControlFrame, PeerGone
from app.transfer.websocket import OdfWebSocketProtocol
from odf_core.errors import OdfError
from odf_core.transfer.errors import BinaryFrame, MessageTooLarge
from tests.scripted.websocket import BINARY, PING, Closed, HandshakeRefused, PeerFault, RawWebSocket

SUBPROTOCOL = "odf/smart-transfer-protocol/v1"
MESSAGE_LIMIT = 1 << 20


async def session(socket: WebSocket) -> None:
    """Answers `size N frame F` with N characters, `limit N` by a lower limit, and faults by a Close 1011."""
    offered = socket.scope["subprotocols"]
    await socket.accept(subprotocol=SUBPROTOCOL if SUBPROTOCOL in offered else None)
    channel = Channel(socket)
    try:
        while True:
            words = (await channel.receive()).split()
            if words[0] == "size":
                total = int(words[1])
                chunks = (b"x" * min(1000, total - start) for start in range(0, total, 1000))
                await channel.send_chunks(chunks, total, int(words[2]))
            elif words[0] == "limit":
                channel.limit_messages(int(words[1]))
                await channel.send_text("limited")
    except (BinaryFrame, ControlFrame, MessageTooLarge) as fault:
        await channel.close(1011, fault.code)
        await channel.drain(5)
    except PeerGone:
        pass
    except OdfError as error:
        await channel.close(1011, f"unforeseen {error.code}")


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    app = Starlette(routes=[WebSocketRoute("/s", session)])
    config = uvicorn.Config(
        app,
        host="127.0.0.1",
        port=0,
        ws=OdfWebSocketProtocol,
        ws_max_size=MESSAGE_LIMIT,
        ws_ping_interval=None,
        ws_per_message_deflate=False,
        log_level="warning",
    )
    running = uvicorn.Server(config)
    thread = threading.Thread(target=lambda: asyncio.run(running.serve()))
    thread.start()
    while not running.started:
        thread.join(0.01)
    port = running.servers[0].sockets[0].getsockname()[1]
    yield f"http://127.0.0.1:{port}/s"
    running.should_exit = True
    thread.join()


def test_no_subprotocol_is_echoed_to_a_client_that_offers_none(server: str) -> None:
    ws = RawWebSocket.connect(server, {})
    assert "sec-websocket-protocol" not in ws.headers
    ws.drop()


def test_a_subprotocol_with_a_slash_is_echoed(server: str) -> None:
    ws = RawWebSocket.connect(server, {}, subprotocol=SUBPROTOCOL)
    assert ws.headers["sec-websocket-protocol"] == SUBPROTOCOL
    ws.drop()


@pytest.mark.parametrize(
    ("total", "frame"), [(1, 10), (125, 1000), (126, 1000), (70_000, 100_000), (70_000, 64_000)]
)
def test_a_message_in_pieces_arrives_whole(server: str, total: int, frame: int) -> None:
    ws = RawWebSocket.connect(server, {})
    ws.send_text(f"size {total} {frame}")
    assert ws.receive() == "x" * total
    ws.send_text("size 3 100")
    assert ws.receive() == "xxx"
    ws.send_close()


def test_a_message_that_fits_is_one_frame_and_a_larger_one_is_fragmented(server: str) -> None:
    ws = RawWebSocket.connect(server, {})
    ws.send_text("size 5000 5000")
    assert ws._frame() == (1, True, b"x" * 5000)
    ws.send_text("size 5000 4999")
    assert ws._frame()[1] is False
    ws.drop()


@pytest.mark.parametrize(("opcode", "code"), [(BINARY, "binary_frame")])
def test_a_frame_that_is_no_text_ends_in_a_close_that_says_so(server: str, opcode: int, code: str) -> None:
    ws = RawWebSocket.connect(server, {})
    ws.send_frame(opcode, b"\x00")
    with pytest.raises(Closed) as closed:
        ws.receive()
    assert (closed.value.code, closed.value.reason) == (1011, code)


def test_a_ping_is_answered_and_ends_the_session(server: str) -> None:
    ws = RawWebSocket.connect(server, {})
    ws.send_frame(PING, b"hello")
    with pytest.raises(PeerFault, match="Ping or Pong"):
        ws.receive()
    with pytest.raises(Closed) as closed:
        ws.receive()
    assert (closed.value.code, closed.value.reason) == (1011, "control_frame")


def test_an_oversized_message_is_refused_from_its_head_on_the_channel_of_the_dialect(server: str) -> None:
    ws = RawWebSocket.connect(server, {})
    ws.sock.sendall(ws.frame_head(1, 200 * 1024 * 1024))
    for _ in range(32):  # the peer goes on sending for a while; the answer must not be lost by a reset
        ws.sock.sendall(b" " * (1 << 16))
    with pytest.raises(Closed) as closed:
        ws.receive()
    assert (closed.value.code, closed.value.reason) == (1011, "message_too_large")


def test_the_application_can_lower_the_limit(server: str) -> None:
    ws = RawWebSocket.connect(server, {})
    ws.send_text("limit 100")
    assert ws.receive() == "limited"
    ws.send_text("y" * 101)
    with pytest.raises(Closed) as closed:
        ws.receive()
    assert closed.value.reason == "message_too_large"


def test_an_unknown_path_is_denied_before_the_upgrade(server: str) -> None:
    with pytest.raises(HandshakeRefused):
        RawWebSocket.connect(server + "/elsewhere", {})
