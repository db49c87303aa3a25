"""Calls of a coordinator: validate a query, evaluate a step, migrate a checkpoint."""

from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.messages import decode_message
from odf_core.engines.spark.handlers import Progress, register
from odf_core.engines.spark.slices.carriers import spark_schema
from odf_core.engines.spark.transforms.checkpoint import Memory, read_checkpoint, write_checkpoint
from odf_core.engines.spark.transforms.execute import execute
from odf_core.engines.spark.transforms.plans import Plan, Step, Table
from odf_core.engines.spark.transforms.result import Result
from odf_core.engines.spark.transforms.understand import query_digest, remarks_on, understood
from odf_core.engines.transform_calls import EXECUTE, MIGRATE, VALIDATE, Migration, Query
from odf_core.ingest.merge_job import pack_schema, unpack_schema
from odf_core.transform.errors import QueryNotMigratable
from odf_core.transform.request import TransformRequest


def _validate(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """A `Query`; `{"columns": schema, "stateful": bool, "remarks": [text]}`."""
    query = _convert(request, Query)
    plan, result = _understood(session, query, workdir)
    return {
        "columns": pack_schema(result.columns),
        "stateful": not plan.shape.is_linear,
        "remarks": remarks_on(plan),
    }


def _execute(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """`{"request": the TransformRequest as hexadecimal text of its FlatBuffers form}`;
    `{"interval": [first, last] or null, "watermark": text or null, "late_rows": n}`."""
    text = request.get("request")
    if not isinstance(text, str):
        raise InvalidEngineRequest("A step needs 'request', a text.")
    message = decode_message(TransformRequest, bytes.fromhex(text))
    progress("evaluating the query")
    done = execute(session, message, workdir)
    interval = done.new_offset_interval
    return {
        "interval": None if interval is None else [interval.start, interval.end],
        "watermark": None if done.new_watermark is None else str(done.new_watermark),
        "late_rows": done.late_rows,
    }


def _migrate(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """A `Migration`; leaves the new checkpoint, and `{}`."""
    asked = _convert(request, Migration)
    old, _ = _understood(session, asked.old, workdir)
    new, _ = _understood(session, asked.new, workdir)
    old_digest, new_digest = (
        query_digest(_steps(query), plan) for query, plan in ((asked.old, old), (asked.new, new))
    )
    if not (old.shape.is_linear and new.shape.is_linear):
        raise QueryNotMigratable(
            "A query that groups, joins or compares rows cannot follow another one or be followed: what was "
            "told so far would not be its result. Make a new dataset for it, or reset this one to before its "
            "first step."
        )
    previous = Path(asked.checkpoint) if asked.checkpoint is not None else None
    known = read_checkpoint(previous, old_digest)
    memory = Memory(new_digest, watermarks=known.watermarks, watermark=known.watermark)
    write_checkpoint(memory, Path(asked.new_checkpoint))
    return {}


def _understood(session: SparkSession, query: Query, workdir: Path) -> tuple[Plan, Result]:
    tables = [Table(item.name, spark_schema(unpack_schema(item.schema)), item.names) for item in query.tables]
    folder = workdir / f"leaves-{len(list(workdir.iterdir()))}"
    return understood(session, _steps(query), tables, query.names, folder)


def _steps(query: Query) -> list[Step]:
    return [Step(item.query, item.alias) for item in query.steps]


_Struct = Any


def _convert(request: dict[str, Any], kind: type[_Struct]) -> _Struct:
    try:
        return msgspec.convert({name: value for name, value in request.items() if name != "kind"}, kind)
    except msgspec.ValidationError as error:
        raise InvalidEngineRequest(f"The call cannot be read: {error}.") from error


register(VALIDATE, _validate)
register(EXECUTE, _execute)
register(MIGRATE, _migrate)
