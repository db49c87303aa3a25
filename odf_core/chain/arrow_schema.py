"""The raw Arrow schema of older SetDataSchema events, as an ODF schema (metadata.md 2.6, data.md 2).

Read directly from its FlatBuffers bytes, so that the rules of a chain need no Arrow library to meet
what a peer sent.
"""

from collections.abc import Callable

from odf_core.chain.arrow_tables import Table, UnreadableArrowSchema
from odf_core.limits import Limits
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

_MAX_DEPTH: int = Limits().nesting_depth
_INTS: dict[tuple[int, bool], DataType] = {
    (8, True): DataTypeInt8(),
    (16, True): DataTypeInt16(),
    (32, True): DataTypeInt32(),
    (64, True): DataTypeInt64(),
    (8, False): DataTypeUInt8(),
    (16, False): DataTypeUInt16(),
    (32, False): DataTypeUInt32(),
    (64, False): DataTypeUInt64(),
}
_FLOATS: dict[int, DataType] = {0: DataTypeFloat16(), 1: DataTypeFloat32(), 2: DataTypeFloat64()}
_UNITS = {
    0: TimeUnit.SECOND,
    1: TimeUnit.MILLISECOND,
    2: TimeUnit.MICROSECOND,
    3: TimeUnit.NANOSECOND,
}


def arrow_schema_to_odf(data: bytes) -> DataSchema:
    """The ODF schema of a bare `org.apache.arrow.flatbuf.Schema`; encodings of types are left out.

    Raises `UnreadableArrowSchema`.
    """
    root = Table.root(data)
    return DataSchema(fields=tuple(_field(item, 0) for item in root.tables(1)))


def _field(field: Table, depth: int) -> DataField:
    return DataField(name=field.text(0) or "", type=_field_type(field, depth))


def _field_type(field: Table, depth: int) -> DataType:
    name = field.text(0)
    if depth > _MAX_DEPTH:
        raise UnreadableArrowSchema(f"field {name!r} is nested more than {_MAX_DEPTH} deep")
    number = field.scalar(2, "B", 0)
    details = field.table(3)
    convert = _CONVERTERS.get(number)
    if convert is None or details is None or field.table(4) is not None:
        raise UnreadableArrowSchema(f"field {name!r} has a type that ODF has not (Arrow type {number})")
    data_type = convert(details, field.tables(5), depth + 1)
    return DataTypeOption(inner=data_type) if field.scalar(1, "B", 0) else data_type


_Converter = Callable[[Table, list[Table], int], DataType]


def _always(data_type: DataType) -> _Converter:
    return lambda details, children, depth: data_type


def _int(details: Table, children: list[Table], depth: int) -> DataType:
    bits, signed = details.scalar(0, "i", 0), bool(details.scalar(1, "B", 0))
    if (bits, signed) not in _INTS:
        raise UnreadableArrowSchema(f"an integer has {bits} bits")
    return _INTS[bits, signed]


def _float(details: Table, children: list[Table], depth: int) -> DataType:
    precision = details.scalar(0, "h", 0)
    if precision not in _FLOATS:
        raise UnreadableArrowSchema(f"a floating point number has precision {precision}")
    return _FLOATS[precision]


def _unit(details: Table, default: int) -> TimeUnit:
    number = details.scalar(0, "h", default)
    if number not in _UNITS:
        raise UnreadableArrowSchema(f"a time has unit {number}")
    return _UNITS[number]


def _decimal(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeDecimal(precision=details.scalar(0, "i", 0), scale=details.scalar(1, "i", 0))


def _time(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeTime(unit=_unit(details, 1))


def _timestamp(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeTimestamp(unit=_unit(details, 0), timezone=details.text(1))


def _duration(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeDuration(unit=_unit(details, 1))


def _fixed_binary(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeBinary(fixed_length=details.scalar(0, "i", 0))


def _list(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeList(item_type=_only(children, 1, depth)[0])


def _fixed_list(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeList(item_type=_only(children, 1, depth)[0], fixed_length=details.scalar(0, "i", 0))


def _struct(details: Table, children: list[Table], depth: int) -> DataType:
    return DataTypeStruct(fields=tuple(_field(child, depth) for child in children))


def _map(details: Table, children: list[Table], depth: int) -> DataType:
    if len(children) != 1:
        raise UnreadableArrowSchema("a map has no entries")
    key, value = _only(children[0].tables(5), 2, depth)
    return DataTypeMap(key_type=key, value_type=value, keys_sorted=bool(details.scalar(0, "B", 0)))


def _only(children: list[Table], count: int, depth: int) -> list[DataType]:
    if len(children) != count:
        raise UnreadableArrowSchema(f"a type has {len(children)} inner types instead of {count}")
    return [_field_type(child, depth) for child in children]


# Union numbers of org.apache.arrow.flatbuf.Type. Intervals, unions and run-end encoding have no ODF type.
_CONVERTERS: dict[int, _Converter] = {
    1: _always(DataTypeNull()),
    2: _int,
    3: _float,
    4: _always(DataTypeBinary()),
    5: _always(DataTypeString()),
    6: _always(DataTypeBool()),
    7: _decimal,
    8: _always(DataTypeDate()),
    9: _time,
    10: _timestamp,
    12: _list,
    13: _struct,
    15: _fixed_binary,
    16: _fixed_list,
    17: _map,
    18: _duration,
    19: _always(DataTypeBinary()),
    20: _always(DataTypeString()),
    21: _list,
    23: _always(DataTypeBinary()),
    24: _always(DataTypeString()),
    25: _list,
    26: _list,
}
