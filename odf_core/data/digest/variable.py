"""ITEMS of types of variable length: a count or length as u64 before the bytes of each item (data.md 1.4).

Prefixes and bytes lie in two runs of memory; the stream wants them in turns. Both are made elements of
one binary array (all prefixes, then all items), and Arrow's take kernel picks them alternately.
"""

from functools import lru_cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.data.digest.bits import Bits, unpack

_TAKE = pc.get_function("array_take")
_UNCHECKED = pc.TakeOptions(boundscheck=False)
_PREFIX_BYTES = 8
_INT32_ROOM = (1 << 31) - 64
Offsets = npt.NDArray[np.int32] | npt.NDArray[np.int64]
Bytes = npt.NDArray[np.uint8]


def prefixed_items(counts: Offsets | None, data: Bytes, offsets: Offsets, validity: Bits | None) -> Any:
    """The stream, as a buffer, of items that are `data[offsets[i]:offsets[i + 1]]`, each behind its prefix.

    The prefix is the i-th difference of `counts` (offsets in items), or of `offsets` itself where that is
    None (a length in bytes). Nulls give one byte 00, whatever lies in their slot.
    """
    rows = len(offsets) - 1
    start, stop = int(offsets[0]), int(offsets[-1])
    prefixes = _PREFIX_BYTES * rows
    total = prefixes + (stop - start) + 1
    memory = np.empty(total, np.uint8)
    ends = offsets if counts is None else counts
    np.subtract(ends[1:], ends[:-1], out=memory[:prefixes].view(np.int64), dtype=np.int64)
    memory[prefixes : total - 1] = data[start:stop]
    memory[total - 1] = 0
    narrow = total < _INT32_ROOM
    bounds = np.empty(2 * rows + 3, np.int32 if narrow else np.int64)
    bounds[:rows] = _prefix_starts(rows)
    np.add(offsets, prefixes - start, out=bounds[rows : 2 * rows + 1], dtype=bounds.dtype)
    bounds[2 * rows + 1 :] = total
    source = pa.Array.from_buffers(
        pa.binary() if narrow else pa.large_binary(),
        2 * rows + 2,
        [None, pa.py_buffer(bounds), pa.py_buffer(memory)],
    )
    turns = pa.Array.from_buffers(pa.int32(), 2 * rows, [None, pa.py_buffer(_turns(rows, validity))])
    return _written(_TAKE.call([source, turns], _UNCHECKED))


def _turns(rows: int, validity: Bits | None) -> npt.NDArray[np.int64]:
    """Which elements follow each other, as pairs of 32-bit indices: a row's prefix and its item; for a null
    the single zero byte (element 2 * rows) and the empty element behind it."""
    turns = _all_valid_turns(rows)
    if validity is None:
        return turns
    return np.where(unpack(validity, rows), turns, _pair(2 * rows, 2 * rows + 1))


@lru_cache(maxsize=4)
def _prefix_starts(rows: int) -> npt.NDArray[np.int32]:
    return np.arange(0, _PREFIX_BYTES * rows, _PREFIX_BYTES, dtype=np.int32)


@lru_cache(maxsize=4)
def _all_valid_turns(rows: int) -> npt.NDArray[np.int64]:
    first = np.arange(rows, dtype=np.int64)
    return _pair(first, first + rows)


def _pair(first: Any, second: Any) -> Any:
    return first | (second << 32)


def _written(binary_array: Any) -> Any:
    """The bytes of all elements of a freshly made binary array."""
    _, bounds, memory = binary_array.buffers()
    if memory is None:
        return b""
    offset_type = np.int64 if pa.types.is_large_binary(binary_array.type) else np.int32
    ends = np.frombuffer(bounds, offset_type)
    return memory[: int(ends[len(binary_array)])]
