"""Two slices as tables: the first rows in which they differ, null and value, -0.0 and 0.0 told apart.

The logical hash cannot do this alone: it does not bind nulls (data.md 1.9).
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import date, datetime, time
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from odf_core.data import arrow_schema_to_odf
from odf_core.data.files.batches import reference_batches
from odf_core.data.files.parquet import open_parquet, reading
from odf_core.data.files.reference_schema import reference_schema
from odf_core.data.files.source import open_source
from odf_core.limits import Limits

_FLOAT_BITS = {pa.float16(): pa.int16(), pa.float32(): pa.int32(), pa.float64(): pa.int64()}
_SHOWN_TEXT = 1000
_Pair = tuple[Any, Any]


@dataclass(frozen=True, slots=True)
class RowDifference:
    """A row of either slice, by its place in them (from 0); None where a slice has no such row.

    Values are JSON-compatible: times and decimals as text, bytes as hexadecimal digits, floats that JSON
    lacks by their names, long text cut.
    """

    row: int
    recorded: Mapping[str, Any] | None
    recomputed: Mapping[str, Any] | None

    def to_json(self) -> dict[str, Any]:
        """A JSON-compatible object."""
        return {"row": self.row, "recorded": self.recorded, "recomputed": self.recomputed}


@dataclass(frozen=True, slots=True)
class TableDifference:
    """Where two slices differ: in `columns` (sentences), or in rows, of which these are the first."""

    columns: tuple[str, ...] = ()
    rows: tuple[RowDifference, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.columns or self.rows)


def compare_slices(
    recorded: Path | None, recomputed: Path | None, *, most: int, limits: Limits
) -> TableDifference:
    """The first `most` rows that differ; no file is a slice without rows. Memory holds a few batches.

    Raises `InvalidDataFile`, `DataFileLimitExceeded`, `DataFileNotFound`, `DataFileUnavailable`.
    """
    with ExitStack() as stack:
        left = _Reader(stack, recorded, limits)
        right = _Reader(stack, recomputed, limits)
        if left.schema is not None and right.schema is not None:
            columns = tuple(_column_differences(left.schema, right.schema))
            if columns:
                return TableDifference(columns)
        return TableDifference(rows=tuple(islice(_differing(left, right), most)))


class _Reader:
    """The rows of one file, taken in as many pieces as the other one needs."""

    def __init__(self, stack: ExitStack, path: Path | None, limits: Limits) -> None:
        self.schema: Any = None
        self._held: Any = None
        self._batches: Iterator[Any] = iter(())
        if path is not None:
            parquet = open_parquet(stack.enter_context(open_source(path)), limits)
            self.schema = reference_schema(parquet.file)
            self._batches = reference_batches(parquet, self.schema, threads=1)

    def ready(self) -> int:
        """How many rows can be taken now; 0 at the end."""
        while self._held is None or not len(self._held):
            self._held = next(self._batches, None)
            if self._held is None:
                return 0
        return len(self._held)

    def take(self, count: int) -> Any:
        """The next rows, at most `ready()`."""
        taken, self._held = self._held.slice(0, count), self._held.slice(count)
        return taken


def _differing(left: _Reader, right: _Reader) -> Iterator[RowDifference]:
    row = 0
    while True:
        here, there = left.ready(), right.ready()
        if not here and not there:
            return
        if not here or not there:
            reader = left if here else right
            batch = reader.take(here or there)
            for place in range(len(batch)):
                values = _json_row(batch, place)
                yield RowDifference(row + place, values if here else None, values if there else None)
            row += len(batch)
            continue
        count = min(here, there)
        one, two = left.take(count), right.take(count)
        pairs = [_comparable(one.column(place), two.column(place)) for place in range(one.num_columns)]
        for place in _places(pairs, 0, count):
            yield RowDifference(row + place, _json_row(one, place), _json_row(two, place))
        row += count


def _places(pairs: list[_Pair], start: int, count: int) -> Iterator[int]:
    """The rows of `start`…`start + count` in which a pair of columns differs, found by halving."""
    pieces = [(one.slice(start, count), two.slice(start, count)) for one, two in pairs]
    unequal = [pair for pair, (one, two) in zip(pairs, pieces, strict=True) if not one.equals(two)]
    if not unequal:
        return
    if count == 1:
        yield start
        return
    half = count // 2
    yield from _places(unequal, start, half)
    yield from _places(unequal, start + half, count - half)


def _comparable(one: Any, two: Any) -> _Pair:
    """Columns for `equals`: floats as their bits, so that NaN is itself and -0.0 is not 0.0."""
    if one.type != two.type:
        one, two = _of_one_type(one, two)
    bits = _bits(two.type)
    return (one, two) if bits == two.type else (one.view(bits), two.view(bits))


def _of_one_type(one: Any, two: Any) -> _Pair:
    """Columns that mean the same type, laid out alike. One way loses nothing: a date may be kept as
    milliseconds, of which only whole days fit among days."""
    try:
        return one.cast(two.type), two
    except pa.ArrowInvalid:
        with reading():
            return one, two.cast(one.type)


def _bits(kind: Any) -> Any:
    if kind in _FLOAT_BITS:
        return _FLOAT_BITS[kind]
    if pa.types.is_struct(kind):
        fields = [kind.field(place) for place in range(kind.num_fields)]
        return pa.struct([field.with_type(_bits(field.type)) for field in fields])
    if pa.types.is_map(kind):
        return pa.map_(
            kind.key_field.with_type(_bits(kind.key_type)), kind.item_field.with_type(_bits(kind.item_type))
        )
    if pa.types.is_fixed_size_list(kind):
        return pa.list_(kind.value_field.with_type(_bits(kind.value_type)), kind.list_size)
    if pa.types.is_large_list(kind):
        return pa.large_list(kind.value_field.with_type(_bits(kind.value_type)))
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_bits(kind.value_type)))
    return kind


def _column_differences(recorded: Any, recomputed: Any) -> Iterator[str]:
    if recorded.names != recomputed.names:
        yield (
            f"the recorded columns are {', '.join(recorded.names)}, "
            f"the recomputed ones {', '.join(recomputed.names)}"
        )
        return
    for one, two in zip(recorded, recomputed, strict=True):
        if one.type != two.type and _meaning(one.type) != _meaning(two.type):
            yield f"column {one.name} is recorded as {one.type} and recomputed as {two.type}"


def _meaning(kind: Any) -> Any:
    """The type in ODF's words, which does not tell how texts and lists are laid out in memory."""
    return arrow_schema_to_odf(pa.schema([pa.field("column", kind)])).fields[0].type


def _json_row(batch: Any, place: int) -> dict[str, Any]:
    return {
        name: _json_value(batch.column(number)[place].as_py())
        for number, name in enumerate(batch.schema.names)
    }


def _json_value(value: Any) -> Any:
    match value:
        case None | bool() | int():
            return value
        case float():
            return value if value - value == 0 else str(value)
        case str():
            return value if len(value) <= _SHOWN_TEXT else value[:_SHOWN_TEXT] + "…"
        case bytes():
            return value[:_SHOWN_TEXT].hex()
        case datetime() | date() | time():
            return value.isoformat()
        case list() | tuple():
            return [_json_value(item) for item in value[:_SHOWN_TEXT]]
        case dict():
            return {str(key): _json_value(item) for key, item in value.items()}
        case _:
            return str(value)
