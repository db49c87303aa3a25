"""ITEMS of types of fixed width, nulls included, without a loop over the items (data.md 1.4).

The stream wants the raw bytes of a valid item and one byte 00 for a null. It is made by dropping bytes:
of each null's slot all but one byte that is zero. Arrow's filter kernel does that for single bytes,
copying whole runs between nulls; its selection bitmap (one bit for each byte of data) comes from a table
that maps eight validity bits to the bits of eight slots.
"""

from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.data.digest.bits import Bits

_FILTER = pc.get_function("array_filter")
_DROP = pc.FilterOptions("drop")
_SINGLE_BYTE = pa.binary(1)  # filtered in half the time that uint8 takes
Bytes = npt.NDArray[np.uint8]


def spaced_items(values: Bytes, validity: Bits, width: int) -> Any:
    """The items of `values` (`width` bytes each), as a buffer; nulls as one byte 00.

    Bytes in the slots of nulls may be anything. Items longer than `width` cannot be.
    """
    valid = _VALID_BYTES.take(validity, mode="clip").view(np.uint8)[: len(values) // width]
    if width == 1:
        return values & valid
    cleared = values.copy()
    first_bytes = cleared[::width]
    np.bitwise_and(first_bytes, valid, out=first_bytes)
    return _drop_bytes(cleared, _selection(width).take(validity, mode="clip"))


def _drop_bytes(data: Bytes, selection: Any) -> Any:
    """The bytes of `data` whose bit in `selection` is set, as a buffer."""
    size = len(data)
    source = pa.Array.from_buffers(_SINGLE_BYTE, size, [None, pa.py_buffer(data)])
    chosen = pa.Array.from_buffers(pa.bool_(), size, [None, pa.py_buffer(selection)])
    result = _FILTER.call([source, chosen], _DROP)
    return result.buffers()[1][: len(result)]


@cache
def _selection(width: int) -> Any:
    """For each byte of validity bits, the selection bits of eight slots: all bytes of a valid slot, the
    first one of a null's. One opaque element of `width` bytes for each entry."""
    validity = np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")
    chosen = np.repeat(validity[:, :, None], width, axis=2)
    chosen[:, :, 0] = 1
    return np.packbits(chosen.reshape(256, -1), axis=1, bitorder="little").view(f"V{width}").ravel()


_VALID_BYTES = np.where(
    np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little"), 0xFF, 0x00
).astype(np.uint8)
_BOOL_BYTES = np.where(_VALID_BYTES, 2, 1).astype(np.uint8).view(np.uint64).ravel()
_VALID_BYTES = _VALID_BYTES.view(np.uint64).ravel()


def boolean_items(bits: Bits, validity: Bits | None, length: int) -> Any:
    """`01` for false, `02` for true, `00` for null, eight at once."""
    items = _BOOL_BYTES.take(bits, mode="clip")
    if validity is not None:
        items &= _VALID_BYTES.take(validity[: len(bits)], mode="clip")
    return items.view(np.uint8)[:length]
