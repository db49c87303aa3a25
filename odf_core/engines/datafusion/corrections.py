"""Corrections that a query has unfolded or cut in two, made whole again (spark.md 3).

A correction of an input comes as old rows and new rows, side by side. The i-th old row and the i-th new one
are a correction of the result; where one half has no other it is a retraction or an addition, and where both
halves are equal nothing is told.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

APPEND, RETRACT, CORRECT_FROM, CORRECT_TO = range(4)


def mended(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches with the operation in front; rows of a correction are held back until all of it is there."""
    held: Any = None
    for batch in batches:
        if held is not None:
            batch = pa.Table.from_batches([held, batch]).combine_chunks().to_batches()[0]
            held = None
        ops = np.asarray(batch.column(0))
        end = _start_of_last(ops)
        if end < len(ops):
            held, batch = batch.slice(end), batch.slice(0, end)
        if len(batch):
            yield _mended(batch)
    if held is not None:
        yield _mended(held)


def _start_of_last(ops: Any) -> int:
    """Where the correction begins with which the rows end."""
    place = len(ops)
    while place and ops[place - 1] == CORRECT_TO:
        place -= 1
    while place and ops[place - 1] == CORRECT_FROM:
        place -= 1
    return place


def _mended(batch: Any) -> Any:
    ops = np.asarray(batch.column(0))
    if not np.any(ops >= CORRECT_FROM):
        return batch
    rows: list[int] = []
    made: list[int] = []
    place = 0
    while place < len(ops):
        if ops[place] < CORRECT_FROM:
            rows.append(place)
            made.append(int(ops[place]))
            place += 1
            continue
        middle = _end_of(ops, place, CORRECT_FROM)
        end = _end_of(ops, middle, CORRECT_TO)
        for row, op in _paired(batch, range(place, middle), range(middle, end)):
            rows.append(row)
            made.append(op)
        place = end
    taken = batch.take(pa.array(rows, pa.int64()))
    return taken.set_column(0, batch.schema.field(0), pa.array(made, pa.int32()))


def _end_of(ops: Any, place: int, op: int) -> int:
    while place < len(ops) and ops[place] == op:
        place += 1
    return place


def _paired(batch: Any, old: range, new: range) -> Iterator[tuple[int, int]]:
    both = min(len(old), len(new))
    for one, other in zip(old[:both], new[:both], strict=True):
        if not _equal(batch, one, other):
            yield one, CORRECT_FROM
            yield other, CORRECT_TO
    yield from ((row, RETRACT) for row in old[both:])
    yield from ((row, APPEND) for row in new[both:])


def _equal(batch: Any, one: int, other: int) -> bool:
    return all(_same(column[one].as_py(), column[other].as_py()) for column in batch.columns[1:])


def _same(one: Any, other: Any) -> bool:
    both_nan = one != one and other != other
    return bool(both_nan or one == other)
