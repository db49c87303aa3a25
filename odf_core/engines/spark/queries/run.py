"""A query over datasets, its result as files."""

from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.query_job import Fold, QueryJob, QueryOutcome, Table
from odf_core.engines.spark.gates import check_query
from odf_core.engines.spark.handlers import Progress, register
from odf_core.engines.spark.sharing import Place, open_place
from odf_core.engines.spark.slices.carriers import arrow_type, spark_schema
from odf_core.engines.spark.slices.columns import col
from odf_core.engines.spark.slices.frames import empty_frame, read_history
from odf_core.engines.spark.slices.lifting import lifted
from odf_core.engines.spark.slices.state import current_state
from odf_core.engines.spark.slices.tuning import tune
from odf_core.ingest.merge_job import pack_schema, unpack_schema

_WEIGHT = "__odf_weight"
_COPY = "__odf_copy"


def run_query(session: SparkSession, job: QueryJob, place: Place) -> QueryOutcome:
    """Run the query; the folder of the place's output has the parts afterwards.

    Raises `QueryRefused`, `QueryInvalid`.
    """
    tune(session, [file for table in job.tables.values() for file in table.files])
    for name, table in job.tables.items():
        reachable = msgspec.structs.replace(table, files=place.brought(table.files))
        _view(session, reachable).createOrReplaceTempView(name)
    check_query(session, job.sql, set(job.tables))
    result = session.sql(job.sql)
    if job.limit is not None:
        result = result.limit(job.limit)
    fields = [pa.field(item.name, arrow_type(item.dataType, item.name)) for item in result.schema.fields]
    # Names may occur twice in a result, but not in a file.
    parts = place.write(result.toDF(*[f"c{number}" for number in range(len(fields))]))
    return QueryOutcome(parts=tuple(map(str, parts)), schema=pack_schema(pa.schema(fields)))


def _view(session: SparkSession, table: Table) -> DataFrame:
    schema = unpack_schema(table.schema)
    if table.files:
        frame = read_history(session, table.files, schema)
    else:
        frame = empty_frame(session, spark_schema(schema))
    if table.max_offset is not None:
        frame = frame.where(col(table.offset_column) <= table.max_offset)
    return lifted(frame if table.fold is None else _folded(frame, table.fold), schema)


def _folded(history: DataFrame, fold: Fold) -> DataFrame:
    """The state that the changelog tells, with data columns only."""
    if fold.at_millis is not None:
        latest = F.timestamp_millis(F.lit(fold.at_millis))
        history = history.where(col(fold.names.event_time).cast("timestamp") <= latest)
    system = (fold.names.offset, fold.names.operation_type, fold.names.system_time)
    data = [name for name in history.columns if name not in system]
    if fold.primary_key:
        return current_state(history, fold.primary_key, fold.names).select(*[col(name) for name in data])
    takes_away = col(fold.names.operation_type).isin(1, 2)
    weights = history.groupBy(*[col(name) for name in data]).agg(
        F.sum(F.when(takes_away, -1).otherwise(1)).alias(_WEIGHT)
    )
    copies = F.explode(F.sequence(F.lit(1), col(_WEIGHT))).alias(_COPY)
    return weights.where(col(_WEIGHT) > 0).select(*[col(name) for name in data], copies).drop(_COPY)


def _handle(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """`{"job": QueryJob, "output": a folder that does not exist yet}`; a `QueryOutcome`."""
    try:
        job = msgspec.convert(request.get("job"), QueryJob)
        output = msgspec.convert(request.get("output"), str)
    except msgspec.ValidationError as error:
        raise InvalidEngineRequest(f"A query needs `job` and `output`: {error}.") from error
    progress("running the query")
    with open_place(session, workdir, Path(output)) as place:
        outcome: dict[str, Any] = msgspec.to_builtins(run_query(session, job, place))
    return outcome


register("query", _handle)
