"""A transformation when it is defined: tried by its engine over no records, and pinned to that engine.

From then on the identity of the engine stands in the chain, so that whoever evaluates a step or doubts it
takes the same one. What comes by pull or push stays as it came: it never passes here.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import pyarrow as pa

from odf_core.chain import Vocabulary
from odf_core.data import arrow_schema_to_odf
from odf_core.errors import InvalidInput
from odf_core.identity import DatasetId
from odf_core.metadata import DataSchema, SetTransform, TransformSql
from odf_core.transform.adopt import check_schema
from odf_core.transform.errors import EngineNotInstalled
from odf_core.transform.execute import vocabulary_of
from odf_core.transform.port import TableSchema, TransformEngine

ChooseEngine: TypeAlias = Callable[[TransformSql], TransformEngine]
"""The engine, of the version, that a transform names; raises `EngineNotInstalled`."""


@dataclass(frozen=True, slots=True)
class InputColumns:
    """All columns of a dataset, and which of them are the system columns."""

    schema: pa.Schema
    vocabulary: Vocabulary


Look: TypeAlias = Callable[[DatasetId], InputColumns | None]
"""The columns of an input, None where it has no schema yet."""


@dataclass(frozen=True, slots=True)
class DefinedTransform:
    """A SetTransform with the version of its engine; `columns` are those of the slices to come, None where
    only the first step can tell; `notes` are sentences for whoever wrote it."""

    event: SetTransform
    columns: InputColumns | None
    notes: tuple[str, ...] = ()


def define_transform(
    event: SetTransform,
    look: Look,
    choose: ChooseEngine,
    *,
    vocabulary: Vocabulary | None = None,
    declared: DataSchema | None = None,
) -> DefinedTransform:
    """The event, whose inputs are ids with aliases, as a chain may have it.

    `vocabulary` and `declared` are those of the dataset that is computed. Raises `EngineNotInstalled`,
    `QueryRefused`, `QueryInvalid`, `InvalidQueryResult`, `IncompatibleResult`, what starting an engine
    raises; `extras["place"]` has the steps from the event to the fault.
    """
    transform = event.transform
    try:
        engine = choose(transform)
    except EngineNotInstalled as error:
        error.extras["place"] = ["transform", "engine" if transform.version is None else "version"]
        raise
    pinned = replace(event, transform=replace(transform, version=engine.version()))
    tables, missing = tables_of(event, look)
    names = vocabulary or Vocabulary()
    if missing:
        note = f"{', '.join(missing)} has no schema yet, so the query is checked at the first pull"
        return DefinedTransform(pinned, None, (note,))
    try:
        valid = engine.validate(pinned.transform, tables, vocabulary_of(names))
        columns = _slice_columns(valid.columns, names)
        if declared is not None:
            check_schema(arrow_schema_to_odf(columns), declared)
    except InvalidInput as error:
        within = error.extras.pop("place", None)
        error.extras |= {"place": ["transform", *_step_of(transform, within)], "query_place": within}
        raise
    return DefinedTransform(pinned, InputColumns(columns, names), valid.remarks)


def tables_of(event: SetTransform, look: Look) -> tuple[list[TableSchema], list[str]]:
    """The inputs as tables, and the names of those without a schema."""
    tables, missing = [], []
    for item in event.inputs:
        alias = item.alias or str(item.dataset_ref)
        columns = look(item.dataset_ref) if isinstance(item.dataset_ref, DatasetId) else None
        if columns is None:
            missing.append(alias)
        else:
            tables.append(TableSchema(alias, columns.schema, vocabulary_of(columns.vocabulary)))
    return tables, missing


def _slice_columns(found: pa.Schema, names: Vocabulary) -> pa.Schema:
    """A result's columns as slices have them: the system columns first."""
    instant = pa.timestamp("ms", "UTC")
    event_time = found.field(names.event_time_column)
    system = [
        pa.field(names.offset_column, pa.int64(), nullable=False),
        pa.field(names.operation_type_column, pa.int32(), nullable=False),
        pa.field(names.system_time_column, instant, nullable=False),
        event_time,
    ]
    known = {item.name for item in system}
    return pa.schema([*system, *(item for item in found if item.name not in known)])


def _step_of(transform: TransformSql, place: Any) -> Sequence[str | int]:
    """The query that an engine complains about, by the fragment that it shows, where that is in one only."""
    queries = transform.queries or ()
    offset = place.get("offset") if isinstance(place, dict) else None
    fragment = place.get("fragment") if isinstance(place, dict) else None
    if isinstance(offset, int) and isinstance(fragment, str) and fragment:
        found = [number for number, step in enumerate(queries) if step.query.startswith(fragment, offset)]
    else:
        found = list(range(len(queries)))
    return ("queries", found[0], "query") if len(found) == 1 else ("queries",)
