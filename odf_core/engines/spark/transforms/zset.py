"""Multisets of rows with weights, as tables: the algebra of state and change (spark.md 3.2, 3.3).

Columns are `c0`, `c1`, …; structs are taken apart, since tables cannot be grouped by them. Two rows are one
where all columns are equal: nulls are equal to nulls, NaN to NaN, and -0.0 is 0.0.
"""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

WEIGHT = "__odf_w"


def whole(column: Any) -> Any:
    """The column as one array."""
    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 0:
        return pa.array([], column.type)
    return column.chunk(0) if column.num_chunks == 1 else pa.concat_arrays(column.chunks)


def flat(table: pa.Table) -> pa.Table:
    """The table with structs taken apart: `c3` becomes `c3` (whether it is null) and `c3.start`, …"""
    names: list[str] = []
    columns: list[Any] = []
    for name, column in zip(table.column_names, table.columns, strict=True):
        for made, values in _flat(name, column):
            names.append(made)
            columns.append(values)
    return pa.table(columns, names=names)


def _flat(name: str, column: Any) -> list[tuple[str, Any]]:
    column = whole(column)
    if not pa.types.is_struct(column.type):
        return [(name, _plain(column))]
    found = [(name, column.is_valid())]
    for index in range(column.type.num_fields):
        found += _flat(f"{name}.{index}", pc.struct_field(column, index))
    return found


def normal(column: Any) -> Any:
    """The column with one NaN and one zero, however deep they are."""
    column = whole(column)
    kind = column.type
    if pa.types.is_struct(kind):
        parts = [normal(pc.struct_field(column, index)) for index in range(kind.num_fields)]
        return pa.StructArray.from_arrays(parts, fields=list(kind), mask=column.is_null())
    if pa.types.is_list(kind):
        lengths = pc.fill_null(pc.list_value_length(column), 0)
        ends = np.cumsum(np.concatenate([[0], np.asarray(lengths, np.int64)])).astype(np.int32)
        values = normal(pc.list_flatten(column)).cast(kind.value_type)
        return pa.ListArray.from_arrays(pa.array(ends), values, type=kind, mask=column.is_null())
    return _plain(column)


def _plain(column: Any) -> Any:
    if pa.types.is_list(column.type):  # rows of a result, which are compared and not kept
        texts = [None if value is None else repr(value) for value in normal(column).to_pylist()]
        return pa.array(texts, pa.string())
    if pa.types.is_floating(column.type):
        nan = pa.scalar(math.nan, column.type)
        zero = pa.scalar(0.0, column.type)
        return pc.if_else(pc.is_nan(column), nan, pc.add(column, zero))
    return column


def rebuilt(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """A flat table (weights left out) with the columns of `schema`, structs put together."""
    columns = [_rebuilt(table, item.name, item.type) for item in schema]
    return pa.table(columns, schema=schema) if len(schema) else table


def _rebuilt(table: pa.Table, name: str, kind: Any) -> Any:
    column = whole(table.column(name))
    if not pa.types.is_struct(kind):
        return column.cast(kind)
    parts = [_rebuilt(table, f"{name}.{index}", item.type) for index, item in enumerate(kind)]
    return pa.StructArray.from_arrays(parts, fields=list(kind), mask=pc.invert(column))


def columns_of(table: pa.Table) -> list[str]:
    """All columns but the weight."""
    return [name for name in table.column_names if name != WEIGHT]


def parts_of(table: pa.Table, name: str) -> list[str]:
    """The flat columns of column `name`."""
    return [item for item in table.column_names if item == name or item.startswith(f"{name}.")]


def consolidated(table: pa.Table) -> pa.Table:
    """Equal rows as one, with the sum of their weights; those that come to nothing are gone."""
    names = columns_of(table)
    if not names:
        total = pc.sum(table.column(WEIGHT)).as_py() or 0
        return pa.table({WEIGHT: pa.array([total] if total else [], pa.int64())})
    grouped = table.group_by(names, use_threads=False).aggregate([(WEIGHT, "sum")])
    grouped = grouped.select([*names, f"{WEIGHT}_sum"]).rename_columns([*names, WEIGHT])
    return grouped.filter(pc.not_equal(grouped.column(WEIGHT), 0)).cast(table.schema)


def in_order(table: pa.Table) -> pa.Table:
    """The rows in the one order that follows from their values: nulls first, then ascending."""
    names = columns_of(table)
    return table.take(order_of(table, names)) if names else table


def order_of(table: pa.Table, names: Sequence[str]) -> Any:
    """Positions of the rows in ascending order of these columns, nulls first, NaN last."""
    keys: list[tuple[str, str]] = []
    made: dict[str, Any] = {}
    for name in names:
        column = table.column(name)
        if column.null_count:
            made[f"{name}?"] = column.is_valid().cast(pa.int8())
            keys.append((f"{name}?", "ascending"))
        made[name] = column
        keys.append((name, "ascending"))
    return pc.sort_indices(pa.table(made), sort_keys=keys)


def expanded(table: pa.Table) -> pa.Table:
    """Each row as often as its weight says, without weights; those below one are left out."""
    weights = np.maximum(np.asarray(table.column(WEIGHT)), 0)
    rows = np.repeat(np.arange(len(table)), weights)
    return table.drop_columns([WEIGHT]).take(pa.array(rows, pa.int64()))


def group_numbers(tables: Sequence[pa.Table], names: Sequence[Sequence[str]]) -> list[Any]:
    """For each table a number for each row, equal where the columns `names` of that table are equal."""
    sizes = [len(table) for table in tables]
    total = np.zeros(sum(sizes), np.int64)
    for position in range(len(names[0])):
        chunks: list[Any] = []
        for table, own in zip(tables, names, strict=True):
            chunks += table.column(own[position]).chunks
        kind = tables[0].column(names[0][position]).type
        values = whole(pa.chunked_array([chunk.cast(kind) for chunk in chunks], kind))
        codes = np.asarray(pc.dictionary_encode(values, null_encoding="encode").indices, np.int64)
        total = total * (int(codes.max(initial=0)) + 1) + codes
        total = np.unique(total, return_inverse=True)[1].astype(np.int64)
    return list(np.split(total, np.cumsum(sizes)[:-1]))
