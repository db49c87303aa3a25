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


def prefixed_items(prefixes: npt.NDArray[np.int64], data: Bytes, offsets: Offsets, validity: Bits | None) -> Any:
    """The stream of `len(prefixes)` items as a buffer: prefix i, then `data[offsets[i]:offsets[i + 1]]`.

    Nulls give one byte 00, whatever lies in their slot.
    """
    count = len(prefixes)
    start, stop = int(offsets[0]), int(offsets[-1])
    prefix_bytes = _PREFIX_BYTES * count
    total = prefix_bytes + (stop - start) + 1
    memory = np.empty(total, np.uint8)
    memory[:prefix_bytes] = prefixes.view(np.uint8)
    memory[prefix_bytes : total - 1] = data[start:stop]
    memory[total - 1] = 0
    narrow = total < _INT32_ROOM
    bounds = np.empty(2 * count + 3, np.int32 if narrow else np.int64)
    bounds[:count] = np.arange(0, prefix_bytes, _PREFIX_BYTES)
    np.add(offsets, prefix_bytes - start, out=bounds[count : 2 * count + 1], dtype=bounds.dtype)
    bounds[2 * count + 1 :] = total
    source = pa.Array.from_buffers(
        pa.binary() if narrow else pa.large_binary(),
        2 * count + 2,
        [None, pa.py_buffer(bounds), pa.py_buffer(memory)],
    )
    result = _TAKE.call([source, pa.array(_turns(count, validity))], _UNCHECKED)
    return _written(result)


def _turns(count: int, validity: Bits | None) -> npt.NDArray[np.int32]:
    """Which elements follow each other: prefix and item in turns; for a null the single zero byte
    (element 2 * count) and the empty element behind it."""
    turns = _all_valid_turns(count)
    if validity is None:
        return turns
    nulls = ~unpack(validity, count)
    turns = turns.copy()
    turns[0::2][nulls] = 2 * count
    turns[1::2][nulls] = 2 * count + 1
    return turns


@lru_cache(maxsize=4)
def _all_valid_turns(count: int) -> npt.NDArray[np.int32]:
    turns = np.empty((count, 2), np.int32)
    turns[:, 0] = np.arange(count, dtype=np.int32)
    turns[:, 1] = np.arange(count, 2 * count, dtype=np.int32)
    return turns.ravel()


def _written(binary_array: Any) -> Any:
    """The bytes of all elements of a freshly made binary array."""
    _, bounds, memory = binary_array.buffers()
    if memory is None:
        return b""
    offset_type = np.int64 if pa.types.is_large_binary(binary_array.type) else np.int32
    ends = np.frombuffer(bounds, offset_type)
    return memory[: int(ends[len(binary_array)])]
