"""One step of a derivative dataset, from files to files."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.spark.sharing import Place, open_place
from odf_core.engines.spark.slices.tuning import tune
from odf_core.engines.spark.transforms.checkpoint import read_checkpoint, write_checkpoint
from odf_core.engines.spark.transforms.inputs import NewRows, all_small
from odf_core.engines.spark.transforms.linear import carried_frame
from odf_core.engines.spark.transforms.output import as_written, write_result
from odf_core.engines.spark.transforms.plans import Step, Table
from odf_core.engines.spark.transforms.stateful import evaluate
from odf_core.engines.spark.transforms.stateless import rows_in_order, with_corrections
from odf_core.engines.spark.transforms.understand import query_digest, understood
from odf_core.engines.transform_calls import system_names
from odf_core.engines.watermarks import advanced, least
from odf_core.metadata import TransformSql
from odf_core.transform.port import StepDone
from odf_core.transform.request import TransformRequest


def execute(
    session: SparkSession, request: TransformRequest, workdir: Path, *, is_small: bool | None = None
) -> StepDone:
    """Evaluates the step; writes `new_data_path` and, where there is something to remember,
    `new_checkpoint_path`. `is_small` tells whether this process may hold the new records (default: by the
    size of the files); the result is the same.

    Raises `QueryRefused`, `QueryInvalid`, `InvalidQueryResult`, `UnsupportedColumnType`,
    `CheckpointUnreadable`, `QueryStateTooLarge`.
    """
    with open_place(session, workdir, workdir / "rows") as place:
        return _execute(place, request, workdir, is_small)


def _execute(place: Place, request: TransformRequest, workdir: Path, is_small: bool | None) -> StepDone:
    session = place.session
    inputs = [NewRows.of(number, item) for number, item in enumerate(request.query_inputs)]
    if is_small is None:
        tune(session, [file for item in inputs for file in item.files])
    tables = [
        Table(item.query_alias, rows.spark, rows.names)
        for item, rows in zip(request.query_inputs, inputs, strict=True)
    ]
    steps = steps_of(request.transform)
    plan, result = understood(session, steps, tables, system_names(request.vocab), workdir / "leaves")
    previous = Path(request.prev_checkpoint_path) if request.prev_checkpoint_path is not None else None
    memory = read_checkpoint(previous, query_digest(steps, plan))
    watermarks = advanced(memory.watermarks, request.query_inputs)
    watermark = least(watermarks, request.query_inputs, memory.watermark)
    frames = {item.number: item.frame(place) for item in inputs}
    small, late = all_small(inputs) if is_small is None else is_small, 0
    batches: Iterable[Any]
    if plan.shape.is_linear:
        frame = carried_frame(session, plan, plan.shape.plan.number, frames)
        rows = with_corrections(rows_in_order(frame, small, place))
        batches = (as_written(batch, result) for batch in rows)
    else:
        told, late = evaluate(place, plan, result, frames, memory, watermark, small, workdir)
        batches = told.to_batches()
    interval = write_result(
        batches, result, request.system_time, request.next_offset, Path(request.new_data_path)
    )
    memory.watermarks, memory.watermark = watermarks, watermark
    write_checkpoint(memory, Path(request.new_checkpoint_path))
    return StepDone(interval, watermark, late)


def steps_of(transform: TransformSql) -> Sequence[Step]:
    """The queries in their order; the last is the result. Raises `InvalidEngineRequest`."""
    steps = [Step(step.query, step.alias) for step in transform.queries or ()]
    if transform.query is not None:
        steps.append(Step(transform.query, None))
    if not steps:
        raise InvalidEngineRequest("A transformation needs a query.")
    return steps
