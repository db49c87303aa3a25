"""Queries that give each row of the result for one row of the input: only new rows are looked at.

The rows keep the order of their input, by offset, then in the order in which the query unfolds a row; of
united inputs one comes after the other. A retraction or correction of an input goes through: where the query
leaves out one half of a correction the other half stands alone, and a correction that changes nothing that
the query shows is not told.
"""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa
from pyspark.sql import DataFrame

from odf_core.engines.spark.sharing import Place
from odf_core.engines.spark.transforms.carried import OFFSET, OP
from odf_core.engines.spark.transforms.output import batches_of

APPEND, RETRACT, CORRECT_FROM, CORRECT_TO = range(4)


def rows_in_order(frame: DataFrame, is_small: bool, place: Place) -> Iterable[Any]:
    """Batches of a data frame, in its order; a large one by way of files, so that no process holds it."""
    if is_small:
        return (batch for batch in frame.toArrow().to_batches() if len(batch))
    named = frame.toDF(*[f"c{number}" for number in range(len(frame.columns) - 2)], OP, OFFSET)
    return batches_of(place.write(named, compression="snappy"))


def with_corrections(batches: Iterable[Any]) -> Iterator[Any]:
    """Batches whose corrections are whole: what remains of one is a retraction or an addition.

    A correction is two rows of neighbouring offsets; its rows are held back until both halves are there.
    """
    held: Any = None
    for batch in batches:
        if held is not None:
            batch = pa.Table.from_batches([held, batch]).combine_chunks().to_batches()[0]
            held = None
        ops = np.asarray(batch.column(batch.schema.get_field_index(OP)))
        if not np.any(ops >= CORRECT_FROM):
            yield batch
            continue
        if ops[-1] == CORRECT_FROM or ops[-1] == CORRECT_TO:
            end = _start_of_last(batch, ops)
            held, batch = batch.slice(end), batch.slice(0, end)
        if len(batch):
            yield from _mended(batch)
    if held is not None:
        yield from _mended(held)


def _offsets(batch: Any) -> Any:
    return np.asarray(batch.column(batch.schema.get_field_index(OFFSET)))


def _start_of_last(batch: Any, ops: Any) -> int:
    """Where the rows of the last correction begin, of which more may come."""
    offsets = _offsets(batch)
    first = offsets[-1] if ops[-1] == CORRECT_FROM else offsets[-1] - 1
    position = len(offsets)
    while position and ops[position - 1] >= CORRECT_FROM and first <= offsets[position - 1] <= first + 1:
        position -= 1
    return position


def _mended(batch: Any) -> Iterator[Any]:
    """Corrections paired: i-th old row with i-th new row of the same correction."""
    ops, offsets = np.asarray(batch.column(batch.schema.get_field_index(OP))), _offsets(batch)
    if not np.any(ops >= CORRECT_FROM):
        yield batch
        return
    names = [name for name in range(batch.num_columns) if batch.schema.field(name).name not in (OP, OFFSET)]
    rows: list[int] = []
    made: list[int] = []
    position = 0
    while position < len(ops):
        if ops[position] < CORRECT_FROM:
            rows.append(position)
            made.append(int(ops[position]))
            position += 1
            continue
        first = offsets[position] if ops[position] == CORRECT_FROM else offsets[position] - 1
        old, position = _run(ops, offsets, position, CORRECT_FROM, first)
        new, position = _run(ops, offsets, position, CORRECT_TO, first + 1)
        for index in range(max(len(old), len(new))):
            if index >= len(new):
                rows.append(old[index])
                made.append(RETRACT)
            elif index >= len(old):
                rows.append(new[index])
                made.append(APPEND)
            elif not _equal(batch, names, old[index], new[index]):
                rows += [old[index], new[index]]
                made += [CORRECT_FROM, CORRECT_TO]
    taken = batch.take(pa.array(rows, pa.int64()))
    place = batch.schema.get_field_index(OP)
    yield taken.set_column(place, batch.schema.field(place), pa.array(made, pa.int32()))


def _run(ops: Any, offsets: Any, position: int, op: int, offset: int) -> tuple[list[int], int]:
    found = []
    while position < len(ops) and ops[position] == op and offsets[position] == offset:
        found.append(position)
        position += 1
    return found, position


def _equal(batch: Any, columns: list[int], one: int, other: int) -> bool:
    return all(
        _same(batch.column(place)[one].as_py(), batch.column(place)[other].as_py()) for place in columns
    )


def _same(one: Any, other: Any) -> bool:
    both_nan = one != one and other != other
    return bool(both_nan or one == other)
