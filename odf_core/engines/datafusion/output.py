"""Rows of a result into the file of a slice, with the columns that only the engine can fill."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa

from odf_core.data.slices.write import write_rows
from odf_core.engines.datafusion.result import INSTANT, Result
from odf_core.metadata import Timestamp


def write_result(
    batches: Iterable[Any], result: Result, system_time: Timestamp, next_offset: int, path: Path
) -> tuple[int, int] | None:
    """Writes batches as `Result.of` makes them; first and last offset. Where there are no rows the file is
    there for its schema. Raises `InvalidSliceInput`, what `batches` raises; the file is then incomplete.
    """
    count = 0
    moment = pa.scalar(system_time.to_datetime(), pa.timestamp("us", "UTC")).cast(INSTANT, safe=False)

    def complete() -> Iterable[Any]:
        nonlocal count
        for batch in batches:
            size, start = len(batch), next_offset + count
            offsets = pa.array(range(start, start + size), pa.int64())
            made = [offsets, batch.column(0), pa.repeat(moment, size), *batch.columns[1:]]
            count += size
            yield pa.RecordBatch.from_arrays(made, schema=result.schema)

    write_rows(complete(), result.schema, path)
    return (next_offset, next_offset + count - 1) if count else None
