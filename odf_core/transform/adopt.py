"""The slice that an engine left, held against what was asked of it before anything of it is believed."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from odf_core.data import (
    InvalidDataFile,
    InvalidSliceInput,
    SliceUnreadable,
    WrittenSlice,
    adopt_slice,
    arrow_schema_to_odf,
)
from odf_core.data.slices.schema_match import schema_differences
from odf_core.metadata import DataSchema, OffsetInterval, Timestamp
from odf_core.transform.errors import EngineContractBroken, IncompatibleResult
from odf_core.transform.request import DatasetVocabulary, TransformRequest

_BATCH_RECORDS = 65_536
_OPERATIONS = 4


def adopt_result(
    path: Path, request: TransformRequest, interval: OffsetInterval | None
) -> tuple[WrittenSlice | None, DataSchema | None]:
    """The slice and the schema of what the engine left in `path`; no slice without an interval, and no schema
    without a file. Raises `EngineContractBroken`.
    """
    if not path.is_file():
        if interval is not None:
            raise EngineContractBroken("The engine tells of new records, but has left no file of them.")
        return None, None
    try:
        with pq.ParquetFile(path) as file:
            schema = arrow_schema_to_odf(file.schema_arrow)
            if interval is None:
                return None, schema
            _check_values(file, request)
        written = adopt_slice(path, _Names(request.vocab))
    except (pa.ArrowException, OSError, InvalidDataFile, SliceUnreadable, InvalidSliceInput) as error:
        raise EngineContractBroken(f"The file that the engine left is no slice: {error}") from error
    found = written.data_slice.offset_interval
    if found != interval or found.start != request.next_offset:
        raise EngineContractBroken(
            f"The engine tells of the offsets {interval.start} to {interval.end}, and has left those from "
            f"{found.start} to {found.end}; the next one is {request.next_offset}."
        )
    return written, schema


def check_schema(found: DataSchema, declared: DataSchema) -> None:
    """Raises `IncompatibleResult` where the columns of a result are not those of the dataset.

    An engine may call optional what the dataset calls required; nulls are met when the slice is read.
    """
    names = [[item.name for item in schema.fields] for schema in (found, declared)]
    differences = list(schema_differences(found.fields, declared.fields, {}))
    if not differences and names[0] != names[1]:
        differences = [f"its columns are in the order {', '.join(names[0])}, not {', '.join(names[1])}"]
    if differences:
        raise IncompatibleResult(
            f"The query's result does not fit the dataset's schema: {'; '.join(differences)}. Change the "
            f"query, or make a new dataset for another result.",
            extras={"differences": differences},
        )


class _Names:
    """The vocabulary of a request, which a coordinator has filled."""

    def __init__(self, vocab: DatasetVocabulary) -> None:
        self.offset_column = vocab.offset_column or "offset"
        self.operation_type_column = vocab.operation_type_column or "op"
        self.system_time_column = vocab.system_time_column or "system_time"
        self.event_time_column = vocab.event_time_column or "event_time"


def _check_values(file: Any, request: TransformRequest) -> None:
    """System columns have the values that only they can have."""
    names = _Names(request.vocab)
    op, system_time = names.operation_type_column, names.system_time_column
    expected = _millis(request.system_time)
    for batch in _columns(file, [op, system_time, names.event_time_column]):
        if batch.column(names.event_time_column).null_count:
            raise EngineContractBroken(
                f"The query gives records without an event time ({names.event_time_column} is null); "
                f"every record of a dataset has one."
            )
        ops = batch.column(op)
        if ops.null_count or not pc.all(pc.and_(pc.greater_equal(ops, 0), pc.less(ops, _OPERATIONS))).as_py():
            raise EngineContractBroken(f"The query gives records whose {op} is none of 0, 1, 2 and 3.")
        times = batch.column(system_time)
        if times.null_count or not pc.all(pc.equal(times.cast(expected.type), expected)).as_py():
            raise EngineContractBroken("The engine has not given its records the system time of the step.")


def _columns(file: Any, names: list[str]) -> Iterator[Any]:
    missing = [name for name in names if name not in file.schema_arrow.names]
    if missing:
        raise EngineContractBroken(f"The file that the engine left has no column {', '.join(missing)}.")
    return file.iter_batches(_BATCH_RECORDS, columns=names)  # type: ignore[no-any-return]


def _millis(moment: Timestamp) -> Any:
    micros = pa.scalar(moment.to_datetime(), pa.timestamp("us", "UTC"))
    return micros.cast(pa.timestamp("ms", "UTC"), safe=False)
