"""Errors of preprocessing, merging and writing."""

from typing import ClassVar

from odf_core.errors import InvalidInput


class BadInputSchema(InvalidInput):
    """Columns of the input that a dataset cannot take: system columns, or an event time that is no time
    (data.md 3.4)."""

    code: ClassVar[str] = "bad_input_schema"


class MergeKeyMissing(InvalidInput):
    """A column that the merge strategy names is not in the input."""

    code: ClassVar[str] = "merge_key_missing"


class IncompatibleSchema(InvalidInput):
    """The records do not have the columns of the dataset's schema (data.md 3.5)."""

    code: ClassVar[str] = "incompatible_schema"


class UnexpectedNulls(InvalidInput):
    """Nulls in a column that the dataset's schema requires."""

    code: ClassVar[str] = "unexpected_nulls"


class UnsupportedColumnType(InvalidInput):
    """A column of a type that the engine cannot carry."""

    code: ClassVar[str] = "unsupported_column_type"


class EngineUnknown(InvalidInput):
    """A query for an engine that is not here."""

    code: ClassVar[str] = "engine_unknown"
