"""TYPE_PREFIX: how a column's type enters the logical hash (data.md 1.3)."""

import struct
from typing import Any

import pyarrow as pa

from odf_core.data.errors import UnsupportedLogicalHashType

_INT, _FLOAT, _BINARY, _UTF8, _BOOL, _DECIMAL, _DATE, _TIME, _TIMESTAMP, _LIST, _NULL = (
    struct.pack("<H", kind) for kind in (1, 2, 3, 4, 5, 6, 7, 8, 9, 11, 0)
)
_UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}

_BINARIES = frozenset({pa.binary().id, pa.large_binary().id, pa.binary_view().id, pa.binary(1).id})
_STRINGS = frozenset({pa.string().id, pa.large_string().id, pa.string_view().id})
_INTS = frozenset(t.id for t in (pa.int8(), pa.int16(), pa.int32(), pa.int64()))
_UINTS = frozenset(t.id for t in (pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()))
_FLOATS = frozenset(t.id for t in (pa.float16(), pa.float32(), pa.float64()))
_LISTS = frozenset(t.id for t in (pa.list_(pa.int8()), pa.large_list(pa.int8()), pa.list_(pa.int8(), 1)))


def storage_type(data_type: Any) -> Any:
    """The type itself, or the storage type below an extension type."""
    while isinstance(data_type, pa.BaseExtensionType):
        data_type = data_type.storage_type
    return data_type


def is_list(data_type: Any) -> bool:
    """List, LargeList or FixedSizeList: the three whose items are hashed one by one."""
    return data_type.id in _LISTS


def is_variable_binary(data_type: Any) -> bool:
    """Utf8 and Binary in every buffer encoding; FixedSizeBinary is not among them."""
    return data_type.id in _STRINGS or (
        data_type.id in _BINARIES and not pa.types.is_fixed_size_binary(data_type)
    )


def type_prefix(data_type: Any, column: str) -> bytes:
    """The bytes that a column's hasher starts with.

    Raises `UnsupportedLogicalHashType`, naming `column`, for types on which the reference
    implementation panics (data.md 1.3).
    """
    data_type = storage_type(data_type)
    if is_list(data_type):
        return _LIST + _item_prefix(data_type, column)
    prefix = _scalar_prefix(data_type)
    if prefix is None:
        raise UnsupportedLogicalHashType(
            f"Column {column!r} of type {data_type} has no logical hash; store it as another type.",
            objects=[column],
            extras={"type": str(data_type)},
        )
    return prefix


def _item_prefix(list_type: Any, column: str) -> bytes:
    return type_prefix(list_type.value_type, f"{column}[]")


def _scalar_prefix(t: Any) -> bytes | None:
    if t.id in _INTS or t.id in _UINTS:
        return _INT + struct.pack("<BQ", t.id in _INTS, t.bit_width)
    if t.id in _FLOATS:
        return _FLOAT + struct.pack("<Q", t.bit_width)
    if t.id in _STRINGS:
        return _UTF8
    if t.id in _BINARIES:
        return _BINARY
    if pa.types.is_boolean(t):
        return _BOOL
    if pa.types.is_decimal(t):
        return _DECIMAL + struct.pack("<QQq", t.bit_width, t.precision, t.scale)
    if pa.types.is_null(t):
        return _NULL
    return _temporal_prefix(t)


def _temporal_prefix(t: Any) -> bytes | None:
    if pa.types.is_date(t):
        return _DATE + struct.pack("<QH", t.bit_width, t.bit_width == 64)
    if pa.types.is_time(t):
        return _TIME + struct.pack("<QH", t.bit_width, _UNITS[t.unit])
    if pa.types.is_timestamp(t):
        zone = b"\0" if t.tz is None else sized_text(t.tz)
        return _TIMESTAMP + struct.pack("<H", _UNITS[t.unit]) + zone
    return None


def sized_text(text: str) -> bytes:
    """`str(s)` of data.md 1.2: the length in UTF-8 bytes as u64, then the bytes."""
    data = text.encode()
    return struct.pack("<Q", len(data)) + data
