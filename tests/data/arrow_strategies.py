"""Hypothesis strategies for Arrow types, arrays and batches that the logical hash covers."""

from decimal import Decimal
from itertools import pairwise
from typing import Any

import pyarrow as pa
from hypothesis import strategies as st

_INTEGERS = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
_TIMES = [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"), pa.date32(), pa.date64()]
_STAMPS = [pa.timestamp(unit, zone) for unit in ("s", "ms", "us", "ns") for zone in (None, "UTC", "+00:00")]
_TEXTS = [pa.string(), pa.large_string(), pa.string_view()]
_BINARIES = [pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(3), pa.binary(17), pa.binary(0)]
_DECIMALS = [pa.decimal32(7, 2), pa.decimal64(15, 3), pa.decimal128(20, 2), pa.decimal256(60, 5)]
_FLOATS = [pa.float16(), pa.float32(), pa.float64()]

scalar_types = st.sampled_from(
    [pa.bool_(), *_INTEGERS, *_TIMES, *_STAMPS, *_TEXTS, *_BINARIES, *_DECIMALS, *_FLOATS]
)


def _lists(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(
        inner.map(pa.list_),
        inner.map(pa.large_list),
        st.tuples(inner, st.integers(1, 3)).map(lambda p: pa.list_(*p)),
    )


types = st.one_of(scalar_types, _lists(scalar_types), _lists(_lists(scalar_types)))


def values(t: pa.DataType) -> st.SearchStrategy[Any]:
    """A value of the type that is not null at its top."""
    if pa.types.is_fixed_size_list(t):
        return st.lists(items(t.value_type), min_size=t.list_size, max_size=t.list_size)
    if pa.types.is_list(t) or pa.types.is_large_list(t):
        return st.lists(items(t.value_type), max_size=4)
    if pa.types.is_boolean(t):
        return st.booleans()
    if pa.types.is_integer(t):
        signed = pa.types.is_signed_integer(t)
        low, high = (
            (-(1 << t.bit_width - 1), (1 << t.bit_width - 1) - 1) if signed else (0, (1 << t.bit_width) - 1)
        )
        return st.integers(low, high)
    if pa.types.is_floating(t):
        return st.floats(width=t.bit_width, allow_nan=False)
    if pa.types.is_decimal(t):
        digits = 10 ** min(t.precision, 18) - 1
        return st.integers(-digits, digits).map(lambda n: Decimal(n).scaleb(-t.scale))
    return _other_values(t)


def _other_values(t: pa.DataType) -> st.SearchStrategy[Any]:
    if pa.types.is_date64(t):
        return st.integers(-10_000, 20_000).map(lambda day: day * 86_400_000)
    if pa.types.is_time(t) or pa.types.is_temporal(t):
        return st.integers(0, 80_000)
    if t in _TEXTS:
        return st.text(max_size=20)
    if pa.types.is_fixed_size_binary(t):
        return st.binary(min_size=t.byte_width, max_size=t.byte_width)
    return st.binary(max_size=20)


def items(t: pa.DataType) -> st.SearchStrategy[Any]:
    return st.one_of(st.none(), values(t))


@st.composite
def columns(draw: Any, rows: int) -> Any:
    """An array of so many rows, possibly a slice of a longer one, with few, many, or no nulls."""
    t = draw(types)
    before = draw(st.integers(0, 20))
    item = draw(st.sampled_from([values(t), items(t), st.one_of(values(t), values(t), items(t))]))
    drawn = draw(st.lists(item, min_size=rows + before, max_size=rows + before))
    return pa.array(drawn, t).slice(before)


@st.composite
def tables(draw: Any) -> tuple[Any, list[Any]]:
    """A schema and its rows cut into batches."""
    rows = draw(st.integers(0, 40))
    arrays = [draw(columns(rows)) for _ in range(draw(st.integers(1, 3)))]
    names = draw(st.lists(st.text(max_size=5), min_size=len(arrays), max_size=len(arrays)))
    schema = pa.schema([pa.field(name, array.type) for name, array in zip(names, arrays, strict=True)])
    whole = pa.RecordBatch.from_arrays(arrays, schema=schema)
    cuts = sorted(draw(st.lists(st.integers(0, rows), max_size=3)))
    bounds = [0, *cuts, rows]
    return schema, [whole.slice(a, b - a) for a, b in pairwise(bounds)]
