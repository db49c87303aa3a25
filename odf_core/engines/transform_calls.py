"""Calls to engines about transformations, as they go over the wire."""

from collections.abc import Sequence
from typing import TypeAlias

import msgspec

from odf_core.ingest.merge_job import pack_schema
from odf_core.metadata import TransformSql
from odf_core.transform.port import TableSchema
from odf_core.transform.request import DatasetVocabulary

VALIDATE, EXECUTE, MIGRATE = "validate_transform", "transform", "migrate_transform"


SystemNames: TypeAlias = tuple[str, str, str, str]
"""Names of offset, operation, system time and event time."""


class QueryStep(msgspec.Struct, frozen=True, kw_only=True):
    """One query; with an alias a view for those after it."""

    query: str
    alias: str | None = None


class QueryTable(msgspec.Struct, frozen=True, kw_only=True):
    """An input: its name in the query, its Arrow schema (`pack_schema`), its system columns' names."""

    name: str
    schema: str
    names: SystemNames


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A query over tables; `names` are the system columns' names of the result."""

    steps: tuple[QueryStep, ...]
    tables: tuple[QueryTable, ...]
    names: SystemNames = ("offset", "op", "system_time", "event_time")


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """From one query to the next: paths of the checkpoint that the old one left, and of the one to make."""

    old: Query
    new: Query
    checkpoint: str | None = None
    new_checkpoint: str


def query_of(transform: TransformSql, tables: Sequence[TableSchema], vocabulary: DatasetVocabulary) -> Query:
    """The query of a transformation over these tables; `vocabulary` is that of the result."""
    steps = [QueryStep(query=step.query, alias=step.alias) for step in transform.queries or ()]
    if transform.query is not None:
        steps.append(QueryStep(query=transform.query))
    return Query(
        steps=tuple(steps),
        tables=tuple(
            QueryTable(
                name=table.query_alias,
                schema=pack_schema(table.columns),
                names=system_names(table.vocabulary),
            )
            for table in tables
        ),
        names=system_names(vocabulary),
    )


def system_names(vocab: DatasetVocabulary) -> SystemNames:
    """Those of a vocabulary; those of the specification for none."""
    return (
        vocab.offset_column or "offset",
        vocab.operation_type_column or "op",
        vocab.system_time_column or "system_time",
        vocab.event_time_column or "event_time",
    )
