"""Times between files and queries.

Files have times of day and lengths of time as numbers, and merges compare these; queries get Spark's types,
with microseconds. Other columns are left alone, so that plans stay as they are.
"""

from collections.abc import Callable
from dataclasses import dataclass

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from odf_core.engines.spark.slices.carriers import carrier, is_list
from odf_core.engines.spark.slices.columns import col

_NANOS_OF_MICRO = 1000


def lifted(frame: DataFrame, schema: pa.Schema) -> DataFrame:
    """`frame`, which carries the columns of `schema`, as queries see it."""
    return _changed(frame, schema, _Change(_is_time, _lift))


def lowered(frame: DataFrame, schema: pa.Schema) -> DataFrame:
    """What a query made, as files carry the columns of `schema`."""
    return _changed(frame, schema, _Change(_is_time, _lower))


def query_schema(schema: pa.Schema) -> T.StructType:
    """The schema of `lifted`, with the nullability that is declared."""
    return T.StructType(
        [T.StructField(item.name, query_type(item.type, item.name), item.nullable) for item in schema]
    )


def query_type(data_type: pa.DataType, column: str) -> T.DataType:
    """The type of a column as queries see it. Raises `UnsupportedColumnType`."""
    if pa.types.is_time(data_type):
        return T.TimeType(6)
    if pa.types.is_duration(data_type):
        return T.DayTimeIntervalType()
    if is_list(data_type):
        return T.ArrayType(query_type(data_type.value_type, column))
    if pa.types.is_map(data_type):
        return T.MapType(query_type(data_type.key_type, column), query_type(data_type.item_type, column))
    if pa.types.is_struct(data_type):
        return T.StructType([T.StructField(item.name, query_type(item.type, column)) for item in data_type])
    return carrier(data_type, column)


def in_milliseconds(frame: DataFrame, schema: pa.Schema) -> DataFrame:
    """`frame`, which carries the columns of `schema`, with its timestamps cut to milliseconds (data.md 2)."""

    def cut(value: Column, _: pa.DataType) -> Column:
        return F.timestamp_millis(F.unix_millis(value.cast("timestamp")))

    return _changed(frame, schema, _Change(pa.types.is_timestamp, cut))


@dataclass(frozen=True, slots=True)
class _Change:
    """What becomes of values of some kind of type, however deep they are."""

    kind: Callable[[pa.DataType], bool]
    leaf: Callable[[Column, pa.DataType], Column]

    def concerns(self, data_type: pa.DataType) -> bool:
        if self.kind(data_type):
            return True
        if pa.types.is_map(data_type):
            return self.concerns(data_type.key_type) or self.concerns(data_type.item_type)
        return any(self.concerns(data_type.field(number).type) for number in range(data_type.num_fields))

    def of(self, value: Column, data_type: pa.DataType) -> Column:
        if not self.concerns(data_type):
            return value
        if is_list(data_type):
            return F.transform(value, lambda item: self.of(item, data_type.value_type))
        if pa.types.is_map(data_type):
            keyed = F.transform_keys(value, lambda key, _: self.of(key, data_type.key_type))
            return F.transform_values(keyed, lambda _, item: self.of(item, data_type.item_type))
        if pa.types.is_struct(data_type):
            fields = [self.of(value[item.name], item.type).alias(item.name) for item in data_type]
            return F.when(value.isNotNull(), F.struct(*fields))
        return self.leaf(value, data_type)


def _changed(frame: DataFrame, schema: pa.Schema, change: _Change) -> DataFrame:
    present = set(frame.columns)
    types = {item.name: item.type for item in schema if item.name in present and change.concerns(item.type)}
    if not types:
        return frame
    columns = [
        change.of(col(name), types[name]).alias(name) if name in types else col(name)
        for name in frame.columns
    ]
    return frame.select(*columns)


def _is_time(data_type: pa.DataType) -> bool:
    return bool(pa.types.is_time(data_type) or pa.types.is_duration(data_type))


def _lift(value: Column, data_type: pa.DataType) -> Column:
    micros = F.floor(value / _NANOS_OF_MICRO) if data_type.unit == "ns" else value
    if pa.types.is_time(data_type):
        of_unit = F.time_from_millis if pa.types.is_time32(data_type) else F.time_from_micros
        return of_unit(micros)
    moment = {"s": F.timestamp_seconds, "ms": F.timestamp_millis}.get(data_type.unit, F.timestamp_micros)
    return moment(micros) - moment(F.lit(0))


def _lower(value: Column, data_type: pa.DataType) -> Column:
    if pa.types.is_time32(data_type):
        return F.time_to_millis(value).cast("int")
    if pa.types.is_time(data_type):
        number = F.time_to_micros(value)
    else:
        moment = F.timestamp_micros(F.lit(0)) + value
        of_unit = {"s": F.unix_seconds, "ms": F.unix_millis}.get(data_type.unit, F.unix_micros)
        number = of_unit(moment)
    return number * _NANOS_OF_MICRO if data_type.unit == "ns" else number
