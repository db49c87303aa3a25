"""Encoded block archives, made once per interval and shared by all sessions that ask for it.

An archive message is several megabytes; 200 clients that pull the same dataset at once must not hold
200 copies (stack.md 4.3). So the whole encoded message lies in an unlinked temporary file: its pages
belong to the kernel's cache, not to this process, and each session streams it from there.
"""

import asyncio
import os
import tempfile
from collections import OrderedDict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import BinaryIO

from odf_core.transfer import TransferPlan

CHUNK_BYTES = 256 * 1024


@dataclass(slots=True, eq=False)
class CachedMessage:
    """One encoded message in a file without a name; `users` keeps it open while it is streamed."""

    file: BinaryIO
    total: int
    plan: TransferPlan
    users: int = 0
    evicted: bool = False

    def chunks(self) -> Iterator[bytes]:
        """The message in pieces of `CHUNK_BYTES`; readers are independent of each other."""
        position = 0
        while position < self.total:
            piece = os.pread(self.file.fileno(), CHUNK_BYTES, position)
            if not piece:
                raise OSError("an archive's temporary file is shorter than what was written to it")
            position += len(piece)
            yield piece

    def release(self) -> None:
        if self.evicted and self.users == 0:
            self.file.close()


def write_message(chunks: Iterator[bytes], plan: TransferPlan) -> CachedMessage:
    """Store the pieces of one message, which carries the blocks of `plan`, in a new unnamed file."""
    file = tempfile.TemporaryFile(prefix="odf-archive-")  # noqa: SIM115 - closed on eviction
    total = 0
    try:
        for chunk in chunks:
            total += file.write(chunk)
        file.flush()
    except BaseException:
        file.close()
        raise
    return CachedMessage(file, total, plan)


@dataclass(slots=True)
class _Entry:
    """A message that is there, or is being made by the first who asked."""

    ready: asyncio.Future[CachedMessage]
    message: CachedMessage | None = None


@dataclass(slots=True)
class ArchiveCache:
    """Least-recently-used messages up to `max_bytes` on disk; `parallel` of them are made at once."""

    max_bytes: int
    parallel: int
    _entries: OrderedDict[object, _Entry] = field(default_factory=OrderedDict)
    _makers: asyncio.Semaphore | None = None

    @asynccontextmanager
    async def borrow(
        self, key: object, make: Callable[[], Awaitable[CachedMessage]]
    ) -> AsyncIterator[CachedMessage]:
        """The message of `key`, made by `make` if nobody has; kept open while the block runs.

        Raises what `make` raises; the next caller then tries again.
        """
        message = await self._get(key, make)
        message.users += 1
        try:
            yield message
        finally:
            message.users -= 1
            message.release()

    async def _get(self, key: object, make: Callable[[], Awaitable[CachedMessage]]) -> CachedMessage:
        while (entry := self._entries.get(key)) is not None:
            self._entries.move_to_end(key)
            if entry.message is not None:
                return entry.message
            # Somebody else makes it; should that one fail or be cancelled, this one makes it.
            await asyncio.wait([entry.ready])
        return await self._make(key, make)

    async def _make(self, key: object, make: Callable[[], Awaitable[CachedMessage]]) -> CachedMessage:
        if self._makers is None:
            self._makers = asyncio.Semaphore(self.parallel)
        entry = _Entry(asyncio.get_running_loop().create_future())
        self._entries[key] = entry
        try:
            async with self._makers:
                entry.message = await make()
        except BaseException:
            del self._entries[key]
            raise
        finally:
            entry.ready.cancel()  # wakes those who wait, whatever the outcome
        self._evict(keep=entry)
        return entry.message

    def _evict(self, keep: _Entry) -> None:
        total = sum(entry.message.total for entry in self._entries.values() if entry.message)
        for key, entry in list(self._entries.items()):
            if total <= self.max_bytes:
                break
            if entry.message is not None and entry is not keep:
                total -= entry.message.total
                del self._entries[key]
                entry.message.evicted = True
                entry.message.release()

    def close(self) -> None:
        """Forget everything; messages that are being streamed stay open until they are done."""
        for entry in self._entries.values():
            if entry.message is not None:
                entry.message.evicted = True
                entry.message.release()
        self._entries.clear()
