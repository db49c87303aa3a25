"""Rows of a result into the file of a slice, with the columns that only the engine can fill."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data.slices.write import write_rows
from odf_core.engines.spark.transforms.carried import OP
from odf_core.engines.spark.transforms.result import INSTANT, Result
from odf_core.metadata import OffsetInterval, Timestamp
from odf_core.transform.errors import InvalidQueryResult


def write_result(
    batches: Iterable[Any], result: Result, system_time: Timestamp, next_offset: int, path: Path
) -> OffsetInterval | None:
    """Writes batches of `OP` and `result.columns`; an empty file, for its schema, where there are no rows.

    Raises `InvalidQueryResult` for a record without event time; the file is then incomplete.
    """
    count = 0
    moment = pa.scalar(system_time.to_datetime(), pa.timestamp("us", "UTC")).cast(INSTANT, safe=False)

    def complete() -> Iterable[Any]:
        nonlocal count
        for batch in batches:
            size = len(batch)
            event_time = batch.column(result.names[3])
            if event_time.null_count:
                raise InvalidQueryResult(
                    f"The query gives {event_time.null_count} records whose {result.names[3]} is null; every "
                    f"record needs the time at which it happened.",
                    objects=[result.names[3]],
                )
            start = next_offset + count
            made = [
                pa.array(np.arange(start, start + size, dtype=np.int64)),
                batch.column(OP).cast(pa.int32()),
                pa.repeat(moment, size),
            ]
            made += [batch.column(item.name) for item in result.columns]
            count += size
            yield pa.RecordBatch.from_arrays(made, schema=result.schema)

    write_rows(complete(), result.schema, path)
    return OffsetInterval(start=next_offset, end=next_offset + count - 1) if count else None


def as_written(batch: Any, result: Result) -> Any:
    """A batch of the query's own columns, `OP` last, as `write_result` takes it: types of the slice, names,
    order. Timestamps are cut to milliseconds."""
    columns = [batch.column(batch.schema.get_field_index(OP)).cast(pa.int32())]
    for place, item in zip(result.places, result.columns, strict=True):
        column = batch.column(place)
        if column.type != item.type:
            column = column.cast(item.type, safe=False)
        columns.append(column)
    fields = [pa.field(OP, pa.int32()), *(item.with_nullable(True) for item in result.columns)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def batches_of(files: Iterable[Path], size: int = 65_536) -> Iterable[Any]:
    """The rows of Parquet files, one file after the other."""
    for file in files:
        with pq.ParquetFile(file) as parquet:
            yield from (batch for batch in parquet.iter_batches(size) if len(batch))
