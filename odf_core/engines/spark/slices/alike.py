"""When values are alike: as Spark compares them, and maps by their entries in whatever order."""

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql import types as T


def has_map(data_type: T.DataType) -> bool:
    """Whether values of this type are or hold maps, which Spark neither compares nor orders."""
    if isinstance(data_type, T.MapType):
        return True
    if isinstance(data_type, T.ArrayType):
        return has_map(data_type.elementType)
    return isinstance(data_type, T.StructType) and any(has_map(item.dataType) for item in data_type.fields)


def comparable(value: Column, data_type: T.DataType) -> Column:
    """`value` with maps replaced by their entries in order: equal where the values are alike."""
    if not has_map(data_type):
        return value
    if isinstance(data_type, T.ArrayType):
        return F.transform(value, lambda item: comparable(item, data_type.elementType))
    if isinstance(data_type, T.StructType):
        fields = [comparable(value[item.name], item.dataType).alias(item.name) for item in data_type.fields]
        return F.when(value.isNotNull(), F.struct(*fields))
    if isinstance(data_type, T.MapType):
        inner = data_type
        entries = F.transform(
            F.map_entries(value),
            lambda entry: F.struct(
                comparable(entry["key"], inner.keyType).alias("key"),
                comparable(entry["value"], inner.valueType).alias("value"),
            ),
        )
        return F.array_sort(entries)
    return value
