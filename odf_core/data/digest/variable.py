"""ITEMS of types of variable length: a count or length as u64 before the bytes of each item (data.md 1.4).

Prefixes and bytes lie in two runs of memory; the stream wants them in turns. Both are made elements of
one binary array, and Arrow's take kernel picks them alternately. Items of a kilobyte and more are not
worth moving: they go to the hasher where they lie.
"""

import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.data.digest.bits import Bits, unpack

_TAKE = pc.get_function("array_take")
_UNCHECKED = pc.TakeOptions(boundscheck=False)
_ROWS = 1 << 14
_LARGE_BLOCK_BYTES = 1 << 24
_KEPT_BYTES = 1 << 21
_PREFIX_BYTES = 8
Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


def prefixed_items(
    counts: Offsets | None, data: Bytes, offsets: Offsets, validity: Bits | None
) -> Iterator[Any]:
    """The stream, in buffers, of items that are `data[offsets[i]:offsets[i + 1]]`, each behind its prefix.

    The prefix is the i-th difference of `counts` (offsets in items), or of `offsets` itself where that is
    None (a length in bytes). Nulls give one byte 00, whatever lies in their slot.
    """
    rows = len(offsets) - 1
    for start in range(0, rows, _ROWS):
        stop = min(start + _ROWS, rows)
        ends = offsets[start : stop + 1]
        numbers = ends if counts is None else counts[start : stop + 1]
        valid = None if validity is None else unpack(validity[start // 8 :], stop - start)
        if int(ends[-1]) - int(ends[0]) > _LARGE_BLOCK_BYTES:
            yield from _large_items(numbers, data, ends, valid)
        else:
            yield _scratch().items(numbers, data, ends, valid)


def _large_items(counts: Offsets, data: Bytes, offsets: Offsets, valid: Any) -> Iterator[Any]:
    prefixes = np.diff(counts).astype("<u8")
    for row in range(len(prefixes)):
        if valid is not None and not valid[row]:
            yield b"\0"
            continue
        yield prefixes[row : row + 1]
        yield data[offsets[row] : offsets[row + 1]]


class _Scratch:
    """Memory of one thread: elements of a binary array as prefixes, one zero byte, one empty element, and
    then the items of the block."""

    def __init__(self) -> None:
        self.memory = np.zeros(_PREFIX_BYTES * _ROWS + 1 + _KEPT_BYTES, np.uint8)
        self.bounds = np.zeros(2 * _ROWS + 3, np.int32)
        self.bounds[: _ROWS + 1] = np.arange(0, _PREFIX_BYTES * _ROWS + 1, _PREFIX_BYTES)
        self.bounds[_ROWS + 1 :] = _ITEMS_AT

    def items(self, counts: Offsets, data: Bytes, offsets: Offsets, valid: Any) -> Any:
        rows = len(offsets) - 1
        start, stop = int(offsets[0]), int(offsets[-1])
        memory = self._room(_ITEMS_AT + stop - start)
        prefixes = memory[: _PREFIX_BYTES * rows].view("<i8")
        np.subtract(counts[1:], counts[:-1], out=prefixes, dtype=np.int64)
        memory[_ITEMS_AT : _ITEMS_AT + stop - start] = data[start:stop]
        bounds = self.bounds[: _ROWS + 3 + rows]
        np.subtract(
            offsets, start - _ITEMS_AT, out=bounds[_ROWS + 2 :], dtype=offsets.dtype, casting="unsafe"
        )
        elements = [None, pa.py_buffer(bounds), pa.py_buffer(memory)]
        source = pa.Array.from_buffers(pa.binary(), _ROWS + 2 + rows, elements)
        turns = pa.Array.from_buffers(pa.int32(), 2 * rows, [None, pa.py_buffer(_turns(rows, valid))])
        return _written(_TAKE.call([source, turns], _UNCHECKED))

    def _room(self, size: int) -> Bytes:
        """The scratch memory, or other memory for a block that does not fit it."""
        return self.memory if size <= len(self.memory) else np.zeros(size, np.uint8)


_ITEMS_AT = _PREFIX_BYTES * _ROWS + 1
_of_thread = threading.local()


def _scratch() -> _Scratch:
    if not hasattr(_of_thread, "scratch"):
        _of_thread.scratch = _Scratch()
    scratch: _Scratch = _of_thread.scratch
    return scratch


# Pairs of 32-bit element numbers that follow each other in the stream: a row's prefix and its item; for a
# null the zero byte and the empty element.
_TURNS = np.arange(_ROWS, dtype=np.int64) | (np.arange(_ROWS + 2, 2 * _ROWS + 2, dtype=np.int64) << 32)
_NULL_TURN = np.int64(_ROWS | (_ROWS + 1) << 32)


def _turns(rows: int, valid: Any) -> npt.NDArray[np.int64]:
    turns = _TURNS[:rows]
    return turns if valid is None else np.where(valid, turns, _NULL_TURN)


def _written(binary_array: Any) -> Any:
    """The bytes of all elements of a freshly made binary array."""
    _, bounds, memory = binary_array.buffers()
    return memory[: int(np.frombuffer(bounds, np.int32)[len(binary_array)])]
