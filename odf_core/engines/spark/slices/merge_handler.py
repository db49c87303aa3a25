"""One merge job from files to files."""

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql import types as T

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.spark.handlers import Progress, register
from odf_core.engines.spark.sharing import Place, open_place
from odf_core.engines.spark.slices.carriers import arrow_type, same_carrier, spark_schema
from odf_core.engines.spark.slices.columns import OP, ROW, col
from odf_core.engines.spark.slices.frames import read_history, read_in_order
from odf_core.engines.spark.slices.input_rules import check_input
from odf_core.engines.spark.slices.lifting import in_milliseconds, lifted, lowered, query_schema
from odf_core.engines.spark.slices.order import offset_order, with_rows
from odf_core.engines.spark.slices.preprocess import preprocessed
from odf_core.engines.spark.slices.strategies import Merge, merged
from odf_core.engines.spark.slices.tuning import tune
from odf_core.ingest.merge_job import MergeJob, MergeOutcome, pack_schema, unpack_schema


def merge_records(session: SparkSession, job: MergeJob, place: Place) -> MergeOutcome:
    """Carry `job` out; the folder of the place's output has the parts afterwards.

    Raises `BadInputSchema`, `MergeKeyMissing`, `UnsupportedColumnType`, and what the gates refuse.
    """
    tune(session, (*job.input_files, *job.history_files))
    job = msgspec.structs.replace(
        job,
        input_files=place.brought(job.input_files),
        history_files=place.brought(job.history_files),
    )
    frame, schema = _input(session, job, unpack_schema(job.input_schema))
    given = tuple(name for name in frame.columns if name != ROW)
    frame, columns = _normalised(in_milliseconds(frame, schema), job)
    history = None
    if job.history_files and job.history_schema is not None:
        history = read_history(session, job.history_files, unpack_schema(job.history_schema))
    merge = Merge(frame, columns, history, job.strategy, job.names, job.num_records, given)
    ordered = merged(merge).orderBy(*offset_order(job.strategy, job.names))
    parts = place.write(ordered.select(OP, *[col(name) for name in columns]), compression="snappy")
    return MergeOutcome(parts=tuple(map(str, parts)), schema=pack_schema(schema))


def _input(session: SparkSession, job: MergeJob, declared: pa.Schema) -> tuple[DataFrame, pa.Schema]:
    """The records to merge, carried, with `ROW`; and the columns that the dataset will have of them, with
    the nullability that was declared."""
    frame = read_in_order(session, job.input_files, declared)
    if not job.preprocess:
        check_input(spark_schema(declared), job.strategy, job.names)
        return with_rows(frame), _data_columns(declared, job)
    frame, spark = preprocessed(session, lifted(frame, declared), query_schema(declared), job.preprocess)
    check_input(spark, job.strategy, job.names)
    schema = _arrow_schema(spark, declared)
    return lowered(with_rows(frame), schema), _data_columns(schema, job)


def _normalised(frame: DataFrame, job: MergeJob) -> tuple[DataFrame, tuple[str, ...]]:
    """With an event time, last and null, where there is none (data.md 3.5); and the data columns."""
    names = [name for name in frame.columns if name != ROW]
    if job.names.event_time not in names:
        frame = frame.withColumn(job.names.event_time, F.lit(None).cast(_event_time_type(job)))
        names.append(job.names.event_time)
    return frame, tuple(name for name in names if name != job.names.operation_type)


def _event_time_type(job: MergeJob) -> T.DataType:
    if job.history_schema is not None:
        known = spark_schema(unpack_schema(job.history_schema))
        for item in known.fields:
            if item.name == job.names.event_time:
                return item.dataType
    return T.TimestampType()


def _arrow_schema(spark: T.StructType, declared: pa.Schema) -> pa.Schema:
    """The columns that a query left: one of the source that it did not change keeps its own type, such as
    an unsigned one."""
    sources = {item.name: item for item in declared}
    known = {item.name: item.dataType for item in query_schema(declared).fields}
    fields = []
    for item in spark.fields:
        if item.name in known and same_carrier(known[item.name], item.dataType):
            found = sources[item.name].type
        else:
            found = arrow_type(item.dataType, item.name)
        fields.append(pa.field(item.name, found, nullable=item.nullable))
    return pa.schema(fields)


def _data_columns(schema: pa.Schema, job: MergeJob) -> pa.Schema:
    """Without the operation type, with an event time."""
    fields = [item for item in schema if item.name != job.names.operation_type]
    if job.names.event_time not in [item.name for item in fields]:
        fields.append(pa.field(job.names.event_time, arrow_type(_event_time_type(job), job.names.event_time)))
    return pa.schema(fields)


def _handle(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """`{"job": MergeJob, "output": a folder that does not exist yet}`; a `MergeOutcome`."""
    try:
        job = msgspec.convert(request.get("job"), MergeJob)
        output = msgspec.convert(request.get("output"), str)
    except msgspec.ValidationError as error:
        raise InvalidEngineRequest(f"A merge needs `job` and `output`: {error}.") from error
    progress("merging")
    with open_place(session, workdir, Path(output)) as place:
        outcome: dict[str, Any] = msgspec.to_builtins(merge_records(session, job, place))
    return outcome


register("merge", _handle)
