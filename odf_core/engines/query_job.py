"""What a query asks of an engine."""

import msgspec

from odf_core.ingest.merge_job import Names


class TablePlace(msgspec.Struct, frozen=True, kw_only=True):
    """A place in a query where a table is named: characters `start` to `stop`, the last one included.

    `as_of` is an offset, the hash of a block or a system time (`as_of_is_time`: surely the last); `fold`
    asks for the state that the changelog tells, of the records up to the event time `at`.
    """

    name: str
    start: int
    stop: int
    has_alias: bool
    as_of: str | None = None
    as_of_is_time: bool = False
    fold: bool = False
    at: str | None = None


class Fold(msgspec.Struct, frozen=True, kw_only=True):
    """The state by this key; without a key, records and their retractions cancel each other out. `at_millis`
    (since 1970): records with a later event time, or none, do not count."""

    primary_key: tuple[str, ...]
    names: Names
    at_millis: int | None = None


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """The slices of a dataset under the name of a view: paths, or `s3a://` URLs.

    `schema` is as `pack_schema` has it.
    """

    files: tuple[str, ...]
    schema: str
    offset_column: str
    max_offset: int | None = None
    fold: Fold | None = None


class QueryJob(msgspec.Struct, frozen=True, kw_only=True):
    """One query over `tables`; at most `limit` records of its result are wanted."""

    sql: str
    tables: dict[str, Table]
    limit: int | None = None


class QueryOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Parquet `parts` in the order of the result, and its schema."""

    parts: tuple[str, ...]
    schema: str
