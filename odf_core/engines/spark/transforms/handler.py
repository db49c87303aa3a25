"""Calls of a coordinator: validate a query, evaluate a step, migrate a checkpoint."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
from pyspark.sql import SparkSession

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.messages import decode_message
from odf_core.engines.spark.handlers import Progress, register
from odf_core.engines.spark.slices.carriers import spark_schema
from odf_core.engines.spark.slices.tuning import tune
from odf_core.engines.spark.transforms.checkpoint import read_checkpoint, write_checkpoint
from odf_core.engines.spark.transforms.inputs import NewRows, all_small
from odf_core.engines.spark.transforms.linear import carried_frame
from odf_core.engines.spark.transforms.nodes import Node
from odf_core.engines.spark.transforms.output import as_written, write_result
from odf_core.engines.spark.transforms.plans import Plan, Step, Table, plan_query
from odf_core.engines.spark.transforms.result import Result, refuse_system_columns, result_of
from odf_core.engines.spark.transforms.stateful import evaluate
from odf_core.engines.spark.transforms.stateless import rows_in_order, with_corrections
from odf_core.engines.spark.transforms.watermarks import advanced, least
from odf_core.metadata import OffsetInterval, TransformSql
from odf_core.transform.errors import InvalidQueryResult
from odf_core.transform.request import TransformRequest

EXECUTE = "transform"


def execute(session: SparkSession, request: TransformRequest, workdir: Path) -> dict[str, Any]:
    """One step; `{"interval": [first, last] or null, "watermark": text or null, "late_rows": n}`.

    Raises `QueryRefused`, `QueryInvalid`, `InvalidQueryResult`, `CheckpointUnreadable`, `StateTooLarge`.
    """
    inputs = [NewRows.of(number, item) for number, item in enumerate(request.query_inputs)]
    tune(session, [file for item in inputs for file in item.files])
    tables = [
        Table(item.query_alias, rows.spark) for item, rows in zip(request.query_inputs, inputs, strict=True)
    ]
    names = {item.number: item.names for item in inputs}
    plan = plan_query(session, steps_of(request.transform), tables, workdir / "leaves")
    result = result_of(plan.schema, plan.shape, request.vocab, names)
    refuse_system_columns(plan.shape, names, plan.input_of)
    digest = query_digest(request.transform, plan)
    previous = Path(request.prev_checkpoint_path) if request.prev_checkpoint_path is not None else None
    memory = read_checkpoint(previous, digest)
    watermarks = advanced(memory.watermarks, request.query_inputs)
    watermark = least(watermarks, request.query_inputs, memory.watermark)
    frames = {item.number: item.frame(session) for item in inputs}
    late = 0
    batches: Iterable[Any]
    small = all_small(inputs)
    if plan.shape.is_linear:
        frame = carried_frame(session, plan, plan.shape.plan.number, frames)
        batches = (
            as_written(batch, result) for batch in with_corrections(rows_in_order(frame, small, workdir))
        )
    else:
        told, late = evaluate(session, plan, result, frames, memory, watermark, small, workdir)
        batches = told.to_batches()
    interval = write_result(
        batches, result, request.system_time, request.next_offset, Path(request.new_data_path)
    )
    memory.watermarks, memory.watermark = watermarks, watermark
    write_checkpoint(memory, Path(request.new_checkpoint_path))
    return {
        "interval": None if interval is None else [interval.start, interval.end],
        "watermark": None if watermark is None else str(watermark),
        "late_rows": late,
    }


def steps_of(transform: TransformSql) -> list[Step]:
    """The queries in their order; the last is the result."""
    steps = [Step(step.query, step.alias) for step in transform.queries or ()]
    if transform.query is not None:
        steps.append(Step(transform.query, None))
    if not steps:
        raise InvalidEngineRequest("A transformation needs a query.")
    return steps


def query_digest(transform: TransformSql, plan: Plan) -> str:
    """What a state belongs to: the queries, and the columns of which it keeps rows."""
    kept = [[(column.name, column.type) for column in prefix.output] for prefix in plan.shape.prefixes]
    text = json.dumps(
        [[(step.alias, step.query) for step in steps_of(transform)], [] if plan.shape.is_linear else kept]
    )
    return hashlib.sha3_256(text.encode()).hexdigest()


def _handle(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """`{"request": the TransformRequest as hexadecimal text of its FlatBuffers form}`."""
    message = decode_message(TransformRequest, bytes.fromhex(_text(request, "request")))
    progress("evaluating the query")
    return execute(session, message, workdir)


def _text(request: dict[str, Any], name: str) -> str:
    value = request.get(name)
    if not isinstance(value, str):
        raise InvalidEngineRequest(f"The call needs {name!r}, a text.")
    return value


register(EXECUTE, _handle)
