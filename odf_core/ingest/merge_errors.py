"""Errors of preprocessing, merging and writing."""

from collections.abc import Mapping
from typing import Any, ClassVar

from odf_core.errors import InvalidInput
from odf_core.ingest.words import shown


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

    @classmethod
    def in_column(
        cls, column: str, nulls: int, record: Mapping[str, Any], row: int | None = None
    ) -> "UnexpectedNulls":
        """So many nulls in a column; `record` is the first with one, at `row` of the input if that is known
        (from 1)."""
        cells = ", ".join(f"{name}={shown(str(value), 40)}" for name, value in record.items())
        place = f"in row {row}" if row is not None else f"in the record {cells}"
        return cls(
            f"Column `{column}` contains {nulls} null values while none were expected, the first {place}; "
            "mend the input or declare the column optional.",
            objects=[column],
            extras={"column": column, "nulls": nulls} | ({"row": row} if row is not None else {}),
        )


class UnsupportedColumnType(InvalidInput):
    """A column of a type that the engine cannot carry."""

    code: ClassVar[str] = "unsupported_column_type"


class EngineUnknown(InvalidInput):
    """A query for an engine that is not here."""

    code: ClassVar[str] = "engine_unknown"
