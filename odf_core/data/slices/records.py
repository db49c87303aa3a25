"""Rows as records of a slice: system columns in front, in the deployed writer's order (data.md 2)."""

from datetime import datetime
from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.data.errors import InvalidSliceInput
from odf_core.data.slices.vocabulary import DefaultVocabulary, Vocabulary

APPEND = 0
"""The operation `+A`; retract is 1, correct-from 2, correct-to 3 (data.md 3.6)."""

_TIME = pa.timestamp("ms", "UTC")


def as_records(
    rows: Any, *, first_offset: int, system_time: datetime, vocab: Vocabulary | None = None
) -> Any:
    """A `pa.Table` of appended records: offset, op, system time, event time, then the other columns.

    Offsets follow the order of `rows` from `first_offset` on. Where `rows` has no event time it is the
    system time. Timestamps become milliseconds in UTC, naive ones are taken for UTC (data.md 2). Raises
    `InvalidSliceInput` where `rows` has a column that the system fills in.
    """
    names = vocab or DefaultVocabulary()
    taken = {names.offset_column, names.operation_type_column, names.system_time_column}
    if clash := taken & set(rows.column_names):
        raise InvalidSliceInput(
            f"Columns {sorted(clash)} are the system's; rename them.", objects=sorted(clash)
        )
    count = rows.num_rows
    moment = pa.scalar(system_time, _TIME)
    offsets = np.arange(first_offset, first_offset + count, dtype=np.int64)
    columns: list[tuple[Any, Any]] = [
        (pa.field(names.offset_column, pa.int64(), nullable=False), pa.array(offsets)),
        (pa.field(names.operation_type_column, pa.int32(), nullable=False), _all(count, APPEND, pa.int32())),
        (pa.field(names.system_time_column, _TIME, nullable=False), _all(count, moment, _TIME)),
    ]
    if names.event_time_column in rows.column_names:
        columns.append(_in_utc(rows, names.event_time_column))
    else:
        columns.append((pa.field(names.event_time_column, _TIME), _all(count, moment, _TIME)))
    others = [name for name in rows.column_names if name != names.event_time_column]
    columns += [_in_utc(rows, name) for name in others]
    return pa.Table.from_arrays([column for _, column in columns], schema=pa.schema([f for f, _ in columns]))


def _all(count: int, value: Any, data_type: Any) -> Any:
    scalar = value if isinstance(value, pa.Scalar) else pa.scalar(value, data_type)
    return pa.repeat(scalar, count)


def _in_utc(rows: Any, name: str) -> tuple[Any, Any]:
    field, column = rows.schema.field(name), rows.column(name)
    if not pa.types.is_timestamp(field.type) or field.type == _TIME:
        return field, column
    return field.with_type(_TIME), column.cast(_TIME, safe=False)
