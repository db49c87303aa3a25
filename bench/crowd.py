"""200 pulls at once of a chain of many blocks against one node process, with its peak memory."""

import asyncio
import os
import struct
import time
from collections.abc import Callable
from urllib.parse import urlsplit

from bench.chain import NUM_BLOCKS
from bench.figures import Aim, Figure, Row
from bench.material import long_dataset
from bench.stage import Stage
from odf_core.limits import Limits
from odf_core.transfer import DEPLOYED, ClientPullSession, PullRequest, TextMessage

TITLE = "crowd: 200 pulls at once"
NUM_CLIENTS = 200
AIM = Aim(600, "MB")
_READ_BYTES = 1 << 20


def run(stage: Stage) -> tuple[list[Row], str]:
    """Rows and conditions. The node is started anew, so that its peak is of these pulls alone, and the
    archive is made while all wait for it."""
    material = long_dataset(stage.new_folder(), "crowd", NUM_BLOCKS)
    stage.push(material, "crowd")
    stage.node.restart()
    url, before = stage.address("crowd").join("pull"), stage.node.peak_memory_mb()
    stage.say(f"crowd: {NUM_CLIENTS} pulls at once")
    cpu, together = stage.node.cpu_seconds(), asyncio.run(_pull_all(url, NUM_CLIENTS))
    cpu, memory = stage.node.cpu_seconds() - cpu, stage.node.peak_memory_mb()
    alone = asyncio.run(_pull_all(url, 1))
    rows = []
    if memory is not None and before is not None:
        peak, idle = Figure.of([memory], "MB"), Figure.of([before], "MB")
        rows.append(Row("peak memory of the node process; before the first pull", peak, idle, None, AIM))
    one_by_one = Figure.of([alone.seconds * NUM_CLIENTS])
    what = f"{NUM_CLIENTS} pulls at once; {NUM_CLIENTS} times one alone, archive made"
    rows.append(Row.times(what, Figure.of([together.seconds]), one_by_one))
    return rows, (
        f"{NUM_BLOCKS} blocks, {material.block_bytes / 1e6:.1f} MB; {alone.received / 1e6:.1f} MB of "
        "WebSocket frames to each client. Clients in one process, read and discard. The archive was not "
        f"made before; the node used {cpu:.1f} s of processor for all."
    )


class _Outcome:
    """Seconds from the first connection to the last close, and the bytes that each client read."""

    def __init__(self, seconds: float, received: int) -> None:
        self.seconds, self.received = seconds, received


async def _pull_all(url: str, count: int) -> _Outcome:
    started = time.perf_counter()
    received = await asyncio.gather(*(_LightClient(url).pull() for _ in range(count)))
    if len(set(received)) != 1:
        raise RuntimeError("the clients got different messages")
    return _Outcome(time.perf_counter() - started, received[0])


class _LightClient:
    """One pull over a bare socket: asks for plan and blocks, reads every byte and keeps none."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self._host, self._port, self._path = parts.hostname or "", parts.port or 80, parts.path
        self._received = 0

    async def pull(self) -> int:
        """Bytes of all messages. Raises `RuntimeError` for anything but a whole pull."""
        self._reader, self._writer = await asyncio.open_connection(self._host, self._port, limit=_READ_BYTES)
        try:
            await self._shake_hands()
            session = ClientPullSession(DEPLOYED, Limits())
            self._send(session.send_request(PullRequest(None, None, None, False)))
            plan = session.receive_text(await self._message(keep=True))
            self._send(session.send_metadata_request())
            await self._message(keep=False)
            self._write(0x88, struct.pack("!H", 1000))
            await self._writer.drain()
        finally:
            self._writer.close()
        if getattr(plan, "num_blocks", 0) != NUM_BLOCKS:
            raise RuntimeError(f"the node planned {plan}")
        return self._received

    async def _shake_hands(self) -> None:
        self._writer.write(
            (
                f"GET {self._path} HTTP/1.1\r\nHost: {self._host}:{self._port}\r\nUpgrade: websocket\r\n"
                "Connection: Upgrade\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n"
                "Sec-WebSocket-Version: 13\r\nx-odf-smtp-version: 1\r\n\r\n"
            ).encode()
        )
        head = await self._reader.readuntil(b"\r\n\r\n")
        if not head.startswith(b"HTTP/1.1 101"):
            raise RuntimeError(f"the node did not upgrade: {head[:200]!r}")

    def _send(self, message: TextMessage) -> None:
        self._write(0x81, message.to_bytes())

    def _write(self, first: int, payload: bytes) -> None:
        """One masked frame of less than 64 KiB."""
        mask = os.urandom(4)
        length = (
            bytes([0x80 | len(payload)]) if len(payload) < 126 else struct.pack("!BH", 0xFE, len(payload))
        )
        masked = bytes(byte ^ mask[place % 4] for place, byte in enumerate(payload))
        self._writer.write(bytes([first]) + length + mask + masked)

    async def _message(self, *, keep: bool) -> bytes:
        """The next text message, b"" if it is not kept."""
        kept = bytearray()
        final = False
        while not final:
            first, second = await self._reader.readexactly(2)
            final = bool(first & 0x80)
            if first & 0x0F not in (0, 1):
                raise RuntimeError(f"a frame of kind {first & 0x0F} came: {await self._reader.read(200)!r}")
            length = second
            if second == 126:
                (length,) = struct.unpack("!H", await self._reader.readexactly(2))
            elif second == 127:
                (length,) = struct.unpack("!Q", await self._reader.readexactly(8))
            await self._body(length, kept.extend if keep else lambda _: None)
        return bytes(kept)

    async def _body(self, length: int, take: Callable[[bytes], None]) -> None:
        while length:
            piece = await self._reader.read(min(length, _READ_BYTES))
            if not piece:
                raise RuntimeError("the node broke off")
            length -= len(piece)
            self._received += len(piece)
            take(piece)
