"""JSON values as Arrow columns of declared or inferred types.

Columns are built whole from lists of Python values; only where a list holds values of unusual kinds is
each looked at. Numbers and booleans become text where text is due, and texts are read where numbers are
due; nothing else is bent.
"""

import datetime
from collections.abc import Iterable, Sequence
from decimal import Decimal
from itertools import chain
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from odf_core.ingest.read.convert import Formats, convert_texts, value_fault
from odf_core.ingest.read.errors import UnexpectedInputShape
from odf_core.ingest.read.places import Place

_NUMBERS = {int, float, Decimal}


def json_column(values: Sequence[Any], data_type: Any, formats: Formats, place: Place) -> Any:
    """The values (None is null) as an array of the physical (nullable) type.

    Raises `ValueDoesNotFit`, or `UnexpectedInputShape` for an object, array or scalar where another of
    them is due, with the row and the path of the column.
    """
    if pa.types.is_struct(data_type):
        return _structs(values, data_type, formats, place)
    if pa.types.is_map(data_type):
        return _maps(values, data_type, formats, place)
    if pa.types.is_list(data_type) or pa.types.is_fixed_size_list(data_type):
        return _lists(values, data_type, formats, place)
    return _scalars(values, data_type, formats, place)


def kind_of(value: Any) -> str:
    """What JSON calls a value."""
    if value is None:
        return "null"
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    if isinstance(value, bool):
        return "a boolean"
    return "a number" if isinstance(value, int | float | Decimal) else "a string"


def _scalars(values: Sequence[Any], data_type: Any, formats: Formats, place: Place) -> Any:
    kinds = set(map(type, values))
    kinds.discard(type(None))
    _refuse_nested(values, kinds, data_type, place)
    made = _at_once(values, kinds, data_type)
    if made is not None:
        return made
    texts = values
    if kinds - {str}:
        texts = [_text(value, data_type, place, index) for index, value in enumerate(values)]
    return convert_texts(pa.array(texts, pa.string()), data_type, formats, place)


def _at_once(values: Sequence[Any], kinds: set[type], data_type: Any) -> Any | None:
    """The array where all values are of the kind that the type wants and fit; else None."""
    try:
        if kinds <= {str} and pa.types.is_string(data_type):
            return pa.array(values, data_type)
        if kinds <= {bool} and pa.types.is_boolean(data_type):
            return pa.array(values, data_type)
        if kinds <= {int} and pa.types.is_integer(data_type):
            return pa.array(values, data_type)
        if kinds <= {int, Decimal} and pa.types.is_decimal(data_type):
            return pa.array(values, data_type)
        if kinds <= {datetime.date} and pa.types.is_date(data_type):
            return pa.array(values, data_type)
        if kinds <= _NUMBERS and pa.types.is_floating(data_type):
            return _floats(values, kinds, data_type)
    except (pa.ArrowException, OverflowError, UnicodeEncodeError):
        return None
    return None


def _floats(values: Sequence[Any], kinds: set[type], data_type: Any) -> Any | None:
    if Decimal in kinds:
        values = [None if value is None else float(value) for value in values]
    numbers = pa.array(values, pa.float64()).cast(data_type, safe=False)
    return None if pc.any(pc.is_inf(numbers.cast(pa.float64()))).as_py() else numbers


