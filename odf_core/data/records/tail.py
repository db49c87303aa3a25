"""The last records of a dataset, by offset (data.md 6), from the files that hold them and from no others."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import Any

import pyarrow as pa

from odf_core.data.errors import InvalidDataFile, SliceRowsMismatch, SliceUnreadable
from odf_core.data.files.batches import read_batches
from odf_core.data.files.parquet import OpenParquet, open_parquet
from odf_core.data.files.source import Source, open_source
from odf_core.data.records.conform import conformed, table_schema
from odf_core.limits import Limits
from odf_core.metadata import DataSlice, SetDataSchema

OpenSlice = Callable[[DataSlice], AbstractContextManager[Source]]
"""Opens the file of a slice: a path, or a seekable binary file object."""


@dataclass(frozen=True, slots=True)
class TailRange:
    """Which records: `limit` of them, after the newest `skip`, of those up to the offset `as_of`."""

    limit: int = 10
    skip: int = 0
    as_of: int | None = None


def read_tail(
    slices: Iterable[DataSlice],
    open_slice: OpenSlice,
    schema: SetDataSchema | None,
    wanted: TailRange,
    *,
    limits: Limits | None = None,
) -> Any:
    """A `pa.Table` of the wanted records, ascending by offset, with the columns of `schema`.

    `slices` come newest first and are asked for only as far back as needed; of a file only the row groups
    that hold wanted records are read. A column that a slice lacks is null there. Without a schema there
    are no records. Raises `SliceUnreadable`, `SliceRowsMismatch`, `DataFileLimitExceeded`,
    `UnsupportedArrowType`, and what `open_slice` raises.
    """
    columns = table_schema(schema)
    parts: list[Any] = []
    last: int | None = None
    for item in slices if wanted.limit > 0 and len(columns) else ():
        interval = item.offset_interval
        last = interval.end if last is None else last
        high = (last if wanted.as_of is None else min(last, wanted.as_of)) - wanted.skip
        low = max(0, high - wanted.limit + 1)
        if interval.end < low:
            break
        if interval.start <= high:
            first, end = max(interval.start, low), min(interval.end, high)
            with open_slice(item) as source:
                rows = _read_rows(source, item, first - interval.start, end - interval.start + 1, limits)
            parts.append(pa.Table.from_batches([conformed(batch, columns) for batch in rows], columns))
        if interval.start <= low:
            break
    return pa.concat_tables(reversed(parts)) if parts else columns.empty_table()


def _read_rows(source: Source, item: DataSlice, start: int, stop: int, limits: Limits | None) -> list[Any]:
    """Batches of the rows [start, stop) of a slice's file."""
    with open_source(source) as file:
        try:
            parquet = open_parquet(file, limits or Limits())
            declared = item.offset_interval.end - item.offset_interval.start + 1
            if parquet.footer.num_rows != declared:
                raise SliceRowsMismatch(
                    f"Slice {item.physical_hash} has {parquet.footer.num_rows} records, but its block "
                    f"declares {declared}.",
                    objects=[item.physical_hash],
                )
            return list(_cut(parquet, start, stop))
        except InvalidDataFile as error:
            raise SliceUnreadable(
                f"Slice {item.physical_hash} cannot be read. {error.message}", objects=[item.physical_hash]
            ) from error


def _cut(parquet: OpenParquet, start: int, stop: int) -> Iterator[Any]:
    ends = list(accumulate((group.num_rows for group in parquet.footer.row_groups), initial=0))
    groups = [index for index, (low, high) in enumerate(pairwise(ends)) if low < stop and high > start]
    if not groups:
        return
    position = ends[groups[0]]
    for batch in read_batches(parquet, row_groups=groups):
        low, high = max(start - position, 0), min(stop - position, len(batch))
        if low < high:
            yield batch.slice(low, high - low)
        position += len(batch)
