"""A column's cells as JSON-compatible values (data.md 6, "JSON cell encoding")."""

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.data.records.errors import UnsupportedRecordType
from odf_core.data.records.times import NANOS, date_text, duration_text, time_text, zone_writer

_MILLIS_PER_DAY = 86_400_000


def column_cells(column: Any, name: str, *, finite: bool = True) -> list[Any]:
    """One value per row of a `pa.ChunkedArray` or `pa.Array`, None for null.

    Integers and booleans are themselves, floats too (NaN and infinities None, unless `finite` is off);
    decimals, dates, times, timestamps and durations are text, bytes hexadecimal text; lists are lists and
    structs dicts. Raises `UnsupportedRecordType` for maps, unions and intervals.
    """
    chunks = column.chunks if isinstance(column, pa.ChunkedArray) else [column]
    return [cell for chunk in chunks for cell in _cells(chunk, name, finite)]


def _cells(array: Any, name: str, finite: bool) -> list[Any]:
    kind = array.type
    types = pa.types
    if types.is_dictionary(kind):
        return _cells(array.dictionary_decode(), name, finite)
    if types.is_floating(kind):
        return _floats(array, finite)
    if types.is_decimal(kind):
        return [None if value is None else format(value, "f") for value in array.to_pylist()]
    if types.is_temporal(kind) and not types.is_interval(kind):
        return _temporal(array)
    if (
        types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_fixed_size_binary(kind)
        or types.is_binary_view(kind)
    ):
        return [None if value is None else value.hex() for value in array.to_pylist()]
    if types.is_struct(kind):
        return list(_structs(array, name, finite))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return list(_lists(array, name, finite))
    if types.is_integer(kind) or types.is_boolean(kind) or types.is_null(kind) or _is_text(kind):
        cells: list[Any] = array.to_pylist()
        return cells
    raise UnsupportedRecordType(
        f"Column {name!r} has the type {kind}, which has no form in this output; leave it out.",
        objects=[name],
    )


def _is_text(kind: Any) -> bool:
    types = pa.types
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _floats(array: Any, finite: bool) -> list[Any]:
    """Narrow floats become the shortest decimal that means them, not the digits of their widening."""
    values: list[Any] = array.to_pylist()
    if pa.types.is_float32(array.type) or pa.types.is_float16(array.type):
        values = [None if value is None else float(str(np.float32(value))) for value in values]
    if finite:
        return [value if value is not None and math.isfinite(value) else None for value in values]
    return values


def _temporal(array: Any) -> list[Any]:
    kind = array.type
    write: Callable[[int], str]
    storage, scale = pa.int64(), 1
    if pa.types.is_date32(kind):
        storage, write = pa.int32(), date_text
    elif pa.types.is_date64(kind):
        write = _date_of_millis
    else:
        scale = NANOS[kind.unit]
        if pa.types.is_time(kind):
            storage, write = (pa.int32() if kind.bit_width == 32 else pa.int64()), time_text
        else:
            write = duration_text if pa.types.is_duration(kind) else zone_writer(kind.tz)
    return [None if value is None else write(value * scale) for value in array.view(storage).to_pylist()]


def _date_of_millis(millis: int) -> str:
    return date_text(millis // _MILLIS_PER_DAY)


def _structs(array: Any, name: str, finite: bool) -> Iterator[Any]:
    names = [field.name for field in array.type]
    columns = [
        _cells(child, f"{name}.{inner}", finite) for inner, child in zip(names, array.flatten(), strict=True)
    ]
    for row, is_there in enumerate(array.is_valid().to_pylist()):
        yield {inner: column[row] for inner, column in zip(names, columns, strict=True)} if is_there else None


def _lists(array: Any, name: str, finite: bool) -> Iterator[Any]:
    items = iter(_cells(array.flatten(), f"{name}[]", finite))
    for length in pc.list_value_length(array).to_pylist():
        yield None if length is None else [next(items) for _ in range(length)]
