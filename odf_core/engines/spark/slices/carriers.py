"""Arrow types on Spark: what carries what.

Spark has no unsigned integers and one unit of time. A type that it lacks is carried by one that holds
all its values and that Spark's Parquet reader makes of it by itself; the writer casts back
(`odf_core.ingest.carried`). Times of day and lengths of time are carried by the numbers that files have,
and become Spark's own for queries (`lifting`).
"""

import pyarrow as pa
from pyspark.sql import types as T

from odf_core.ingest.merge_errors import UnsupportedColumnType

_MAX_DECIMAL = 38
_SIMPLE: dict[pa.DataType, T.DataType] = {
    pa.bool_(): T.BooleanType(),
    pa.int8(): T.ByteType(),
    pa.int16(): T.ShortType(),
    pa.int32(): T.IntegerType(),
    pa.int64(): T.LongType(),
    pa.uint8(): T.ShortType(),
    pa.uint16(): T.IntegerType(),
    pa.uint32(): T.LongType(),
    pa.uint64(): T.DecimalType(20, 0),
    pa.float32(): T.FloatType(),
    pa.float64(): T.DoubleType(),
    pa.string(): T.StringType(),
    pa.large_string(): T.StringType(),
    pa.string_view(): T.StringType(),
    pa.binary(): T.BinaryType(),
    pa.large_binary(): T.BinaryType(),
    pa.binary_view(): T.BinaryType(),
    pa.date32(): T.DateType(),
    pa.date64(): T.DateType(),
}


def carrier(data_type: pa.DataType, column: str) -> T.DataType:
    """The Spark type of a column of this Arrow type. Raises `UnsupportedColumnType`."""
    simple = _SIMPLE.get(data_type)
    if simple is not None:
        return simple
    if pa.types.is_timestamp(data_type):
        return T.TimestampType()
    if pa.types.is_decimal(data_type) and data_type.precision <= _MAX_DECIMAL:
        return T.DecimalType(data_type.precision, data_type.scale)
    if pa.types.is_fixed_size_binary(data_type):
        return T.BinaryType()
    if pa.types.is_time32(data_type):
        return T.IntegerType()  # milliseconds in files, whatever the unit
    if pa.types.is_time64(data_type) or pa.types.is_duration(data_type):
        return T.LongType()
    if is_list(data_type):
        return T.ArrayType(carrier(data_type.value_type, column))
    if pa.types.is_map(data_type):
        return T.MapType(carrier(data_type.key_type, column), carrier(data_type.item_type, column))
    if pa.types.is_struct(data_type):
        return T.StructType([T.StructField(item.name, carrier(item.type, column)) for item in data_type])
    raise UnsupportedColumnType(
        f"Column {column!r} has the type {data_type}, which the Spark engine cannot carry; "
        f"read it as another type.",
        objects=[column],
    )


def is_list(data_type: pa.DataType) -> bool:
    """Lists of any length and of one."""
    kinds = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list)
    return any(kind(data_type) for kind in kinds)


def spark_schema(schema: pa.Schema, *, declared: bool = False) -> T.StructType:
    """The Spark schema that carries `schema`; `declared` keeps its nullability, else all is nullable, as
    Spark reads files."""
    return T.StructType(
        [
            T.StructField(item.name, carrier(item.type, item.name), item.nullable or not declared)
            for item in schema
        ]
    )


def arrow_type(data_type: T.DataType, column: str) -> pa.DataType:
    """The Arrow type of what a query computed; timestamps in milliseconds UTC (data.md 2)."""
    for arrow, spark in _SIMPLE.items():
        if spark == data_type and not pa.types.is_unsigned_integer(arrow):
            return arrow
    if isinstance(data_type, T.TimestampType | T.TimestampNTZType):
        return pa.timestamp("ms", "UTC")
    if isinstance(data_type, T.TimeType):
        return pa.time64("us")
    if isinstance(data_type, T.DayTimeIntervalType):
        return pa.duration("us")
    if isinstance(data_type, T.MapType):
        key, value = (arrow_type(item, column) for item in (data_type.keyType, data_type.valueType))
        return pa.map_(key, value)
    if isinstance(data_type, T.DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    if isinstance(data_type, T.ArrayType):
        return pa.list_(arrow_type(data_type.elementType, column))
    if isinstance(data_type, T.StructType):
        return pa.struct([(item.name, arrow_type(item.dataType, column)) for item in data_type.fields])
    if isinstance(data_type, T.NullType):
        raise UnsupportedColumnType(
            f"The query gives column {column!r} no type, only nulls; cast it, as in `cast(null as string)`.",
            objects=[column],
        )
    raise UnsupportedColumnType(
        f"The query gives column {column!r} the type {data_type.simpleString()}, which no dataset can "
        f"hold; cast it to another type.",
        objects=[column],
    )


def same_carrier(one: T.DataType, other: T.DataType) -> bool:
    """Whether two Spark types hold the same values, whatever is said of nulls inside them."""
    return one.simpleString() == other.simpleString()
