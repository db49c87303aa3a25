"""Arrays of texts as arrays of declared types, and which text it was that did not fit."""

import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from odf_core.ingest.read import temporal
from odf_core.ingest.read.errors import ValueDoesNotFit
from odf_core.ingest.read.patterns import Pattern, compile_pattern
from odf_core.ingest.read.places import Place

_SHOWN = 60


@dataclass(frozen=True, slots=True)
class Formats:
    """How dates and timestamps are written; None is RFC 3339."""

    date: Pattern | None = None
    timestamp: Pattern | None = None

    @classmethod
    def of(cls, date_format: str | None, timestamp_format: str | None) -> "Formats":
        """From the options of a read step; raises `InvalidReadOption`."""
        return cls(
            compile_pattern(date_format, option="dateFormat"),
            compile_pattern(timestamp_format, option="timestampFormat"),
        )


def convert_texts(texts: Any, data_type: Any, formats: Formats, place: Place) -> Any:
    """An array of strings as an array of a staged scalar type.

    Raises `ValueDoesNotFit` with the row of the first text that is not of the type.
    """
    if pa.types.is_string(data_type):
        return texts
    try:
        return _attempt(texts, data_type, formats)
    except (pa.ArrowException, ValueError) as error:
        index = first_fault(texts, lambda part: _attempt(part, data_type, formats))
        raise value_fault(texts[index].as_py(), data_type, place, index, formats) from error


def value_fault(
    value: object, data_type: Any, place: Place, index: int, formats: Formats | None = None
) -> ValueDoesNotFit:
    """The error about one value; `index` is its place in the array."""
    shown = repr(value)
    shown = shown if len(shown) <= _SHOWN else f"{shown[:_SHOWN]}..."
    advice = "mend the value or declare another type for the column in the read step's schema"
    return ValueDoesNotFit.at(
        place.file,
        f"{shown} does not fit {type_name(data_type)}{_format_note(data_type, formats)}; {advice}.",
        row=place.row(index),
        column=place.column,
    )


def type_name(data_type: Any) -> str:
    """A type in words for people."""
    if pa.types.is_timestamp(data_type):
        return "a timestamp"
    if pa.types.is_date(data_type):
        return "a date"
    if pa.types.is_decimal(data_type):
        return f"DECIMAL({data_type.precision},{data_type.scale})"
    if pa.types.is_boolean(data_type):
        return "a boolean (true or false)"
    if pa.types.is_binary(data_type) or pa.types.is_fixed_size_binary(data_type):
        return f"{data_type} (hexadecimal digits)"
    return str(data_type)


def _format_note(data_type: Any, formats: Formats | None) -> str:
    if formats is None or not pa.types.is_temporal(data_type):
        return ""
    pattern = formats.date if pa.types.is_date(data_type) else formats.timestamp
    return f" in the format {pattern.text if pattern else 'rfc3339'}"


def _attempt(texts: Any, data_type: Any, formats: Formats) -> Any:
    if pa.types.is_integer(data_type):
        return _integers(texts, data_type)
    if pa.types.is_floating(data_type):
        return _floats(texts, data_type)
    if pa.types.is_timestamp(data_type):
        return temporal.moments(texts, formats.timestamp).cast(data_type, safe=False)
    if pa.types.is_date(data_type):
        return temporal.dates(texts, formats.date)
    if pa.types.is_time(data_type):
        return temporal.times(texts, data_type)
    if pa.types.is_duration(data_type):
        return _integers(texts, pa.int64()).cast(data_type)
    if pa.types.is_binary(data_type) or pa.types.is_fixed_size_binary(data_type):
        return pa.array([None if t is None else binascii.unhexlify(t) for t in texts.to_pylist()], data_type)
    if pa.types.is_null(data_type) and texts.null_count < len(texts):
        raise pa.ArrowInvalid("a value where only nulls may be")
    return texts.cast(data_type)


def _integers(texts: Any, data_type: Any) -> Any:
    if _has_byte(texts, b"xX"):
        raise pa.ArrowInvalid("hexadecimal digits")
    if _has_byte(texts, b"+"):
        texts = pc.replace_substring_regex(texts, r"^\+([0-9])", r"\1")
    return texts.cast(data_type)


def _floats(texts: Any, data_type: Any) -> Any:
    """Numbers that are too large are refused, not made infinite; `inf` and `nan` are read as such."""
    numbers = texts.cast(data_type)
    infinite = pc.is_inf(numbers.cast(pa.float64()))
    if pc.any(infinite).as_py():
        written_so = pc.match_substring_regex(texts, r"(?i)^[+-]?inf(inity)?$")
        if pc.any(pc.and_(infinite, pc.invert(written_so))).as_py():
            raise pa.ArrowInvalid("too large a number")
    return numbers


def _has_byte(texts: Any, signs: bytes) -> bool:
    """Whether any of the signs is in the array's data (or just beside it, in what it was sliced from)."""
    data = texts.buffers()[2]
    if data is None or not len(texts):
        return False
    start, end = _data_bounds(texts)
    found = memoryview(data)[start:end].tobytes()
    return any(found.find(sign) >= 0 for sign in signs)


def _data_bounds(texts: Any) -> tuple[int, int]:
    offsets = memoryview(texts.buffers()[1]).cast("i")
    return offsets[texts.offset], offsets[texts.offset + len(texts)]


def first_fault(values: Any, attempt: Callable[[Any], Any]) -> int:
    """The index of the first value of an array that fails, by halving."""
    low, high = 0, len(values)
    while high - low > 1:
        middle = (low + high) // 2
        try:
            attempt(values.slice(low, middle - low))
        except (pa.ArrowException, ValueError):
            high = middle
        else:
            low = middle
    return low
