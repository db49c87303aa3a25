"""Bitmaps of Arrow arrays as numpy arrays: packed, least significant bit first, starting at bit 0.

A *validity* below is such a bitmap of at least `length` bits (set = the item is there), or None
where no item is null. Bits past the length are garbage.
"""

from typing import Any

import numpy as np
import numpy.typing as npt

Bits = npt.NDArray[np.uint8]


def packed_bits(buffer: Any, offset: int, length: int) -> Bits:
    """`length` bits of a buffer from bit `offset` on; no copy where the offset is at a byte."""
    whole = np.frombuffer(buffer, np.uint8)
    first, shift = divmod(offset, 8)
    if shift == 0:
        return whole[first : first + (length + 7) // 8]
    bits = np.unpackbits(whole[first : (offset + length + 7) // 8], bitorder="little")
    return np.packbits(bits[shift : shift + length], bitorder="little")


def own_validity(array: Any) -> Bits | None:
    """The validity of an array itself; None where it has no nulls, whether it has a bitmap or not."""
    if array.null_count == 0:
        return None
    buffer = array.buffers()[0]
    if buffer is None:  # a null array has none, and every item is null
        return np.zeros((len(array) + 7) // 8, np.uint8)
    return packed_bits(buffer, array.offset, len(array))


def combine_validity(parent: Bits | None, own: Bits | None) -> Bits | None:
    """What the reference makes of a struct's validity and its child's: a bitwise OR (data.md 1.6).

    Null only where both are null; where one side has no nulls in this batch, the other one stands.
    """
    if parent is None:
        return own
    if own is None:
        return parent
    return np.bitwise_or(parent, own)


def unpack(validity: Bits, length: int) -> npt.NDArray[np.bool_]:
    """One boolean per item."""
    return np.unpackbits(validity, count=length, bitorder="little").view(np.bool_)


def slice_validity(validity: Bits | None, start: int, length: int) -> Bits | None:
    """The validity of a part; `start` has to be a multiple of 8."""
    if validity is None:
        return None
    return validity[start // 8 : (start + length + 7) // 8]
