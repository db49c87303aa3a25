"""Columns as an engine leaves them, back to the types that they carry."""

from typing import Any

import pyarrow as pa


def uncarried(column: Any, data_type: pa.DataType) -> Any:
    """A `pa.Array` of `data_type`: numbers become times, decimals unsigned integers; timestamps are cut, as
    the engine has cut them already. Raises `pa.ArrowException` for values that do not fit."""
    if column.type == data_type:
        return column
    in_files = _as_in_files(data_type)
    safe = not _has(data_type, pa.types.is_timestamp)
    return column.cast(in_files, safe=safe).cast(data_type, safe=safe)


def _as_in_files(data_type: pa.DataType) -> pa.DataType:
    """Seconds since midnight are milliseconds in Parquet."""
    if not _has(data_type, pa.types.is_time32):
        return data_type
    if pa.types.is_time32(data_type):
        return pa.time32("ms")
    if pa.types.is_map(data_type):
        key, item = data_type.key_field, data_type.item_field
        return pa.map_(key.with_type(_as_in_files(key.type)), item.with_type(_as_in_files(item.type)))
    if pa.types.is_struct(data_type):
        return pa.struct([item.with_type(_as_in_files(item.type)) for item in data_type])
    item = data_type.value_field
    inner = item.with_type(_as_in_files(item.type))
    return pa.list_(inner, data_type.list_size if pa.types.is_fixed_size_list(data_type) else -1)


def _has(data_type: pa.DataType, kind: Any) -> bool:
    if kind(data_type):
        return True
    if pa.types.is_map(data_type):
        return _has(data_type.key_type, kind) or _has(data_type.item_type, kind)
    return any(_has(data_type.field(number).type, kind) for number in range(data_type.num_fields))