def _text(value: Any, data_type: Any, place: Place, index: int) -> str | None:
    """A scalar as the text that `convert_texts` reads."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, bool):
        if pa.types.is_string(data_type) or pa.types.is_boolean(data_type):
            return "true" if value else "false"
    elif isinstance(value, datetime.date):
        if pa.types.is_temporal(data_type):
            return value.isoformat()
        return f"{value.year}-{value.month}-{value.day}"  # as the deployed reader of shapefiles writes it
    elif not pa.types.is_temporal(data_type) or pa.types.is_duration(data_type):
        return _number_text(value, data_type)
    raise value_fault(value, data_type, place, index)


def _number_text(value: Any, data_type: Any) -> str:
    """Digits; a whole number with a point (5.0) is one without where a whole number is due."""
    if pa.types.is_integer(data_type) and abs(value) < 1 << 64 and value == int(value):
        return str(int(value))
    return str(value)


def _refuse_nested(values: Sequence[Any], kinds: set[type], data_type: Any, place: Place) -> None:
    if dict in kinds or list in kinds:
        index = next(index for index, value in enumerate(values) if isinstance(value, dict | list))
        raise _shape_fault(values[index], "a single value", place, index)


def _structs(values: Sequence[Any], data_type: Any, formats: Formats, place: Place) -> Any:
    _require(values, dict, "an object", place)
    fields = [data_type.field(index) for index in range(data_type.num_fields)]
    children = [
        json_column(
            [None if value is None else value.get(field.name) for value in values],
            field.type, formats, place.below(f".{field.name}"),
        )
        for field in fields
    ]  # fmt: skip
    nulls = pa.array([value is None for value in values], pa.bool_())
    return pa.StructArray.from_arrays(children, fields=fields, mask=nulls)


def _lists(values: Sequence[Any], data_type: Any, formats: Formats, place: Place) -> Any:
    _require(values, list, "an array", place)
    if pa.types.is_fixed_size_list(data_type):
        return _fixed_lists(values, data_type, formats, place)
    flat = list(chain.from_iterable(value for value in values if value is not None))
    items = json_column(flat, data_type.value_type, formats, place.below("[]", _rows(values, place)))
    return pa.ListArray.from_arrays(_offsets(values), items, type=data_type)


def _fixed_lists(values: Sequence[Any], data_type: Any, formats: Formats, place: Place) -> Any:
    length = data_type.list_size
    for index, value in enumerate(values):
        if value is not None and len(value) != length:
            raise UnexpectedInputShape.at(
                place.file, f"an array of {len(value)} items stands where {length} are due.",
                row=place.row(index), column=place.column,
            )  # fmt: skip
    flat = list(chain.from_iterable([None] * length if value is None else value for value in values))
    rows = [place.row(index) for index in range(len(values)) for _ in range(length)]
    items = json_column(flat, data_type.value_type, formats, place.below("[]", rows))
    nulls = pa.array([value is None for value in values], pa.bool_())
    return pa.FixedSizeListArray.from_arrays(items, type=data_type, mask=nulls)


def _maps(values: Sequence[Any], data_type: Any, formats: Formats, place: Place) -> Any:
    _require(values, dict, "an object", place)
    known = [value for value in values if value is not None]
    below = place.below("{}", _rows(values, place))
    keys = json_column(list(chain.from_iterable(known)), data_type.key_type, formats, below)
    flat = list(chain.from_iterable(value.values() for value in known))
    items = json_column(flat, data_type.item_type, formats, below)
    return pa.MapArray.from_arrays(_offsets(values), keys, items, type=data_type)


def _offsets(values: Iterable[Any]) -> Any:
    """Offsets of lists; a null offset marks a null list."""
    offsets: list[int | None] = []
    end = 0
    for value in values:
        offsets.append(None if value is None else end)
        end += 0 if value is None else len(value)
    return pa.array([*offsets, end], pa.int32())


def _rows(values: Sequence[Any], place: Place) -> list[int]:
    return [place.row(i) for i, value in enumerate(values) if value is not None for _ in range(len(value))]


def _require(values: Sequence[Any], kind: type, due: str, place: Place) -> None:
    if set(map(type, values)) <= {kind, type(None)}:
        return
    for index, value in enumerate(values):
        if value is not None and type(value) is not kind:
            raise _shape_fault(value, due, place, index)


def _shape_fault(value: Any, due: str, place: Place, index: int) -> UnexpectedInputShape:
    return UnexpectedInputShape.at(
        place.file,
        f"{kind_of(value)} stands where {due} is due; mend the value or change the column's type in the "
        "read step's schema.",
        row=place.row(index),
        column=place.column,
    )


def nested_texts(texts: Any, data_type: Any, formats: Formats, place: Place) -> Any:
    """Texts of JSON (in a CSV file) as an array of a nested type."""
    values = []
    for index, text in enumerate(texts.to_pylist()):
        try:
            values.append(None if text is None else msgspec.json.decode(text))
        except (msgspec.DecodeError, RecursionError) as error:
            raise value_fault(text, data_type, place, index) from error
    return json_column(values, data_type, formats, place)
