"""A WebSocket client of the standard library alone, as strict as the deployed peer's.

Written from the wire page (sections 2, 3.6, 3.7): it fails where the deployed client fails and shares no
code with `odf_core`. It never answers pings: a Ping or Pong that it receives is an error.
"""

import base64
import hashlib
import json
import os
import socket
import struct
from dataclasses import dataclass, field
from typing import ClassVar
from urllib.parse import urlsplit

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 0x1, 0x2, 0x0, 0x8, 0x9, 0xA
MAX_FRAME = 16 * 1024 * 1024
MAX_MESSAGE = 64 * 1024 * 1024
_MAGIC = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class HandshakeRefused(Exception):
    """Any answer but 101; `body` is what came in the same read as the head, as the deployed peer sees it."""

    def __init__(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        super().__init__(f"HTTP {status}: {body!r}")
        self.status, self.body, self.headers = status, body, headers


class Closed(Exception):
    """The server's Close, or the end of the connection without one (code None)."""

    def __init__(self, code: int | None, reason: str = "") -> None:
        super().__init__(f"closed {code} {reason}")
        self.code, self.reason = code, reason

    def message(self) -> dict:
        """A Close with code 1011 carries the reply that was awaited (wire page 3.6)."""
        if self.code != 1011:
            raise self
        return json.loads(self.reason)


class PeerFault(Exception):
    """Something that the deployed client does not survive."""


@dataclass
class RawWebSocket:
    """One connection; every method blocks, with the socket's timeout."""

    sock: socket.socket
    buffer: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    opened: ClassVar[list[socket.socket]] = []

    @classmethod
    def close_all(cls) -> None:
        """For the end of a test: whatever it left open."""
        while cls.opened:
            cls.opened.pop().close()

    @classmethod
    def connect(
        cls, url: str, headers: dict[str, str], *, subprotocol: str | None = None, timeout: float = 60
    ) -> "RawWebSocket":
        parts = urlsplit(url)
        sock = socket.create_connection((parts.hostname or "", parts.port or 80), timeout=timeout)
        cls.opened.append(sock)
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            f"GET {parts.path} HTTP/1.1",
            f"Host: {parts.netloc}",
            "Connection: Upgrade",
            "Upgrade: websocket",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Key: {key}",
            *(f"{name}: {value}" for name, value in headers.items()),
        ]
        if subprotocol is not None:
            lines.append(f"Sec-WebSocket-Protocol: {subprotocol}")
        sock.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        status, received, tail = _read_head(sock)
        if status != 101:
            sock.close()
            raise HandshakeRefused(status, tail, received)
        _verify_upgrade(received, key, subprotocol)
        return cls(sock, tail, received)

    def send_text(self, text: str) -> None:
        self.send_frame(TEXT, text.encode())

    def send_json(self, value: object) -> None:
        self.send_text(json.dumps(value, separators=(",", ":")))

    def send_close(self, code: int = 1000, reason: str = "") -> None:
        self.send_frame(CLOSE, struct.pack("!H", code) + reason.encode())

    def send_frame(self, opcode: int, payload: bytes, *, fin: bool = True) -> None:
        self.sock.sendall(self.frame_head(opcode, len(payload), fin=fin, mask=b"\0\0\0\0") + payload)

    @staticmethod
    def frame_head(opcode: int, length: int, *, fin: bool = True, mask: bytes = b"\0\0\0\0") -> bytes:
        """Masked with zeros: a legal mask that leaves the payload as it is."""
        first = (0x80 if fin else 0) | opcode
        if length < 126:
            return struct.pack("!BB", first, 0x80 | length) + mask
        if length < 1 << 16:
            return struct.pack("!BBH", first, 0x80 | 126, length) + mask
        return struct.pack("!BBQ", first, 0x80 | 127, length) + mask

    def receive(self) -> str:
        """The next text message; raises `Closed` or `PeerFault`."""
        message = b""
        opcode, fin, payload = self._frame()
        if opcode != TEXT:
            raise PeerFault(f"expected text, got opcode {opcode}")
        message += payload
        while not fin:
            opcode, fin, payload = self._frame()
            if opcode != CONTINUATION:
                raise PeerFault(f"opcode {opcode} inside a fragmented message")
            message += payload
            if len(message) > MAX_MESSAGE:
                raise PeerFault("message over 64 MiB")
        return message.decode()

    def receive_json(self) -> dict:
        return json.loads(self.receive())

    def expect(self) -> dict:
        """The awaited reply, be it a text or the reason of a Close 1011."""
        try:
            return self.receive_json()
        except Closed as closed:
            return closed.message()

    def _frame(self) -> tuple[int, bool, bytes]:
        head = self._exactly(2)
        opcode, length = head[0] & 0x0F, head[1] & 0x7F
        if head[0] & 0x70:
            raise PeerFault("reserved bits are set: an extension that nobody negotiated")
        if head[1] & 0x80:
            raise PeerFault("a server must not mask")
        if length == 126:
            length = struct.unpack("!H", self._exactly(2))[0]
        elif length == 127:
            length = struct.unpack("!Q", self._exactly(8))[0]
        if opcode >= CLOSE and length > 125:
            raise PeerFault("control frame too big")
        if length > MAX_FRAME:
            raise PeerFault("frame over 16 MiB")
        payload = self._exactly(length)
        if opcode in (PING, PONG):
            raise PeerFault("Ping or Pong: the deployed client dies of it")
        if opcode == CLOSE:
            code = struct.unpack("!H", payload[:2])[0] if payload else None
            raise Closed(code, payload[2:].decode())
        return opcode, bool(head[0] & 0x80), payload

    def _exactly(self, count: int) -> bytes:
        parts = [self.buffer[:count]]
        missing = count - len(parts[0])
        self.buffer = self.buffer[count:]
        while missing:
            part = self.sock.recv(min(missing, 1 << 20))
            if not part:
                raise Closed(None)
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def drop(self) -> None:
        """End the TCP connection without a Close."""
        self.sock.close()


def _read_head(sock: socket.socket) -> tuple[int, dict[str, str], bytes]:
    data = b""
    while b"\r\n\r\n" not in data:
        part = sock.recv(65536)
        if not part:
            raise Closed(None)
        data += part
    head, _, tail = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {}
    for line in lines:
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    return int(first.split(" ")[1]), headers, tail


def _verify_upgrade(headers: dict[str, str], key: str, subprotocol: str | None) -> None:
    accept = base64.b64encode(hashlib.sha1((key + _MAGIC).encode()).digest()).decode()
    if headers.get("upgrade", "").lower() != "websocket":
        raise PeerFault("Upgrade is not websocket")
    if headers.get("connection", "").lower() != "upgrade":
        raise PeerFault("Connection is not exactly one token")
    if headers.get("sec-websocket-accept") != accept:
        raise PeerFault("wrong accept key")
    if headers.get("sec-websocket-protocol") != subprotocol:
        raise PeerFault(f"subprotocol in the 101: {headers.get('sec-websocket-protocol')!r}")
    if "sec-websocket-extensions" in headers:
        raise PeerFault("an extension that nobody offered")
