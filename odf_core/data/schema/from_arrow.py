"""Arrow schemas as ODF schemas (data.md 2): nullable is `Option`, encodings of buffers are left out."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa

from odf_core.data.digest.types import storage_type
from odf_core.data.errors import UnsupportedArrowType
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

UNITS = {
    "s": TimeUnit.SECOND,
    "ms": TimeUnit.MILLISECOND,
    "us": TimeUnit.MICROSECOND,
    "ns": TimeUnit.NANOSECOND,
}


def arrow_schema_to_odf(schema: Any) -> DataSchema:
    """The ODF schema of a `pa.Schema`.

    A naive timestamp becomes one without a time zone, which ODF reads as UTC. Raises
    `UnsupportedArrowType` for intervals, unions, dictionaries and run-end encoded columns.
    """
    return DataSchema(fields=tuple(_field(field, field.name) for field in schema))


def _field(field: Any, path: str) -> DataField:
    return DataField(name=field.name, type=_nullable(field, path))


def _nullable(field: Any, path: str) -> DataType:
    data_type = _type(storage_type(field.type), path)
    return DataTypeOption(inner=data_type) if field.nullable else data_type


def _type(t: Any, path: str) -> DataType:
    plain = _PLAIN.get(t.id)
    if plain is not None:
        return plain
    convert = _WITH_PROPERTIES.get(t.id)
    if convert is None:
        raise UnsupportedArrowType(
            f"Column {path!r} has the Arrow type {t}, which ODF has not; store it as another type.",
            objects=[path],
        )
    return convert(t, path)


def _list(t: Any, path: str) -> DataType:
    length = t.list_size if pa.types.is_fixed_size_list(t) else None
    return DataTypeList(item_type=_nullable(t.value_field, f"{path}[]"), fixed_length=length)


def _struct(t: Any, path: str) -> DataType:
    return DataTypeStruct(fields=tuple(_field(field, f"{path}.{field.name}") for field in t))


def _map(t: Any, path: str) -> DataType:
    return DataTypeMap(
        key_type=_type(storage_type(t.key_type), f"{path}.{t.key_field.name}"),
        value_type=_nullable(t.item_field, f"{path}.{t.item_field.name}"),
        keys_sorted=t.keys_sorted,
    )


def _ids(*types: Any) -> list[int]:
    return [t.id for t in types]


_PLAIN: dict[int, DataType] = {
    pa.null().id: DataTypeNull(),
    pa.bool_().id: DataTypeBool(),
    pa.int8().id: DataTypeInt8(),
    pa.int16().id: DataTypeInt16(),
    pa.int32().id: DataTypeInt32(),
    pa.int64().id: DataTypeInt64(),
    pa.uint8().id: DataTypeUInt8(),
    pa.uint16().id: DataTypeUInt16(),
    pa.uint32().id: DataTypeUInt32(),
    pa.uint64().id: DataTypeUInt64(),
    pa.float16().id: DataTypeFloat16(),
    pa.float32().id: DataTypeFloat32(),
    pa.float64().id: DataTypeFloat64(),
    **dict.fromkeys(_ids(pa.string(), pa.large_string(), pa.string_view()), DataTypeString()),
    **dict.fromkeys(_ids(pa.binary(), pa.large_binary(), pa.binary_view()), DataTypeBinary()),
    **dict.fromkeys(_ids(pa.date32(), pa.date64()), DataTypeDate()),
}

_item = pa.int8()
_lists = _ids(
    pa.list_(_item), pa.large_list(_item), pa.list_(_item, 1), pa.list_view(_item), pa.large_list_view(_item)
)
_times = _ids(pa.time32("s"), pa.time64("us"))
_decimals = _ids(pa.decimal32(1), pa.decimal64(1), pa.decimal128(1), pa.decimal256(1))
_WITH_PROPERTIES: dict[int, Callable[[Any, str], DataType]] = {
    pa.binary(1).id: lambda t, path: DataTypeBinary(fixed_length=t.byte_width),
    pa.timestamp("s").id: lambda t, path: DataTypeTimestamp(unit=UNITS[t.unit], timezone=t.tz),
    pa.duration("s").id: lambda t, path: DataTypeDuration(unit=UNITS[t.unit]),
    pa.struct([]).id: _struct,
    pa.map_(_item, _item).id: _map,
    **dict.fromkeys(_lists, _list),
    **dict.fromkeys(_times, lambda t, path: DataTypeTime(unit=UNITS[t.unit])),
    **dict.fromkeys(_decimals, lambda t, path: DataTypeDecimal(precision=t.precision, scale=t.scale)),
}
