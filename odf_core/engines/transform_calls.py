"""Calls to the Spark engine about transformations, as they go over the wire."""

import msgspec

VALIDATE, EXECUTE, MIGRATE = "validate_transform", "transform", "migrate_transform"


class QueryStep(msgspec.Struct, frozen=True, kw_only=True):
    """One query; with an alias a view for those after it."""

    query: str
    alias: str | None = None


class QueryTable(msgspec.Struct, frozen=True, kw_only=True):
    """An input: its name in the query, its Arrow schema (`pack_schema`), its system columns' names."""

    name: str
    schema: str
    names: tuple[str, str, str, str]


class Query(msgspec.Struct, frozen=True, kw_only=True):
    """A query over tables; `names` are the system columns' names of the result."""

    steps: tuple[QueryStep, ...]
    tables: tuple[QueryTable, ...]
    names: tuple[str, str, str, str] = ("offset", "op", "system_time", "event_time")


class Migration(msgspec.Struct, frozen=True, kw_only=True):
    """From one query to the next: paths of the checkpoint that the old one left, and of the one to make."""

    old: Query
    new: Query
    checkpoint: str | None = None
    new_checkpoint: str
