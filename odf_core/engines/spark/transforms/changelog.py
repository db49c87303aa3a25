"""From the result before and the result now to the operations that tell the difference.

Rows that are in both are not told. Within one value of the keys that the result shows, the i-th row that
went and the i-th that came are a correction; what is left over is retracted or appended. The order follows
from the values alone: by event time, then by the other columns in their order, corrections side by side.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.engines.spark.transforms.carried import OP
from odf_core.engines.spark.transforms.stateless import APPEND, CORRECT_FROM, CORRECT_TO, RETRACT
from odf_core.engines.spark.transforms.zset import (
    WEIGHT,
    columns_of,
    consolidated,
    expanded,
    flat,
    group_numbers,
    order_of,
    parts_of,
    rebuilt,
)


def changes(old: pa.Table, new: pa.Table, keys: Sequence[int] | None) -> pa.Table:
    """The rows of the difference with `OP` in front, in their final order.

    Both tables have the columns of the slice, the event time first; `keys` are positions of columns, None for
    rows that are not paired at all.
    """
    schema = pa.schema([(f"c{place}", item.type) for place, item in enumerate(new.schema)])
    names = new.schema.names
    weighted = [_weighted(old.cast(new.schema), schema, -1), _weighted(new, schema, 1)]
    both = consolidated(pa.concat_tables(weighted))
    gone, come = _sided(both, -1), _sided(both, 1)
    if not len(gone) and not len(come):
        return _told(rebuilt(come, schema), np.empty(0, np.int64), names)
    ranks = _ranks(gone, come)
    units = _units(gone, come, ranks, keys)
    rows = rebuilt(pa.concat_tables([gone, come]), schema)
    return _told(rows.take(pa.array([row for row, _ in units], pa.int64())), [op for _, op in units], names)


def _weighted(table: pa.Table, schema: pa.Schema, weight: int) -> pa.Table:
    made = flat(table.rename_columns(schema.names))
    return made.append_column(WEIGHT, pa.array(np.full(len(made), weight, np.int64)))


def _sided(both: pa.Table, sign: int) -> pa.Table:
    """The rows that went (-1) or came (1), each as often as it did."""
    weights = pc.multiply(both.column(WEIGHT), sign)
    return expanded(both.set_column(both.column_names.index(WEIGHT), WEIGHT, weights))


def _ranks(gone: pa.Table, come: pa.Table) -> Any:
    """The place of each row, those that went first, in the order of their values."""
    both = pa.concat_tables([gone, come])
    order = np.asarray(order_of(both, columns_of(both)))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = np.arange(len(order))
    return ranks


def _units(gone: pa.Table, come: pa.Table, ranks: Any, keys: Sequence[int] | None) -> list[tuple[int, int]]:
    """Rows (numbered with those that went first) and their operations, in the final order."""
    split = len(gone)
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


def _told(rows: pa.Table, ops: Any, names: Sequence[str]) -> pa.Table:
    table = rows.rename_columns(list(names))
    return table.add_column(0, OP, pa.array(np.asarray(ops, np.int32), pa.int32()))
