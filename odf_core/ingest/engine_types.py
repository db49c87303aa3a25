"""Which types of columns the engine that merges can carry (data.md 3.4), told without starting it."""

import pyarrow as pa
import pyarrow.types as pt

_MAX_DECIMAL = 38
_PLAIN = (
    pt.is_boolean,
    pt.is_integer,
    pt.is_float32,
    pt.is_float64,
    pt.is_string,
    pt.is_large_string,
    pt.is_string_view,
    pt.is_binary,
    pt.is_large_binary,
    pt.is_binary_view,
    pt.is_fixed_size_binary,
    pt.is_date,
    pt.is_time,
    pt.is_duration,
    pt.is_timestamp,
)


def is_carried(data_type: pa.DataType) -> bool:
    """Whether a column of this Arrow type can be ingested; the engine raises `UnsupportedColumnType` for
    any other."""
    if pt.is_list(data_type) or pt.is_large_list(data_type) or pt.is_fixed_size_list(data_type):
        return is_carried(data_type.value_type)
    if pt.is_map(data_type):
        return is_carried(data_type.key_type) and is_carried(data_type.item_type)
    if pt.is_struct(data_type):
        return all(is_carried(item.type) for item in data_type)
    if pt.is_decimal(data_type):
        return bool(data_type.precision <= _MAX_DECIMAL)
    return any(test(data_type) for test in _PLAIN)
