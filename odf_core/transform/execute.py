"""One step by an engine: the request, the files that it names, and what comes back."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TypeAlias

import pyarrow.parquet as pq

from odf_core.chain import Vocabulary
from odf_core.data import WrittenSlice, declared_schema, odf_schema_to_arrow, physical_hash_file
from odf_core.identity import DatasetId, ObjectKind, ObjectRef
from odf_core.metadata import Checkpoint, DataSchema, Timestamp
from odf_core.transform.adopt import adopt_result, check_schema
from odf_core.transform.errors import CheckpointUnreadable, EngineContractBroken, InputFileMissing
from odf_core.transform.plan import PlannedInput, PlannedStep
from odf_core.transform.port import Say, StepDone, TableSchema, TransformEngine
from odf_core.transform.request import DatasetVocabulary, TransformRequest, TransformRequestInput

Locate: TypeAlias = Callable[[DatasetId, ObjectRef], Path]
"""The local file of an object of a dataset; raises what its store raises."""


@dataclass(frozen=True, slots=True)
class Target:
    """The dataset that a step is for."""

    dataset_id: DatasetId
    name: str


@dataclass(frozen=True, slots=True)
class Executed:
    """A step that was carried out; nothing of it is in the dataset. Files lie in the step's folder."""

    step: PlannedStep
    done: StepDone
    data: WrittenSlice | None
    schema: DataSchema | None
    checkpoint: Checkpoint | None
    checkpoint_path: Path


def execute_step(
    step: PlannedStep,
    target: Target,
    engine: TransformEngine,
    system_time: Timestamp,
    locate: Locate,
    workdir: Path,
    say: Say = lambda word: None,
) -> Executed:
    """Carries the step out in `workdir`, which exists and is empty.

    Raises what the engine raises, `EngineContractBroken`, `IncompatibleResult`, what `locate` raises.
    """
    request = _request(step, target, system_time, locate, workdir)
    if step.migrates_from is not None:
        request = _migrated(step, request, engine, workdir)
    done = engine.execute(request, say)
    _check_files(request)
    data, schema = adopt_result(Path(request.new_data_path), request, done.new_offset_interval)
    declared = declared_schema(step.before.schema)
    if schema is not None and declared is not None:
        check_schema(schema, declared)
    path = Path(request.new_checkpoint_path)
    return Executed(step, done, data, schema, _checkpoint(path), path)


def table_of(planned: PlannedInput) -> TableSchema:
    """The input as a table of the query."""
    return TableSchema(
        planned.query_alias, odf_schema_to_arrow(planned.schema), vocabulary_of(planned.vocabulary)
    )


def vocabulary_of(vocabulary: Vocabulary) -> DatasetVocabulary:
    """The names as messages carry them, all filled."""
    return DatasetVocabulary(
        offset_column=vocabulary.offset_column,
        operation_type_column=vocabulary.operation_type_column,
        system_time_column=vocabulary.system_time_column,
        event_time_column=vocabulary.event_time_column,
    )


def _request(
    step: PlannedStep, target: Target, system_time: Timestamp, locate: Locate, workdir: Path
) -> TransformRequest:
    previous = None if step.checkpoint is None else _found(step.checkpoint, target, locate)
    return TransformRequest(
        dataset_id=target.dataset_id,
        dataset_alias=target.name,
        system_time=system_time,
        vocab=vocabulary_of(step.before.vocabulary),
        transform=step.transform,
        query_inputs=tuple(_input(number, item, locate, workdir) for number, item in enumerate(step.inputs)),
        next_offset=step.next_offset,
        prev_checkpoint_path=None if previous is None else str(previous),
        new_checkpoint_path=str(workdir / "checkpoint"),
        new_data_path=str(workdir / "data"),
    )


def _found(known: Checkpoint, target: Target, locate: Locate) -> Path:
    """The checkpoint's file. What an engine goes on from would else be believed: it has its own format only
    to look at."""
    path = locate(target.dataset_id, ObjectRef(ObjectKind.CHECKPOINT, known.physical_hash, known.size))
    fault = None
    if not path.is_file():
        fault = "is missing"
    elif path.stat().st_size != known.size or physical_hash_file(path) != known.physical_hash:
        fault = "was altered"
    if fault is None:
        return path
    raise CheckpointUnreadable(
        f"The checkpoint {known.physical_hash} of {target.name}, from which the next step goes on, {fault}. "
        f"Restore it from a repository that has it, or reset the dataset and compute it anew.",
        objects=[target.dataset_id, known.physical_hash],
    )


def _input(number: int, planned: PlannedInput, locate: Locate, workdir: Path) -> TransformRequestInput:
    schema_file = workdir / f"schema-{number}.parquet"
    pq.write_table(odf_schema_to_arrow(planned.schema).empty_table(), schema_file)
    return TransformRequestInput(
        dataset_id=planned.chain.dataset_id,
        dataset_alias=planned.chain.name,
        query_alias=planned.query_alias,
        vocab=vocabulary_of(planned.vocabulary),
        offset_interval=planned.offsets,
        data_paths=tuple(str(_slice(planned, ref, locate)) for ref in planned.slices),
        schema_file=str(schema_file),
        explicit_watermarks=planned.watermarks,
    )


def _slice(planned: PlannedInput, ref: ObjectRef, locate: Locate) -> Path:
    path = locate(planned.chain.dataset_id, ref)
    if not path.is_file() or ref.size not in (None, path.stat().st_size):
        fault = "has another size than its block says" if path.is_file() else "is missing"
        raise InputFileMissing(
            f"The data slice {ref.hash} of the input {planned.chain.name} {fault}; restore it from a "
            f"repository that has the dataset.",
            objects=[planned.chain.dataset_id, ref.hash],
        )
    return path


def _migrated(
    step: PlannedStep, request: TransformRequest, engine: TransformEngine, workdir: Path
) -> TransformRequest:
    """The request with a checkpoint that the new query can go on from."""
    previous, migrated = request.prev_checkpoint_path, workdir / "migrated"
    engine.migrate(
        step.migrates_from or step.transform,
        step.transform,
        [table_of(item) for item in step.inputs],
        request.vocab,
        None if previous is None else Path(previous),
        migrated,
    )
    return replace(request, prev_checkpoint_path=str(migrated) if migrated.is_file() else None)


def _check_files(request: TransformRequest) -> None:
    for path in (Path(request.new_data_path), Path(request.new_checkpoint_path)):
        if path.is_symlink() or (path.exists() and not path.is_file()):
            raise EngineContractBroken("The engine has left something that is no plain file.")


def _checkpoint(path: Path) -> Checkpoint | None:
    if not path.is_file():
        return None
    return Checkpoint(physical_hash=physical_hash_file(path), size=path.stat().st_size)
