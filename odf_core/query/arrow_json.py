"""An Arrow schema as JSON, as deployed nodes answer it (`ArrowJson`, data.md 6)."""

from typing import Any

import pyarrow as pa

from odf_core.data.records.errors import UnsupportedRecordType

_PLAIN = {
    pa.null(): "Null",
    pa.bool_(): "Boolean",
    pa.int8(): "Int8",
    pa.int16(): "Int16",
    pa.int32(): "Int32",
    pa.int64(): "Int64",
    pa.uint8(): "UInt8",
    pa.uint16(): "UInt16",
    pa.uint32(): "UInt32",
    pa.uint64(): "UInt64",
    pa.float16(): "Float16",
    pa.float32(): "Float32",
    pa.float64(): "Float64",
    pa.date32(): "Date32",
    pa.date64(): "Date64",
    pa.string(): "Utf8",
    pa.large_string(): "LargeUtf8",
    pa.binary(): "Binary",
    pa.large_binary(): "LargeBinary",
}
_UNITS = {"s": "Second", "ms": "Millisecond", "us": "Microsecond", "ns": "Nanosecond"}


def arrow_schema_json(schema: Any) -> dict[str, Any]:
    """The schema's fields in their order. Raises `UnsupportedRecordType`."""
    return {"fields": [_field(item) for item in schema], "metadata": {}}


def _field(item: Any) -> dict[str, Any]:
    return {
        "name": item.name,
        "data_type": _type(item.type, item.name),
        "nullable": item.nullable,
        "dict_id": 0,
        "dict_is_ordered": False,
        "metadata": {},
    }


def _type(kind: Any, name: str) -> Any:
    plain = _PLAIN.get(kind)
    if plain is not None:
        return plain
    types = pa.types
    if types.is_timestamp(kind):
        return {"Timestamp": [_UNITS[kind.unit], kind.tz]}
    if types.is_time(kind):
        return {f"Time{kind.bit_width}": _UNITS[kind.unit]}
    if types.is_duration(kind):
        return {"Duration": _UNITS[kind.unit]}
    if types.is_decimal(kind):
        return {f"Decimal{kind.bit_width}": [kind.precision, kind.scale]}
    if types.is_fixed_size_binary(kind):
        return {"FixedSizeBinary": kind.byte_width}
    if types.is_list(kind):
        return {"List": _field(kind.value_field)}
    if types.is_large_list(kind):
        return {"LargeList": _field(kind.value_field)}
    if types.is_struct(kind):
        return {"Struct": [_field(kind.field(index)) for index in range(kind.num_fields)]}
    raise UnsupportedRecordType(f"Column {name!r} has a type that ArrowJson has no name for.", objects=[name])
