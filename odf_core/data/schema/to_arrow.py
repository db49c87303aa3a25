"""ODF schemas as Arrow schemas, with the defaults of the deployed implementation (data.md 2)."""

from typing import Any

import pyarrow as pa

from odf_core.data.errors import UnsupportedArrowType
from odf_core.data.schema.from_arrow import UNITS
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataType,
    DataTypeBinary,
    DataTypeBool,
    DataTypeDate,
    DataTypeDecimal,
    DataTypeDuration,
    DataTypeFloat16,
    DataTypeFloat32,
    DataTypeFloat64,
    DataTypeInt8,
    DataTypeInt16,
    DataTypeInt32,
    DataTypeInt64,
    DataTypeList,
    DataTypeMap,
    DataTypeNull,
    DataTypeOption,
    DataTypeString,
    DataTypeStruct,
    DataTypeTime,
    DataTypeTimestamp,
    DataTypeUInt8,
    DataTypeUInt16,
    DataTypeUInt32,
    DataTypeUInt64,
    TimeUnit,
)

_UNIT_NAMES = {unit: name for name, unit in UNITS.items()}
_DECIMAL128_DIGITS = 38
_DECIMAL256_DIGITS = 76

_PLAIN: dict[type, Any] = {
    DataTypeNull: pa.null(),
    DataTypeBool: pa.bool_(),
    DataTypeInt8: pa.int8(),
    DataTypeInt16: pa.int16(),
    DataTypeInt32: pa.int32(),
    DataTypeInt64: pa.int64(),
    DataTypeUInt8: pa.uint8(),
    DataTypeUInt16: pa.uint16(),
    DataTypeUInt32: pa.uint32(),
    DataTypeUInt64: pa.uint64(),
    DataTypeFloat16: pa.float16(),
    DataTypeFloat32: pa.float32(),
    DataTypeFloat64: pa.float64(),
    DataTypeString: pa.string(),
    DataTypeDate: pa.date32(),
}


def odf_schema_to_arrow(schema: DataSchema) -> Any:
    """The `pa.Schema` of an ODF schema: Utf8, Binary, Date32, times in milliseconds where no unit is
    given, timestamps in UTC where no zone is. Raises `UnsupportedArrowType` for what Arrow cannot hold.
    """
    return pa.schema([_field(field, field.name) for field in schema.fields])


def _field(field: DataField, path: str) -> Any:
    return _named(field.name, field.type, path)


def _named(name: str, data_type: DataType, path: str) -> Any:
    nullable = isinstance(data_type, DataTypeOption)
    if isinstance(data_type, DataTypeOption):
        data_type = data_type.inner
    return pa.field(name, _type(data_type, path), nullable or isinstance(data_type, DataTypeNull))


def _type(t: DataType, path: str) -> Any:
    plain = _PLAIN.get(type(t))
    if plain is not None:
        return plain
    try:
        return _type_with_properties(t, path)
    except (pa.ArrowException, ValueError, OverflowError) as error:
        raise UnsupportedArrowType(f"Column {path!r} has no Arrow type: {error}.", objects=[path]) from error


def _type_with_properties(t: DataType, path: str) -> Any:
    match t:
        case DataTypeBinary(fixed_length=length):
            return pa.binary() if length is None else pa.binary(length)
        case DataTypeDecimal(precision=precision, scale=scale):
            return _decimal(precision, scale, path)
        case DataTypeTime(unit=unit):
            return _time(_UNIT_NAMES[unit or TimeUnit.MILLISECOND])
        case DataTypeTimestamp(unit=unit, timezone=timezone):
            return pa.timestamp(_UNIT_NAMES[unit or TimeUnit.MILLISECOND], timezone or "UTC")
        case DataTypeDuration(unit=unit):
            return pa.duration(_UNIT_NAMES[unit or TimeUnit.MILLISECOND])
        case _:
            return _nested_type(t, path)


def _nested_type(t: DataType, path: str) -> Any:
    match t:
        case DataTypeList(item_type=item, fixed_length=length):
            field = _named("item", item, f"{path}[]")
            return pa.list_(field) if length is None else pa.list_(field, length)
        case DataTypeStruct(fields=fields):
            return pa.struct([_field(field, f"{path}.{field.name}") for field in fields])
        case DataTypeMap(key_type=key, value_type=value, keys_sorted=keys_sorted):
            key_field = pa.field("key", _type(key, f"{path}.key"), nullable=False)
            return pa.map_(key_field, _named("value", value, f"{path}.value"), keys_sorted=bool(keys_sorted))
        case _:
            raise UnsupportedArrowType(
                f"Column {path!r} has the type {type(t).__name__} where Arrow has none.", objects=[path]
            )


def _decimal(precision: int, scale: int, path: str) -> Any:
    if precision <= _DECIMAL128_DIGITS:
        return pa.decimal128(precision, scale)
    if precision <= _DECIMAL256_DIGITS:
        return pa.decimal256(precision, scale)
    raise UnsupportedArrowType(
        f"Column {path!r} is a decimal of {precision} digits; Arrow has at most {_DECIMAL256_DIGITS}.",
        objects=[path],
    )


def _time(unit: str) -> Any:
    return pa.time32(unit) if unit in ("s", "ms") else pa.time64(unit)
