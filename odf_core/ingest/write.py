"""From the engine's records to a slice: offsets, operation, system and event time, nulls (data.md 3.5)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from odf_core.data import DefaultVocabulary, WrittenSlice, write_slice
from odf_core.ingest.carried import uncarried
from odf_core.ingest.merge_errors import UnexpectedNulls
from odf_core.ingest.merge_job import OP_COLUMN, Names
from odf_core.ingest.slice_schema import INSTANT, slice_arrow_schema
from odf_core.metadata import DataSchema, Timestamp

_BATCH_RECORDS = 65_536
_SHOWN_COLUMNS = 5


@dataclass(frozen=True, slots=True)
class SliceTimes:
    """When the records arrive here, and the event time of those that carry none."""

    system_time: Timestamp
    source_event_time: Timestamp


@dataclass(frozen=True, slots=True)
class NewSlice:
    """A slice that was written, and the latest event time in it."""

    written: WrittenSlice
    latest_event_time: Timestamp


@dataclass(slots=True)
class _Seen:
    """What was met while writing: nulls by required column, the first record with one, and the latest event
    time."""

    nulls: dict[str, int] = field(default_factory=dict)
    records: dict[str, dict[str, Any]] = field(default_factory=dict)
    latest: Any = None


def write_new_slice(
    parts: Sequence[str], schema: DataSchema, names: Names, times: SliceTimes, first_offset: int, path: Path
) -> NewSlice | None:
    """Write the records of `parts`, in their order, as a slice of `schema`; None where there are none.

    Memory holds one row group. Raises `UnexpectedNulls`; no file is then left.
    """
    arrow, seen = slice_arrow_schema(schema), _Seen()
    batches = _counted(_completed(parts, arrow, names, times, first_offset), arrow, names, seen)
    first = next(batches, None)
    if first is None:
        return None
    written = write_slice(chain([first], batches), path, schema=arrow, vocab=_vocabulary(names))
    return NewSlice(written, _as_timestamp(seen.latest))


def _completed(
    parts: Sequence[str], schema: pa.Schema, names: Names, times: SliceTimes, first_offset: int
) -> Iterator[Any]:
    """The records with their system columns, in the order and the types of `schema`."""
    micros = pa.timestamp("us", "UTC")
    system_time = pa.scalar(times.system_time.to_datetime(), micros).cast(INSTANT, safe=False)
    fallback = pa.scalar(times.source_event_time.to_datetime(), micros)
    start = first_offset
    for batch in _batches(parts):
        size = len(batch)
        made = {
            names.offset: pa.array(range(start, start + size), pa.int64()),
            names.operation_type: batch.column(OP_COLUMN).cast(pa.int32()),
            names.system_time: pa.repeat(system_time, size),
        }
        for item in schema:
            if item.name == names.event_time:
                made[item.name] = _event_time(batch.column(item.name), item.type, fallback)
            elif item.name not in made:
                made[item.name] = uncarried(batch.column(item.name), item.type)
        yield pa.RecordBatch.from_arrays([made[item.name] for item in schema], schema=_loose(schema))
        start += size


def _batches(parts: Sequence[str]) -> Iterator[Any]:
    for part in parts:
        with pq.ParquetFile(part) as file:
            yield from (batch for batch in file.iter_batches(_BATCH_RECORDS) if len(batch))


def _counted(batches: Iterator[Any], schema: pa.Schema, names: Names, seen: _Seen) -> Iterator[Any]:
    """The batches as long as no required column has a null; all nulls are counted, then refused."""
    for batch in batches:
        for item in schema:
            nulls = 0 if item.nullable else batch.column(item.name).null_count
            if nulls:
                seen.records.setdefault(item.name, _first_with_null(batch, item.name, names))
                seen.nulls[item.name] = seen.nulls.get(item.name, 0) + nulls
        _note_latest(batch.column(names.event_time), seen)
        if not seen.nulls:
            yield batch
    for name, count in seen.nulls.items():
        raise UnexpectedNulls.in_column(name, count, seen.records[name])


def _first_with_null(batch: Any, column: str, names: Names) -> dict[str, Any]:
    """The data columns of the first record of the batch that has a null in `column`, cut short."""
    index = pc.index(pc.is_null(batch.column(column)), True).as_py()
    system = (names.offset, names.operation_type, names.system_time)
    shown = [name for name in batch.schema.names if name not in system][:_SHOWN_COLUMNS]
    return {name: batch.column(name)[index].as_py() for name in shown}


def _loose(schema: pa.Schema) -> pa.Schema:
    return pa.schema([item.with_nullable(True) for item in schema])


def _event_time(column: Any, data_type: pa.DataType, fallback: Any) -> Any:
    return pc.fill_null(uncarried(column, data_type), fallback.cast(data_type, safe=False))


def _note_latest(column: Any, seen: _Seen) -> None:
    latest = pc.max(column)
    if latest.is_valid and (seen.latest is None or latest.as_py() > seen.latest.as_py()):
        seen.latest = latest


def _as_timestamp(latest: Any) -> Timestamp:
    """A date counts from its midnight UTC (data.md 3.7)."""
    return Timestamp.from_datetime(latest.cast(pa.timestamp("ms", "UTC")).as_py())


def _vocabulary(names: Names) -> DefaultVocabulary:
    return DefaultVocabulary(names.offset, names.operation_type, names.system_time, names.event_time)
