"""Errors of the read phase: each says which file, which row, which column, and what to do.

Rows are records counted from 1 (a CSV header is none), columns are names. `extras` carries what is known
of `file`, `row`, `column` and `byte` for programs.
"""

from typing import Any, ClassVar, Self

from odf_core.errors import InvalidInput, LimitExceeded, OdfError


class _InputFault(OdfError):
    """What the faults of an input have in common: the place in their sentence and in their extras."""

    @classmethod
    def at(
        cls,
        file: str,
        fault: str,
        *,
        row: int | None = None,
        column: str | None = None,
        byte: int | None = None,
    ) -> Self:
        """The error with the sentence "`file`, row N, column 'c': `fault`"."""
        place = [f"Input {file!r}"]
        place += [f"row {row}"] if row is not None else []
        place += [f"column {column!r}"] if column is not None else []
        place += [f"byte {byte}"] if byte is not None else []
        known: dict[str, Any] = {"file": file, "row": row, "column": column, "byte": byte}
        extras = {key: value for key, value in known.items() if value is not None}
        return cls(f"{', '.join(place)}: {fault}", objects=[file], extras=extras)


class MalformedInput(_InputFault, InvalidInput):
    """Bytes that are not what the read step says: a ragged row, a truncated document, no archive."""

    code: ClassVar[str] = "malformed_input"


class WrongInputEncoding(_InputFault, InvalidInput):
    """Bytes that are no text in the encoding of the read step."""

    code: ClassVar[str] = "wrong_input_encoding"


class ValueDoesNotFit(_InputFault, InvalidInput):
    """A value that its column's type cannot hold."""

    code: ClassVar[str] = "input_value_does_not_fit"


class UnexpectedInputShape(_InputFault, InvalidInput):
    """JSON that is well formed and not laid out as the read step says."""

    code: ClassVar[str] = "unexpected_input_shape"


class DuplicateInputColumn(_InputFault, InvalidInput):
    """Two columns of one name."""

    code: ClassVar[str] = "duplicate_input_column"


class UnsupportedInputType(_InputFault, InvalidInput):
    """A column of a type that no dataset can hold, or that the format cannot carry."""

    code: ClassVar[str] = "unsupported_input_type"


class InputLimitExceeded(_InputFault, LimitExceeded):
    """An input beyond a bound of `ReadOptions`."""

    code: ClassVar[str] = "input_limit_exceeded"


class InvalidReadOption(InvalidInput):
    """An option of a read step that says nothing that could be done."""

    code: ClassVar[str] = "invalid_read_option"


class UnsupportedMediaType(InvalidInput):
    """A media type that no read step reads (data.md 3.2)."""

    code: ClassVar[str] = "unsupported_input_media_type"
