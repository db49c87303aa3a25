"""The state that a changelog comes to, in memory: for tests and small datasets."""

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.data.changelog.errors import ChangelogColumnMissing
from odf_core.data.changelog.groups import Numbers, group_numbers
from odf_core.data.slices.vocabulary import DefaultVocabulary, Vocabulary
from odf_core.metadata import Timestamp

RETRACT, CORRECT_FROM = 1, 2
"""The operations `-R` and `-C`; `+A` is 0, `+C` is 3 (data.md 3.6)."""


def fold(
    table: Any,
    vocab: Vocabulary | None = None,
    primary_key: Sequence[str] | None = None,
    *,
    as_of: int | None = None,
    at: Timestamp | None = None,
) -> Any:
    """The rows of a `pa.Table` of records that stand, ascending by offset, with all their columns.

    With a primary key that is the last row of each key unless it retracts; nulls in keys are alike.
    Without one, rows that are alike in all columns but offset, operation and system time cancel each
    other: of so many more additions than retractions the newest stand. `as_of` is the last offset that
    counts. `at` leaves out, before anything is folded, rows whose event time is later or null: a key whose
    correction lies ahead keeps the values that are to be corrected. Rows may come in any order. Raises
    `ChangelogColumnMissing`.
    """
    names = vocab or DefaultVocabulary()
    times = () if at is None else (names.event_time_column,)
    _require(table, [names.offset_column, names.operation_type_column, *times, *(primary_key or ())])
    rows = table
    if as_of is not None:
        rows = rows.filter(pc.less_equal(rows.column(names.offset_column), pa.scalar(as_of, pa.int64())))
    if at is not None:
        rows = rows.filter(_up_to(rows.column(names.event_time_column), at))
    rows = rows.sort_by(names.offset_column)
    ops = np.asarray(rows.column(names.operation_type_column)).astype(np.int64)
    if primary_key:
        return rows.take(_last_of_each(group_numbers(rows, primary_key), ops))
    system = (names.offset_column, names.operation_type_column, names.system_time_column)
    data = [name for name in rows.column_names if name not in system]
    return rows.take(_remaining(group_numbers(rows, data), ops))


def _up_to(event_times: Any, at: Timestamp) -> Any:
    """Which event times are not after `at`; a date is its midnight UTC."""
    instant = pa.timestamp("ms", "UTC")
    latest = pa.scalar(at.milliseconds(), pa.int64()).cast(instant)
    return pc.less_equal(event_times.cast(instant, safe=False), latest)


def _last_of_each(groups: Numbers, ops: Numbers) -> Any:
    """The positions of the last row of each group that does not retract."""
    _, from_end = np.unique(groups[::-1], return_index=True)
    last = np.sort(len(groups) - 1 - from_end)
    return pa.array(last[ops[last] != RETRACT])


def _remaining(groups: Numbers, ops: Numbers) -> Any:
    """The positions of the newest additions of each group, as many as retractions leave."""
    signs = np.where((ops == RETRACT) | (ops == CORRECT_FROM), -1, 1)
    left = np.bincount(groups, weights=signs).astype(np.int64)
    kept: list[int] = []
    for position in range(len(groups) - 1, -1, -1):
        group = groups[position]
        if signs[position] > 0 and left[group] > 0:
            left[group] -= 1
            kept.append(position)
    return pa.array(kept[::-1], pa.int64())


def _require(table: Any, columns: Iterable[str]) -> None:
    missing = [name for name in columns if name not in table.column_names]
    if missing:
        raise ChangelogColumnMissing(
            f"The records have no column {', '.join(missing)}; they have {', '.join(table.column_names)}.",
            objects=missing,
        )
