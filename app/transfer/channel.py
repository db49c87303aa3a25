"""One WebSocket as a session sees it: texts in, texts or one Close out, typed faults for the rest.

Follows wire.md 2, 3.6 and 3.7: nothing but text is allowed, the client closes on success, and a
Close of ours carries at most 123 bytes of reason.
"""

import asyncio
from collections.abc import Iterable
from typing import ClassVar

from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState
from uvicorn.protocols.utils import ClientDisconnected

from app.transfer.websocket import EXTENSION, FAULT_CONTROL_FRAME, FAULT_TOO_LARGE
from odf_core.errors import OdfError, ProtocolViolation
from odf_core.transfer.errors import BinaryFrame, MessageTooLarge


class PeerGone(ProtocolViolation):
    """The peer closed or dropped the connection; there is nobody left to tell."""

    code: ClassVar[str] = "peer_gone"


class ControlFrame(ProtocolViolation):
    """A Ping or Pong, which ends a session of the deployed protocol (wire.md 2)."""

    code: ClassVar[str] = "control_frame"


class Channel:
    """Reads and writes of one accepted WebSocket.

    Every read and write raises `PeerGone` once the peer has closed or dropped; reads raise
    `BinaryFrame`, `ControlFrame` or `MessageTooLarge` (family protocol or limit) for what is no text.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._pending: asyncio.Task[str] | None = None
        self._limit = (socket.scope.get("extensions") or {}).get(EXTENSION)

    def limit_messages(self, max_bytes: int) -> None:
        """Refuse a larger message from its frame head on, before its bytes are taken."""
        if self._limit is not None:
            self._limit["limit_messages"](max_bytes)

    async def receive(self) -> str:
        """The next text. A read that was cancelled goes on in the background: none is lost."""
        task = self.reading()
        text = await asyncio.shield(task)
        self._pending = None
        return text

    def reading(self) -> asyncio.Task[str]:
        """The read that is under way, to wait for together with work; `receive` takes its result."""
        if self._pending is None:
            self._pending = asyncio.create_task(self._read())
        return self._pending

    async def _read(self) -> str:
        try:
            message = await self._socket.receive()
        except (WebSocketDisconnect, ClientDisconnected, RuntimeError) as gone:
            raise PeerGone("The peer ended the connection.") from gone
        if message["type"] == "websocket.disconnect":
            code = message.get("code")
            raise PeerGone("The peer ended the connection.", extras={"closeCode": code})
        if message.get("fault") == FAULT_TOO_LARGE:
            raise MessageTooLarge("The message is larger than this node reads at this point.")
        if message.get("fault") == FAULT_CONTROL_FRAME:
            raise ControlFrame("Ping and Pong frames are not part of this protocol; send text frames only.")
        text = message.get("text")
        if text is None:
            raise BinaryFrame("A binary frame came where the protocol has only text; send JSON as text.")
        return str(text)

    async def send_text(self, text: str) -> None:
        await self._send({"type": "websocket.send", "text": text})

    async def send_chunks(self, chunks: Iterable[bytes], total: int, frame_bytes: int) -> None:
        """One text message of `total` UTF-8 bytes, streamed; in frames of `frame_bytes` at most."""
        if self._limit is None:  # another server than ours: whole, as ASGI has it
            await self.send_text(b"".join(chunks).decode())
            return
        await self._send(
            {"type": "websocket.send", "text_chunks": chunks, "text_bytes": total, "frame_bytes": frame_bytes}
        )

    async def _send(self, message: dict[str, object]) -> None:
        try:
            await self._socket.send(message)
        except (WebSocketDisconnect, ClientDisconnected, RuntimeError) as gone:
            raise PeerGone("The peer ended the connection.") from gone

    async def close(self, code: int, reason: str = "") -> None:
        """End the session with `code`; does nothing where the peer is gone already."""
        if self._socket.application_state is not WebSocketState.CONNECTED:
            return
        try:
            await self._socket.close(code, reason)
        except (WebSocketDisconnect, ClientDisconnected, RuntimeError) as gone:
            raise PeerGone("The peer ended the connection.") from gone

    async def drain(self, seconds: float) -> None:
        """Wait for the peer's Close, as the deployed server does (wire.md 3.7), `seconds` at most."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    await self.receive()
        except (TimeoutError, OdfError):
            return

    async def abandon(self) -> None:
        """Stop reading; the socket itself ends with its handler."""
        if self._pending is not None:
            self._pending.cancel()
            await asyncio.gather(self._pending, return_exceptions=True)
            self._pending = None
