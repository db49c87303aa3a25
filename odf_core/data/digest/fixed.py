"""ITEMS of types of fixed width, nulls included, without a loop over the items (data.md 1.4).

The stream wants the raw bytes of a valid item and one byte 00 for a null. It is made by dropping bytes:
the first byte of each null's slot is cleared and its other bytes are left out. Arrow's filter kernel does
that for single bytes, copying whole runs between nulls; its selection bitmap (one bit for each byte of
data) comes from a table that maps eight validity bits to the bits of eight slots.
"""

import threading
from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.data.digest.bits import Bits

_FILTER = pc.get_function("array_filter")
_DROP = pc.FilterOptions("drop")
_SINGLE_BYTE = pa.binary(1)  # filtered faster than uint8 (measured)
_BLOCK_BYTES = 1 << 18  # what the steps of one block touch stays in the cache of one core
Bytes = npt.NDArray[np.uint8]


def spaced_items(values: Bytes, validity: Bits, width: int) -> Iterator[Any]:
    """The items of `values` (`width` bytes each) in buffers, nulls as one byte 00.

    The slots of nulls may hold anything.
    """
    scratch = _scratch(width)
    for start in range(0, len(values) // width, scratch.rows):
        block = values[start * width : (start + scratch.rows) * width]
        yield scratch.items(block, validity[start // 8 : (start + scratch.rows) // 8 + 1])


class _Scratch:
    """Memory of one thread for the blocks of one width, with Arrow arrays over it that are made once."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.rows = _BLOCK_BYTES // width // 8 * 8
        self.slots = np.empty(self.rows * width, np.uint8)
        self.selection = np.empty(self.rows // 8, f"V{width}")
        size = len(self.slots)
        self.source = pa.Array.from_buffers(_SINGLE_BYTE, size, [None, pa.py_buffer(self.slots)])
        bits = pa.py_buffer(self.selection.view(np.uint8))
        self.chosen = pa.Array.from_buffers(pa.bool_(), size, [None, bits])

    def items(self, block: Bytes, validity: Bits) -> Any:
        size = len(block)
        rows = size // self.width
        validity = validity[: (rows + 7) // 8]
        valid = _VALID_BYTES.take(validity, mode="clip").view(np.uint8)[:rows]
        if self.width == 1:
            return block & valid
        self.slots[:size] = block
        first_bytes = self.slots[: size : self.width]
        np.bitwise_and(first_bytes, valid, out=first_bytes)
        _selection(self.width).take(validity, mode="clip", out=self.selection[: len(validity)])
        source, chosen = self.source, self.chosen
        if size < len(self.slots):
            source, chosen = source.slice(0, size), chosen.slice(0, size)
        kept = _FILTER.call([source, chosen], _DROP)
        return kept.buffers()[1][: len(kept)]


_of_thread = threading.local()


def _scratch(width: int) -> _Scratch:
    scratches: dict[int, _Scratch] = _of_thread.__dict__.setdefault("scratches", {})
    if width not in scratches:
        scratches[width] = _Scratch(width)
    return scratches[width]


def _bits_of_bytes() -> npt.NDArray[np.uint8]:
    return np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1, bitorder="little")


@cache
def _selection(width: int) -> Any:
    """For each byte of validity bits, the selection bits of eight slots: all bytes of a valid slot, the
    first one of a null's. One opaque element of `width` bytes for each entry."""
    chosen = np.repeat(_bits_of_bytes()[:, :, None], width, axis=2)
    chosen[:, :, 0] = 1
    return np.packbits(chosen.reshape(256, -1), axis=1, bitorder="little").view(f"V{width}").ravel()


_VALID_BYTES = np.where(_bits_of_bytes(), 0xFF, 0).astype(np.uint8).view(np.uint64).ravel()
_BOOL_BYTES = np.where(_bits_of_bytes(), 2, 1).astype(np.uint8).view(np.uint64).ravel()


def boolean_items(bits: Bits, validity: Bits | None, length: int) -> Bytes:
    """`01` for false, `02` for true, `00` for null, eight at once."""
    items = _BOOL_BYTES.take(bits, mode="clip")
    if validity is not None:
        items &= _VALID_BYTES.take(validity[: len(bits)], mode="clip")
    return items.view(np.uint8)[:length]
