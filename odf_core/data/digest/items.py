"""ITEMS: the byte stream of a column's items (data.md 1.4), for every type that has a logical hash.

`pieces` divides an array so that no piece's stream takes much memory; `encode` turns one piece into its
bytes. Streams of consecutive pieces, joined, are the stream of the whole.
"""

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from odf_core.data.digest.bits import Bits, own_validity, packed_bits, slice_validity, unpack
from odf_core.data.digest.fixed import Bytes, boolean_items, spaced_items
from odf_core.data.digest.types import is_list, is_variable_binary
from odf_core.data.digest.variable import prefixed_items
from odf_core.data.errors import UnsupportedLogicalHashType

PIECE_BYTES = 1 << 21
_PIECE_ROWS = 1 << 16
_LEAST_ROWS = 64

Bounds = npt.NDArray[np.int64]


class Items(NamedTuple):
    """A stream of items in consecutive buffers, which may be made while they are taken, and where in it
    each item begins and the last one ends (if that was asked for)."""

    parts: Iterable[Any]
    bounds: Bounds | None = None


def pieces(array: Any, validity: Bits | None) -> Iterator[tuple[Any, Bits | None]]:
    """The array in consecutive parts of a bounded number of rows and, by average, of bytes."""
    length = len(array)
    if length <= _LEAST_ROWS:
        if length:
            yield array, validity
        return
    row_bytes = array.nbytes // length + 8
    rows = max(_LEAST_ROWS, min(_PIECE_ROWS, PIECE_BYTES // row_bytes) // 8 * 8)
    for start in range(0, length, rows):
        part = array.slice(start, rows)
        yield part, slice_validity(validity, start, len(part))


def encode(array: Any, validity: Bits | None, *, with_bounds: bool = False) -> Items:
    """The stream of `array`, its nulls as `validity` says (its own bitmap is not looked at).

    Raises `UnsupportedLogicalHashType` for an array of type null, as the reference has no items for it.
    """
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    data_type = array.type
    if len(array) == 0 and not pa.types.is_null(data_type):
        return Items([], np.zeros(1, np.int64))
    if pa.types.is_boolean(data_type):
        return _encode_booleans(array, validity, with_bounds)
    if is_variable_binary(data_type):
        return _encode_binary(array, validity, with_bounds)
    if pa.types.is_fixed_size_binary(data_type):
        return _encode_fixed_binary(array, validity, with_bounds)
    if is_list(data_type):
        return _encode_lists(array, validity, with_bounds)
    if pa.types.is_null(data_type):
        raise UnsupportedLogicalHashType("A column of type null has no items that could be hashed.")
    return _encode_numbers(array, validity, with_bounds)


def _encode_numbers(array: Any, validity: Bits | None, with_bounds: bool) -> Items:
    width = array.type.bit_width // 8
    buffer = array.buffers()[1]
    start = array.offset * width
    if validity is None:
        parts: Iterable[Any] = [buffer[start : start + len(array) * width]]
    else:
        parts = spaced_items(_slots(array, width), validity, width)
    return Items(parts, _fixed_bounds(len(array), validity, width) if with_bounds else None)


def _slots(array: Any, width: int) -> Bytes:
    start = array.offset * width
    return np.frombuffer(array.buffers()[1], np.uint8)[start : start + len(array) * width]


def _encode_booleans(array: Any, validity: Bits | None, with_bounds: bool) -> Items:
    length = len(array)
    data = boolean_items(packed_bits(array.buffers()[1], array.offset, length), validity, length)
    return Items([data], np.arange(length + 1, dtype=np.int64) if with_bounds else None)


def _encode_fixed_binary(array: Any, validity: Bits | None, with_bounds: bool) -> Items:
    length, width = len(array), array.type.byte_width
    offsets = np.arange(length + 1, dtype=np.int64) * width
    parts = prefixed_items(None, _slots(array, width), offsets, validity)
    return Items(parts, _prefixed_bounds(offsets, validity) if with_bounds else None)


def _encode_binary(array: Any, validity: Bits | None, with_bounds: bool) -> Items:
    if pa.types.is_string_view(array.type) or pa.types.is_binary_view(array.type):
        array = array.cast(pa.large_binary())
    offsets = _offsets(array)
    memory = array.buffers()[2]
    data = np.frombuffer(memory, np.uint8) if memory is not None else np.empty(0, np.uint8)
    bounds = _prefixed_bounds(offsets, validity) if with_bounds else None
    return Items(prefixed_items(None, data, offsets, validity), bounds)


def _encode_lists(array: Any, validity: Bits | None, with_bounds: bool) -> Items:
    """A count before the items of each list; items below a null list are left out."""
    if pa.types.is_fixed_size_list(array.type):
        size = array.type.list_size
        offsets: Any = np.arange(array.offset, array.offset + len(array) + 1, dtype=np.int64) * size
    else:
        offsets = _offsets(array)
    start, stop = int(offsets[0]), int(offsets[-1])
    children = array.values.slice(start, stop - start)
    inner = encode(children, own_validity(children), with_bounds=True)
    assert inner.bounds is not None
    ends = inner.bounds[offsets - start]
    data = np.frombuffer(b"".join(inner.parts), np.uint8)
    bounds = _prefixed_bounds(ends, validity) if with_bounds else None
    return Items(prefixed_items(offsets, data, ends, validity), bounds)


def _offsets(array: Any) -> Any:
    large = (
        pa.types.is_large_binary(array.type)
        or pa.types.is_large_string(array.type)
        or pa.types.is_large_list(array.type)
    )
    whole = np.frombuffer(array.buffers()[1], np.int64 if large else np.int32)
    return whole[array.offset : array.offset + len(array) + 1]


def _fixed_bounds(length: int, validity: Bits | None, width: int) -> Bounds:
    if validity is None:
        return np.arange(length + 1, dtype=np.int64) * width
    return _bounds(np.where(unpack(validity, length), width, 1))


def _prefixed_bounds(offsets: Any, validity: Bits | None) -> Bounds:
    sizes = np.diff(offsets).astype(np.int64) + 8
    return _bounds(sizes if validity is None else np.where(unpack(validity, len(sizes)), sizes, 1))


def _bounds(sizes: npt.NDArray[np.int64]) -> Bounds:
    bounds = np.zeros(len(sizes) + 1, np.int64)
    np.cumsum(sizes, out=bounds[1:])
    return bounds
