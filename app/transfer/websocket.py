"""uvicorn's WebSocket protocol, fitted to the peers that exist.

What differs from `WebSocketsSansIOProtocol` (stack.md 4, wire.md 2 and 9, wire-published.md "Trap"):

* a subprotocol whose name is no HTTP token (`odf/smart-transfer-protocol/v1`) passes the handshake;
* one text message can leave as many pieces, so that its bytes never stand in memory at once;
* a message over the limit is told to the application, which answers on the channel of its dialect
  (Close 1011), instead of ending in a bare 1009;
* Ping and Pong reach the application, to which they are faults of a session;
* the wait for the peer's Close is a setting.

It leans on an internal class of uvicorn, which is why that version is pinned and
`tests/transfer/test_websocket_protocol.py` drives each of these points over a real socket.
"""

import logging
import struct
from collections.abc import Iterable, Iterator
from typing import Any

from uvicorn.protocols.utils import ClientDisconnected
from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.datastructures import Headers
from websockets.exceptions import PayloadTooBig
from websockets.frames import Close, Frame, Opcode
from websockets.server import ServerProtocol
from websockets.typing import Subprotocol

logger = logging.getLogger(__name__)
"""For the lines of uvicorn and websockets, of which `app.ops.logs` keeps warnings and errors only:
`app.ops.requests` has one line for each WebSocket, and theirs name the query and, at DEBUG, every header
and message."""

FAULT_TOO_LARGE = "too_large"
FAULT_CONTROL_FRAME = "control_frame"
EXTENSION = "odf.channel"


class _TolerantHandshake(ServerProtocol):
    """Leaves the subprotocol to the application; uvicorn hands the offer over unparsed."""

    def process_subprotocol(self, headers: Headers) -> Subprotocol | None:
        return None


class OdfWebSocketProtocol(WebSocketsSansIOProtocol):
    """The protocol class that `app.serve` gives to uvicorn; see the module's docstring."""

    close_wait_seconds = 5.0

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.close_timeout = self.close_wait_seconds
        self.oversized = False
        self.logger = logger
        self.conn = _TolerantHandshake(max_size=self.config.ws_max_size, logger=logger)

    async def run_asgi(self) -> None:
        extensions = self.scope["extensions"]
        if extensions is not None:
            extensions[EXTENSION] = {"limit_messages": self.limit_messages}
        await super().run_asgi()

    def limit_messages(self, max_bytes: int) -> None:
        """Bound the next incoming messages, where the state of a session allows less."""
        self.conn.max_message_size = max_bytes

    def handle_ping(self) -> None:
        super().handle_ping()
        self._fault(FAULT_CONTROL_FRAME)

    def handle_pong(self, event: Frame) -> None:
        self._fault(FAULT_CONTROL_FRAME)

    def _fault(self, name: str) -> None:
        if not self.close_sent:
            event: Any = {"type": "websocket.receive", "fault": name}  # a key that ASGI leaves to us
            self.queue.put_nowait(event)

    def handle_parser_exception(self) -> None:
        if not isinstance(self.conn.parser_exc, PayloadTooBig) or not self.handshake_complete:
            super().handle_parser_exception()
        elif not self.oversized:
            self.oversized = True
            self.conn.data_to_send()  # the library's own Close 1009 must not leave
            self._fault(FAULT_TOO_LARGE)

    async def send(self, message: Any) -> None:
        if message.get("text_chunks") is not None:
            await self._send_chunks(message["text_chunks"], message["text_bytes"], message["frame_bytes"])
        elif self.oversized and message["type"] == "websocket.close":
            self._close_oversized(message.get("code", 1011), message.get("reason") or "")
        elif self.oversized and message.get("text") is not None:
            self._write_oversized(Frame(Opcode.TEXT, message["text"].encode()))
        else:
            await super().send(message)
            if self.initial_response is not None and self.close_sent:
                self.handshake_complete = True  # a denial is out; uvicorn would log that nothing was said

    def _write_oversized(self, frame: Frame) -> None:
        """By hand, since the library takes the connection for failed; what still comes is discarded."""
        if not self.close_sent and not self.transport.is_closing():
            self.transport.write(frame.serialize(mask=False))

    def _close_oversized(self, code: int, reason: str) -> None:
        if self.close_sent or self.transport.is_closing():
            return
        self._write_oversized(Frame(Opcode.CLOSE, Close(code, reason).serialize()))
        self.close_sent = True
        self.close_timer = self.loop.call_later(self.close_timeout, self.transport.close)

    async def _send_chunks(self, chunks: Iterable[bytes], total: int, frame_bytes: int) -> None:
        """One text message of `total` bytes: one frame where it fits `frame_bytes`, else fragments."""
        pieces = iter(chunks) if total <= frame_bytes else _fragments(chunks, total, frame_bytes)
        if total <= frame_bytes:
            await self._write(_frame_head(Opcode.TEXT, total, fin=True))
        for piece in pieces:
            await self._write(piece)

    async def _write(self, data: bytes) -> None:
        await self.writable.wait()
        if self.disconnected or self.close_sent or self.transport.is_closing():
            raise ClientDisconnected
        self.transport.write(data)


def _fragments(chunks: Iterable[bytes], total: int, frame_bytes: int) -> Iterator[bytes]:
    """Frame heads between the chunks; every chunk is a frame's whole payload."""
    sent = 0
    for chunk in chunks:
        for start in range(0, len(chunk), frame_bytes):
            part = chunk[start : start + frame_bytes]
            opcode = Opcode.TEXT if sent == 0 else Opcode.CONT
            sent += len(part)
            yield _frame_head(opcode, len(part), fin=sent >= total) + part


def _frame_head(opcode: Opcode, length: int, *, fin: bool) -> bytes:
    """RFC 6455 5.2, unmasked as a server sends it."""
    first = (0x80 if fin else 0) | opcode
    if length < 126:
        return struct.pack("!BB", first, length)
    if length < 1 << 16:
        return struct.pack("!BBH", first, 126, length)
    return struct.pack("!BBQ", first, 127, length)
