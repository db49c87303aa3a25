"""Writing an Arrow schema as a bare Schema flatbuffer, byte for byte as arrow-rs does (metadata.md 2.6).

FlatBuffers are built from the end, so what is created first lies last: all fields in order, then their
vector, then metadata. The order in which a table's slots are added is part of the bytes.
"""

from collections.abc import Callable
from typing import Any

import flatbuffers
import pyarrow as pa

from odf_core.data.digest.types import storage_type
from odf_core.data.errors import UnsupportedArrowType

_UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}
_TypeTable = tuple[int, int, int]  # union number, offset of the type table, offset of the children


def write_raw_arrow_schema(schema: Any) -> bytes:
    """The bytes of a `pa.Schema`; raises `UnsupportedArrowType` for types that ODF has not."""
    builder = flatbuffers.Builder(1024)
    fields = _vector(builder, [_field(builder, field) for field in schema])
    metadata = _metadata(builder, schema.metadata)
    builder.StartObject(4)
    builder.PrependUOffsetTRelativeSlot(1, fields, 0)
    builder.PrependUOffsetTRelativeSlot(2, metadata, 0)
    builder.Finish(builder.EndObject())
    return bytes(builder.Output())


def _vector(builder: Any, offsets: list[int]) -> int:
    builder.StartVector(4, len(offsets), 4)
    for offset in reversed(offsets):
        builder.PrependUOffsetTRelative(offset)
    return int(builder.EndVector())


def _metadata(builder: Any, metadata: dict[bytes, bytes] | None) -> int:
    """A vector of KeyValue tables; 0, which leaves the slot out, where there is none."""
    if not metadata:
        return 0
    pairs = []
    for key, value in metadata.items():
        key_at, value_at = builder.CreateString(key), builder.CreateString(value)
        builder.StartObject(2)
        builder.PrependUOffsetTRelativeSlot(0, key_at, 0)
        builder.PrependUOffsetTRelativeSlot(1, value_at, 0)
        pairs.append(builder.EndObject())
    return _vector(builder, pairs)


def _field(builder: Any, field: Any) -> int:
    metadata = _metadata(builder, field.metadata)
    name = builder.CreateString(field.name)
    number, table, children = _type(builder, storage_type(field.type), field.name)
    builder.StartObject(7)
    builder.PrependUOffsetTRelativeSlot(0, name, 0)
    builder.PrependUint8Slot(2, number, 0)
    builder.PrependBoolSlot(1, field.nullable, False)
    builder.PrependUOffsetTRelativeSlot(5, children, 0)
    builder.PrependUOffsetTRelativeSlot(3, table, 0)
    builder.PrependUOffsetTRelativeSlot(6, metadata, 0)
    return int(builder.EndObject())


def _type(builder: Any, t: Any, name: str) -> _TypeTable:
    if t.id in _NUMBERS_WITHOUT_PROPERTIES:
        table = _table(builder, lambda: None)
        return _NUMBERS_WITHOUT_PROPERTIES[t.id], table, _vector(builder, [])
    if pa.types.is_integer(t) or pa.types.is_floating(t):
        return _number(builder, t)
    if pa.types.is_nested(t):
        return _nested(builder, t, name)
    return _scalar(builder, t, name)


def _table(builder: Any, add_slots: Callable[[], object]) -> int:
    builder.StartObject(4)
    add_slots()
    return int(builder.EndObject())


def _number(builder: Any, t: Any) -> _TypeTable:
    """Int and FloatingPoint alone have their empty vector of children made before the type."""
    children = _vector(builder, [])
    builder.StartObject(2)
    if pa.types.is_integer(t):
        builder.PrependBoolSlot(1, pa.types.is_signed_integer(t), False)
        builder.PrependInt32Slot(0, t.bit_width, 0)
        return 2, int(builder.EndObject()), children
    builder.PrependInt16Slot(0, {16: 0, 32: 1, 64: 2}[t.bit_width], 0)
    return 3, int(builder.EndObject()), children


def _nested(builder: Any, t: Any, name: str) -> _TypeTable:
    if t.id not in _NESTED_NUMBERS:
        raise _unsupported(t, name)
    inner = [_field(builder, t.field(index)) for index in range(t.num_fields)]

    def add_slots() -> None:
        if pa.types.is_fixed_size_list(t):
            builder.PrependInt32Slot(0, t.list_size, 0)
        elif pa.types.is_map(t):
            builder.PrependBoolSlot(0, t.keys_sorted, False)

    table = _table(builder, add_slots)
    return _NESTED_NUMBERS[t.id], table, _vector(builder, inner)


def _scalar(builder: Any, t: Any, name: str) -> _TypeTable:
    if pa.types.is_timestamp(t):
        number, table = 10, _timestamp(builder, t)
    elif pa.types.is_date(t):
        number, table = 8, _table(builder, lambda: builder.PrependInt16Slot(0, int(t.bit_width == 64), 1))
    elif pa.types.is_time(t):
        number, table = 9, _table(builder, lambda: _time_slots(builder, t))
    elif pa.types.is_duration(t):
        number, table = 18, _table(builder, lambda: builder.PrependInt16Slot(0, _UNITS[t.unit], 1))
    elif pa.types.is_decimal(t):
        number, table = 7, _table(builder, lambda: _decimal_slots(builder, t))
    elif pa.types.is_fixed_size_binary(t):
        number, table = 15, _table(builder, lambda: builder.PrependInt32Slot(0, t.byte_width, 0))
    else:
        raise _unsupported(t, name)
    return number, table, _vector(builder, [])


def _timestamp(builder: Any, t: Any) -> int:
    zone = builder.CreateString(t.tz or "")  # made for naive ones as well, and then not referred to
    builder.StartObject(2)
    builder.PrependInt16Slot(0, _UNITS[t.unit], 0)
    if t.tz:
        builder.PrependUOffsetTRelativeSlot(1, zone, 0)
    return int(builder.EndObject())


def _time_slots(builder: Any, t: Any) -> None:
    builder.PrependInt32Slot(1, t.bit_width, 32)
    builder.PrependInt16Slot(0, _UNITS[t.unit], 1)


def _decimal_slots(builder: Any, t: Any) -> None:
    builder.PrependInt32Slot(2, t.bit_width, 128)
    builder.PrependInt32Slot(1, t.scale, 0)
    builder.PrependInt32Slot(0, t.precision, 0)


def _unsupported(t: Any, name: str) -> UnsupportedArrowType:
    return UnsupportedArrowType(f"Column {name!r} has the Arrow type {t}, which ODF has not.", objects=[name])


_NUMBERS_WITHOUT_PROPERTIES = {
    pa.null().id: 1,
    pa.binary().id: 4,
    pa.string().id: 5,
    pa.bool_().id: 6,
    pa.large_binary().id: 19,
    pa.large_string().id: 20,
    pa.binary_view().id: 23,
    pa.string_view().id: 24,
}
_NESTED_NUMBERS = {
    pa.list_(pa.int8()).id: 12,
    pa.struct([]).id: 13,
    pa.list_(pa.int8(), 1).id: 16,
    pa.map_(pa.int8(), pa.int8()).id: 17,
    pa.large_list(pa.int8()).id: 21,
}
