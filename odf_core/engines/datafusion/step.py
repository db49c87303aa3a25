"""The calls about transformations, in this process: the caller has raised the fences."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from datafusion import SessionContext

from odf_core.data import InvalidSliceInput
from odf_core.engines.datafusion.calls import (
    Done,
    Execute,
    Migrate,
    StepAnswer,
    StepRequest,
    Validate,
    Validated,
)
from odf_core.engines.datafusion.corrections import mended
from odf_core.engines.datafusion.linear import check_linear
from odf_core.engines.datafusion.output import write_result
from odf_core.engines.datafusion.planning import failed, new_context, planned
from odf_core.engines.datafusion.result import Result, result_of
from odf_core.engines.datafusion.tables import InputTable, empty_tables, read_tables
from odf_core.engines.errors import EngineFailed, QueryRefused
from odf_core.engines.messages import decode_message
from odf_core.engines.state_file import Memory, read_state, write_state
from odf_core.engines.transform_calls import Query, QueryStep, query_of, system_names
from odf_core.engines.watermarks import advanced, least
from odf_core.ingest.merge_job import pack_schema
from odf_core.metadata import Timestamp
from odf_core.transform.request import TransformRequest, TransformRequestInput


def answer(request: StepRequest) -> StepAnswer:
    """Carries the call out.

    Raises `QueryRefused`, `QueryInvalid`, `InvalidQueryResult`, `CheckpointUnreadable`, `EngineFailed`.
    """
    match request.call:
        case Validate(query=query):
            _, result = _promised(query, request.memory_bytes)
            return StepAnswer(validated=Validated(columns=pack_schema(result.columns)))
        case Execute(request=text):
            message = decode_message(TransformRequest, bytes.fromhex(text))
            return StepAnswer(done=_execute(message, request.memory_bytes))
        case Migrate():
            _migrate(request.call, request.memory_bytes)
    return StepAnswer()


def _execute(request: TransformRequest, memory_bytes: int) -> Done:
    tables = read_tables(request.query_inputs)
    steps = query_of(request.transform, (), request.vocab).steps
    frame = _frame(steps, tables, memory_bytes)
    names, is_ours = system_names(request.vocab), request.transform.version is not None
    result = result_of(frame.schema(), names)
    if is_ours:
        check_linear(frame.logical_plan(), tables, result)
        _check_operations(tables, result)
    batches = _batches(frame, result, is_ours)
    try:
        path = Path(request.new_data_path)
        interval = write_result(batches, result, request.system_time, request.next_offset, path)
    except (OSError, InvalidSliceInput) as error:
        raise EngineFailed(f"The result cannot be written: {error}") from error
    watermark = _remembered(request, steps) if is_ours else _forgetful(request.query_inputs)
    return Done(interval=interval, watermark=None if watermark is None else str(watermark))


def _frame(steps: Sequence[QueryStep], tables: Sequence[InputTable], memory_bytes: int) -> Any:
    context: SessionContext = new_context(memory_bytes)
    for table in tables:
        table.register(context)
    return planned(context, steps, tables)


def _promised(query: Query, memory_bytes: int) -> tuple[Any, Result]:
    """The frame over empty tables of a query that is linear, and its columns."""
    tables = empty_tables(query.tables)
    frame = _frame(query.steps, tables, memory_bytes)
    result = result_of(frame.schema(), query.names)
    check_linear(frame.logical_plan(), tables, result)
    return frame, result


def _check_operations(tables: Sequence[InputTable], result: Result) -> None:
    """Retractions go on where the query hands them on; where it does not, they would become additions."""
    if result.op_place is not None:
        return
    for table in tables:
        if table.has_changes():
            raise QueryRefused(
                f"The input {table.name} has retractions or corrections, and the query leaves their column "
                f"{table.names[1]} out: select it too, so that they go on.",
                objects=[table.name],
            )


def _batches(frame: Any, result: Result, is_ours: bool) -> Iterator[Any]:
    """The rows, of united inputs one after the other: partitions are in the order of the query."""
    try:
        for stream in frame.execute_stream_partitioned():
            rows: Iterable[Any] = (result.of(batch.to_pyarrow()) for batch in stream)
            yield from mended(rows) if is_ours and result.op_place is not None else rows
    except Exception as error:
        if error.__class__.__module__.startswith("odf_core"):
            raise
        raise failed(error) from error


def _remembered(request: TransformRequest, steps: Sequence[QueryStep]) -> Timestamp | None:
    """The watermark, of what is known of each input; leaves the checkpoint."""
    previous = request.prev_checkpoint_path
    memory = read_state(None if previous is None else Path(previous), _digest(steps))
    memory.watermarks = advanced(memory.watermarks, request.query_inputs)
    memory.watermark = least(memory.watermarks, request.query_inputs, memory.watermark)
    write_state(memory, Path(request.new_checkpoint_path))
    return memory.watermark


def _forgetful(inputs: Sequence[TransformRequestInput]) -> Timestamp | None:
    """The least over inputs that tell a watermark now (data.md 4.5)."""
    told = [[mark.event_time for mark in item.explicit_watermarks] for item in inputs]
    return min((max(times) for times in told if times), default=None)


def _migrate(call: Migrate, memory_bytes: int) -> None:
    """Queries whose steps add up keep nothing but watermarks, which the next query takes over."""
    for query in (call.old, call.new):
        _promised(query, memory_bytes)
    previous = None if call.checkpoint is None else Path(call.checkpoint)
    known = read_state(previous, _digest(call.old.steps))
    memory = Memory(_digest(call.new.steps), watermarks=known.watermarks, watermark=known.watermark)
    write_state(memory, Path(call.new_checkpoint))


def _digest(steps: Sequence[QueryStep]) -> str:
    """What a state belongs to."""
    text = json.dumps(["datafusion", [(step.alias, step.query) for step in steps]])
    return hashlib.sha3_256(text.encode()).hexdigest()
