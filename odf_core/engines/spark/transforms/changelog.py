"""From the result before and the result now to the operations that tell the difference.

Rows that are in both are not told. Within one value of the keys that the result shows, the i-th row that
went and the i-th that came are a correction; what is left over is retracted or appended. The order follows
from the values alone: by event time, then by the other columns in their order, corrections side by side.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.engines.spark.transforms.carried import OP
from odf_core.engines.spark.transforms.stateless import APPEND, CORRECT_FROM, CORRECT_TO, RETRACT
from odf_core.engines.spark.transforms.zset import (
    WEIGHT,
    columns_of,
    flat,
    group_numbers,
    normal,
    order_of,
    parts_of,
)

_ROW = "__odf_row"


def changes(old: pa.Table, new: pa.Table, keys: Sequence[int] | None) -> pa.Table:
    """The rows of the difference with `OP` in front, in their final order.

    Both tables have the columns of the slice, the event time first; `keys` are positions of columns, None for
    rows that are not paired at all.
    """
    names = new.schema.names
    both = pa.concat_tables([old.cast(new.schema), new])
    rows = pa.table([normal(column) for column in both.columns], schema=both.schema)
    values = flat(rows.rename_columns([f"c{place}" for place in range(len(names))]))
    gone, come = _sides(values, len(old))
    if not len(gone) and not len(come):
        return _told(rows.slice(0, 0), [], names)
    units = _units(values.take(gone), values.take(come), keys)
    picked = np.concatenate([np.asarray(gone, np.int64), np.asarray(come, np.int64)])
    taken = rows.take(pa.array(picked[[row for row, _ in units]], pa.int64()))
    return _told(taken, [op for _, op in units], names)


def _sides(values: pa.Table, num_old: int) -> tuple[Any, Any]:
    """Numbers of the rows that went, and of those that came, each as often as it did."""
    size = len(values)
    weights = np.where(np.arange(size) < num_old, -1, 1)
    counted = values.append_column(WEIGHT, pa.array(weights, pa.int64()))
    counted = counted.append_column(_ROW, pa.array(np.arange(size), pa.int64()))
    grouped = counted.group_by(values.column_names, use_threads=False)
    found = grouped.aggregate([(WEIGHT, "sum"), (_ROW, "min")])
    sums, rows = np.asarray(found.column(f"{WEIGHT}_sum")), np.asarray(found.column(f"{_ROW}_min"))
    gone = np.repeat(rows, np.maximum(-sums, 0))
    come = np.repeat(rows, np.maximum(sums, 0))
    return pa.array(gone, pa.int64()), pa.array(come, pa.int64())


def _ranks(gone: pa.Table, come: pa.Table) -> Any:
    """The place of each row, those that went first, in the order of their values."""
    both = pa.concat_tables([gone, come])
    order = np.asarray(order_of(both, columns_of(both)))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _units(gone: pa.Table, come: pa.Table, keys: Sequence[int] | None) -> list[tuple[int, int]]:
    """Rows (numbered with those that went first) and their operations, in the final order."""
    split, ranks = len(gone), _ranks(gone, come)
    one, other = _groups(gone, come, keys)
    waiting: dict[int, list[int]] = {}
    for row in sorted(range(len(come)), key=lambda row: -ranks[split + row]):
        waiting.setdefault(int(other[row]), []).append(split + row)
    units: list[tuple[int, tuple[tuple[int, int], ...]]] = []
    for row in sorted(range(split), key=lambda row: ranks[row]):
        partners = waiting.get(int(one[row])) if keys is not None else None
        if partners:
            partner = partners.pop()
            units.append((int(ranks[partner]), ((row, CORRECT_FROM), (partner, CORRECT_TO))))
        else:
            units.append((int(ranks[row]), ((row, RETRACT),)))
    for rows in waiting.values():
        units += [(int(ranks[row]), ((row, APPEND),)) for row in rows]
    units.sort(key=lambda unit: unit[0])
    return [part for _, parts in units for part in parts]


def _groups(gone: pa.Table, come: pa.Table, keys: Sequence[int] | None) -> list[Any]:
    names = [name for place in keys or () for name in parts_of(come, f"c{place}")]
    if not names:
        return [np.zeros(len(gone), np.int64), np.zeros(len(come), np.int64)]
    return group_numbers([gone, come], [names, names])


def _told(rows: pa.Table, ops: Sequence[int], names: Sequence[str]) -> pa.Table:
    table = rows.rename_columns(list(names))
    return table.add_column(0, OP, pa.array(np.asarray(ops, np.int32), pa.int32()))
