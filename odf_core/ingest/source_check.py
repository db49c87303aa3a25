"""What is certainly wrong with a source, told when it is defined and not at its first ingest.

Nothing is fetched and no engine started: the read step with its schema, the merge strategy, and, where a
schema is declared and no query stands between, the columns that the strategy names.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeAlias

import pyarrow as pa

from odf_core.chain import Vocabulary
from odf_core.data import InvalidDdlSchema, UnsupportedLogicalHashType, ddl_schema_to_arrow
from odf_core.errors import InvalidInput
from odf_core.ingest.engine_types import is_carried
from odf_core.ingest.merge_errors import (
    BadInputSchema,
    EngineUnknown,
    MergeKeyMissing,
    UnsupportedColumnType,
)
from odf_core.ingest.merge_job import Strategy
from odf_core.ingest.read import InvalidReadOption, declared_schema
from odf_core.ingest.round import strategy_of
from odf_core.metadata import (
    AddPushSource,
    ReadStep,
    ReadStepCsv,
    ReadStepJson,
    ReadStepNdJson,
    SetPollingSource,
    TransformSql,
)

Source: TypeAlias = SetPollingSource | AddPushSource

ENGINES = ("spark", "datafusion")
"""Engines that carry out preprocess queries, in any case of letters."""


def check_source(source: Source, vocabulary: Vocabulary) -> None:
    """Raises for a source through which nothing could ever be ingested; `extras["place"]` has the steps
    from the event to the fault.

    Raised are `InvalidDdlSchema`, `UnsupportedArrowType`, `DuplicateInputColumn`, `InvalidReadOption`,
    `UnsupportedColumnType`, `BadInputSchema`, `MergeKeyMissing`, `EngineUnknown`.
    """
    strategy = strategy_of(source.merge)
    if strategy.kind != "Append" and not strategy.primary_key:
        raise _at(
            ("merge", "primaryKey"),
            MergeKeyMissing(f"{strategy.kind} needs a primary key; name its columns."),
        )
    try:
        _check_options(source.read)
    except InvalidReadOption as error:  # its object is the option
        raise _at(("read", *error.objects[:1]), error) from error
    schema = _declared(source.read)
    if source.preprocess is not None:
        _check_preprocess(source.preprocess)
    if schema is None:
        return
    place = ("read", "ddlSchema" if source.read.ddl_schema else "schema")
    if source.preprocess is None or source.preprocess.engine.lower() == "spark":
        with _within(*place):
            _check_types(schema)
    if source.preprocess is None:
        with _within(*place):
            _check_hashable(schema)
            _check_columns(schema, strategy, vocabulary)
        with _within("merge"):
            _check_key(schema, strategy, vocabulary)


def columns_of(source: Source) -> Any | None:
    """The `pa.Schema` of what the source certainly leaves for the merge; None where only an ingest can
    tell. For a source that `check_source` has passed."""
    return declared_schema(source.read) if source.preprocess is None else None


def _check_options(step: ReadStep) -> None:
    match step:  # loaded when they come: the readers take long to load
        case ReadStepCsv():
            from odf_core.ingest.read.csv_options import CsvOptions

            CsvOptions.of(step)
        case ReadStepJson() | ReadStepNdJson():
            from odf_core.ingest.read.convert import Formats
            from odf_core.ingest.read.text_stream import encoding_of

            encoding_of(step.encoding)
            Formats.of(step.date_format, step.timestamp_format)


def _declared(step: ReadStep) -> Any | None:
    for number, text in enumerate(step.ddl_schema or ()):
        with _within("read", "ddlSchema", number):
            try:
                ddl_schema_to_arrow([text])
            except InvalidDdlSchema as error:
                # One entry alone is always the first; the list has others before it.
                message = error.message.replace("Entry 1 ", f"Entry {number + 1} ", 1)
                raise InvalidDdlSchema(message, objects=error.objects, extras=error.extras) from error
    with _within("read", "ddlSchema" if step.ddl_schema else "schema"):
        return declared_schema(step)


def _check_preprocess(transform: TransformSql) -> None:
    if transform.engine.lower() not in ENGINES:
        raise _at(
            ("preprocess", "engine"),
            EngineUnknown(
                f"The preprocess query is for the engine {transform.engine[:80]!r}; only "
                f"{' and '.join(ENGINES)} are here.",
                objects=[transform.engine[:80]],
            ),
        )
    queries = [transform.query] if transform.query is not None else []
    queries += [step.query for step in transform.queries or ()]
    if not all(query.strip() for query in queries):
        raise _at(("preprocess",), InvalidReadOption("A query of the preprocess step is empty; write it."))


def _check_types(schema: Any) -> None:
    for item in schema:
        if not is_carried(item.type):
            raise UnsupportedColumnType(
                f"Column {item.name!r} has the type {item.type}, which the Spark engine cannot carry; "
                "read it as another type.",
                objects=[item.name],
            )


def _check_hashable(schema: Any) -> None:
    """What is not preprocessed goes into slices as it is, and a slice has a logical hash."""
    from odf_core.data.digest.columns import layout_of  # it brings numpy along

    for item in schema:
        try:
            layout_of(pa.schema([item]))
        except UnsupportedLogicalHashType as error:
            raise UnsupportedColumnType(
                f"Column {item.name!r} has the type {item.type}, which has no logical hash, so no slice can "
                "hold it; read it as another type, or convert it in a preprocess query.",
                objects=[item.name],
            ) from error


def _check_columns(schema: Any, strategy: Strategy, vocabulary: Vocabulary) -> None:
    """The rules of data.md 3.4, as the engine holds them against what was read."""
    forbidden = [vocabulary.offset_column, vocabulary.system_time_column]
    if not strategy.takes_operations:
        forbidden.append(vocabulary.operation_type_column)
    for name in forbidden:
        if name in schema.names:
            raise BadInputSchema(
                f"The read schema has a column {name!r}, which is a system column of the dataset; rename it, "
                "or read it under another name in a preprocess query.",
                objects=[name],
            )
    name = vocabulary.event_time_column
    if name in schema.names:
        data_type = schema.field(name).type
        if not (pa.types.is_timestamp(data_type) or pa.types.is_date(data_type)):
            raise BadInputSchema(
                f"The event time column {name!r} is declared as {data_type}, but must be DATE or TIMESTAMP; "
                "change its type, cast it in a preprocess query, or name another column by SetVocab.",
                objects=[name],
            )


def _check_key(schema: Any, strategy: Strategy, vocabulary: Vocabulary) -> None:
    known = {*schema.names, vocabulary.event_time_column} - {vocabulary.operation_type_column}
    for place, names in (
        ("primaryKey", strategy.primary_key),
        ("compareColumns", strategy.compare_columns or ()),
    ):
        missing = [name for name in names if name not in known]
        if missing:
            raise _at((place, names.index(missing[0])), key_missing(strategy.kind, missing, schema.names))
    operation = vocabulary.operation_type_column
    if strategy.kind == "ChangelogStream" and operation not in schema.names:
        raise _at(
            ("kind",),
            MergeKeyMissing(
                f"ChangelogStream needs a column {operation!r} with the operation type of each record; the "
                "read schema has none.",
                objects=[operation],
            ),
        )


def key_missing(strategy: str, missing: Sequence[str], columns: Sequence[str]) -> MergeKeyMissing:
    """The refusal of a strategy that names columns which the read schema lacks."""
    return MergeKeyMissing(
        f"{strategy} names {', '.join(map(repr, missing))}, but the columns of the read schema are "
        f"{', '.join(map(repr, columns))}; name one of these, or declare the column.",
        objects=missing,
    )


def _at(place: Sequence[str | int], error: InvalidInput) -> InvalidInput:
    error.extras["place"] = [*place, *error.extras.get("place", ())]
    return error


@contextmanager
def _within(*place: str | int) -> Iterator[None]:
    try:
        yield
    except InvalidInput as error:
        _at(place, error)
        raise
