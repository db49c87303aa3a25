"""SHA3-256 of streams, many of them at once (FIPS 202); `hashlib` for whoever hashes little."""

import hashlib
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Protocol

import numpy as np

from odf_core.sha3.combiner import Combiner
from odf_core.sha3.keccak import STATE_WORDS
from odf_core.sha3.kernel import BLOCK_BYTES, kernels
from odf_core.sha3.lockstep import Feed, absorb

WORTH_A_KERNEL_BYTES = 16 << 20
"""So much is hashed by a process, or is about to be, before it pays for making kernels."""


class Hasher(Protocol):
    """A running SHA3-256; used by one thread at a time. `data` is whatever has a contiguous buffer."""

    def update(self, data: Any, /) -> None: ...

    def digest(self) -> bytes: ...


class StreamHasher:
    """A `Hasher` that shares the kernel with those which other threads update at the same time."""

    __slots__ = ("_combiner", "_state", "_tail")

    def __init__(self, combiner: Combiner) -> None:
        self._combiner = combiner
        self._state = np.zeros(STATE_WORDS, np.uint64)
        self._tail = b""  # the beginning of the next block

    def update(self, data: Any, /) -> None:
        feed = self.feed([data])
        if feed.blocks:
            self._combiner.absorb([feed])

    def feed(self, parts: Iterable[Any]) -> Feed:
        """What `parts` fill of blocks, to be absorbed next; the rest is kept for the next update."""
        feed = Feed(self._state)
        for part in parts:
            data = np.frombuffer(part, np.uint8)
            if self._tail:
                missing = BLOCK_BYTES - len(self._tail)
                self._tail += data[:missing].tobytes()
                if len(self._tail) < BLOCK_BYTES:
                    continue
                block = np.frombuffer(self._tail, np.uint8)
                feed.add(block.ctypes.data, 1, block)
                data = data[missing:]
            blocks = len(data) // BLOCK_BYTES
            if blocks:
                feed.add(data.ctypes.data, blocks, data)
            self._tail = data[blocks * BLOCK_BYTES :].tobytes()
        return feed

    def digest(self) -> bytes:
        """The hash of everything so far; more may follow."""
        last = bytearray(BLOCK_BYTES)
        last[: len(self._tail)] = self._tail
        last[len(self._tail)] = 0x06
        last[-1] |= 0x80
        block = np.frombuffer(last, np.uint8)
        feed = Feed(self._state.copy())
        feed.add(block.ctypes.data, 1, block)
        absorb([feed], kernels())
        return feed.state[:4].tobytes()


def new_sha3(data: bytes = b"", *, expected: int) -> Hasher:
    """A hasher that was fed `data`, for a stream of about `expected` bytes.

    The first ones of a process are hashlib's; once `WORTH_A_KERNEL_BYTES` are expected in all, those that
    `StreamHasher` makes, where there is a kernel for the machine (docs/adr/0007-hashing-many-streams.md).
    """
    combiner = _expecting(expected)
    hasher: Hasher = hashlib.sha3_256() if combiner is None else StreamHasher(combiner)
    if data:
        hasher.update(data)
    return hasher


def are_combined(hashers: Sequence[Hasher]) -> bool:
    """Whether `update_all` gains anything for these; hashlib's do better each in a thread of its own."""
    return all(isinstance(hasher, StreamHasher) for hasher in hashers)


def update_all(updates: Iterable[tuple[Hasher, Iterable[Any]]]) -> None:
    """Feed several hashers their parts, at once where they can; no hasher may occur twice."""
    feeds: dict[Combiner, list[Feed]] = {}
    for hasher, parts in updates:
        if isinstance(hasher, StreamHasher):
            feeds.setdefault(hasher._combiner, []).append(hasher.feed(parts))
        else:
            for part in parts:
                hasher.update(part)
    for combiner, filled in feeds.items():
        combiner.absorb(filled)


class _Expected:
    """How much this process has been about to hash so far."""

    size = 0
    lock = threading.Lock()


def _expecting(size: int) -> Combiner | None:
    if _Expected.size < WORTH_A_KERNEL_BYTES:
        with _Expected.lock:
            _Expected.size += size
            if _Expected.size < WORTH_A_KERNEL_BYTES:
                return None
    return _combiner()


@cache
def _combiner() -> Combiner | None:
    made = kernels()
    return Combiner(made) if made else None
