"""The logical hash of Parquet files: as the reference's reader sees them (data.md 1.1, 1.5, 1.6)."""

import base64
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.data import UnsupportedLogicalHashType, logical_hash_batches, logical_hash_file
from tests.data.naive_digest import naive_hash

_WINDOW = 10_000


def _file(table: pa.Table, **settings: Any) -> io.BytesIO:
    out = io.BytesIO()
    pq.write_table(table, out, **settings)
    return out


def _hash(table: pa.Table) -> str:
    return logical_hash_batches(table.schema, table.to_batches()).digest.hex()


def _flat_table(rows: int) -> pa.Table:
    random = np.random.default_rng(1)
    return pa.table(
        {
            "offset": pa.array(np.arange(rows)),
            "t": pa.array(random.integers(0, 10**12, rows), pa.timestamp("ms", "UTC")),
            "x": pa.array(random.normal(size=rows), mask=random.random(rows) < 0.3),
            "s": pa.array([None if n == 7 else f"city {n}" for n in random.integers(0, 500, rows)]),
            "l": pa.array([[n, None] if n % 3 else None for n in range(rows)], pa.list_(pa.int16())),
        }
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"row_group_size": 777},
        {"compression": "zstd", "use_dictionary": False, "data_page_size": 1000},
        {"compression": "gzip", "data_page_version": "2.0", "store_schema": False},
    ],
)
def test_rows_count_and_not_how_they_are_stored(settings: dict[str, Any], threads: int) -> None:
    table = _flat_table(5_000)
    stored = _file(table, **settings)
    assert logical_hash_file(stored, threads=threads).digest.hex() == _hash(table)


def test_from_a_path_and_again_from_the_same_file_object(tmp_path: Any) -> None:
    table = _flat_table(10)
    path = tmp_path / "slice"
    path.write_bytes(_file(table).getvalue())
    with path.open("rb") as file:
        found = {str(logical_hash_file(source)) for source in (path, str(path), file, file)}
        assert not file.closed
    assert found == {str(logical_hash_batches(table.schema, table.to_batches()))}


def test_no_rows() -> None:
    table = _flat_table(3).slice(0, 0)
    assert logical_hash_file(_file(table)).digest.hex() == _hash(table) == naive_hash(table.schema, [])


# What the embedded Arrow schema changes for the reference's reader


def _retyped(written: pa.Array, seen: pa.Array) -> None:
    table, expected = pa.table({"c": written}), pa.table({"c": seen})
    assert logical_hash_file(_file(table)).digest.hex() == _hash(expected)


def test_date64_stays_date64() -> None:
    dates = pa.array([86_400_000, None], pa.date64())
    _retyped(dates, dates)
    nested = pa.array([[86_400_000], None], pa.list_(pa.date64()))
    _retyped(nested, nested)


@pytest.mark.parametrize("zone", ["UTC", "+00:00", "Europe/Berlin"])
def test_a_zone_is_text_and_kept_for_the_stored_unit(zone: str) -> None:
    for unit in ("ms", "us", "ns"):
        times = pa.array([1, None], pa.timestamp(unit, zone))
        _retyped(times, times)
    _retyped(pa.array([1, None], pa.timestamp("s", zone)), pa.array([1000, None], pa.timestamp("ms", "UTC")))


def test_without_hint_adjusted_times_are_in_utc() -> None:
    table = pa.table({"c": pa.array([1], pa.timestamp("ms", "Europe/Berlin"))})
    expected = pa.table({"c": pa.array([1], pa.timestamp("ms", "UTC"))})
    assert logical_hash_file(_file(table, store_schema=False)).digest.hex() == _hash(expected)


def test_views_and_large_types_are_what_their_plain_ones_are() -> None:
    _retyped(pa.array(["a", None], pa.string_view()), pa.array(["a", None]))
    _retyped(pa.array([b"a", None], pa.large_binary()), pa.array([b"a", None]))


def _hinted(stored: pa.Array, hint: pa.DataType) -> io.BytesIO:
    """A file whose embedded Arrow schema says another type than pyarrow would have written."""
    hint_bytes = pa.schema([("c", hint)]).serialize().to_pybytes()
    table = pa.table({"c": stored})
    out = io.BytesIO()
    with pq.ParquetWriter(out, table.schema, store_schema=False) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata({b"ARROW:schema": base64.b64encode(hint_bytes)})
    return out


@pytest.mark.parametrize(
    "hint", [pa.date64(), pa.time64("ns"), pa.timestamp("s"), pa.timestamp("s", "UTC")], ids=str
)
def test_times_that_other_writers_store_as_plain_numbers(hint: pa.DataType) -> None:
    stored = pa.array([86_400_000, None], pa.int64())
    found = logical_hash_file(_hinted(stored, hint))
    assert found.digest.hex() == _hash(pa.table({"c": stored.cast(hint)}))


@pytest.mark.parametrize(
    "hint", [pa.dictionary(pa.int32(), pa.string()), pa.dictionary(pa.int8(), pa.large_string())], ids=str
)
def test_a_dictionary_in_the_embedded_schema_has_no_hash(hint: pa.DataType) -> None:
    column = pa.array(["a", "b"]).cast(hint)
    with pytest.raises(UnsupportedLogicalHashType) as caught:
        logical_hash_file(_file(pa.table({"good": pa.array([1, 2]), "bad": column})))
    assert caught.value.objects == ("bad",)
    plain = pa.table({"good": pa.array([1, 2]), "bad": column.cast(pa.string())})
    without = _file(pa.table({"good": pa.array([1, 2]), "bad": column}), store_schema=False)
    assert logical_hash_file(without).digest.hex() == _hash(plain)


# Nullable fields below nullable structs


def _left_by_reader(values: list[Any], zero: Any) -> list[Any]:
    """The slots after the reference's reader has spaced the values of one segment out, step by step."""
    valid = [row for row, value in enumerate(values) if value is not None]
    slots = [value for value in values if value is not None] + [zero] * (len(values) - len(valid))
    for value_at, row in reversed(list(enumerate(valid))):
        if row <= value_at:
            break
        slots[row] = slots[value_at]
    return slots


def _window_of(rows: list[Any], segments: list[int], inner: pa.DataType, zero: Any) -> pa.RecordBatch:
    """A struct column of one field as the reference would read it, its slots filled segment by segment."""
    values = [None if row is None else row["v"] for row in rows]
    slots: list[Any] = []
    start = 0
    for stop in [*segments, len(rows)]:
        slots += _left_by_reader(values[start:stop], zero)
        start = stop
    filled = pa.array(slots, inner)
    bitmap = pa.array([value is not None for value in values]).buffers()[1]
    child = pa.Array.from_buffers(inner, len(rows), [bitmap, *filled.buffers()[1:]])
    outer = pa.array([row is not None for row in rows]).buffers()[1]
    struct = pa.Array.from_buffers(pa.struct([pa.field("v", inner)]), len(rows), [outer], children=[child])
    return pa.record_batch([struct], ["s"])


@pytest.mark.parametrize(
    ("inner", "make", "zero"),
    [
        (pa.int64(), lambda n: n * 1000, 0),
        (pa.int16(), lambda n: n % 30_000, 0),
        (pa.float64(), lambda n: n / 3, 0.0),
        (pa.bool_(), lambda n: n % 2 == 0, False),
        (pa.string(), lambda n: f"text {n}", ""),
    ],
    ids=["int64", "int16", "float64", "bool", "string"],
)
@pytest.mark.parametrize("row_group_rows", [1 << 20, 7_000])
def test_null_slots_over_batches_and_row_groups(
    inner: Any, make: Any, zero: Any, row_group_rows: int
) -> None:
    random = np.random.default_rng(5)
    kinds = random.integers(0, 4, 23_456)
    rows: list[Any] = [
        None if kind == 0 else {"v": None if kind == 1 else make(n)} for n, kind in enumerate(kinds)
    ]
    rows[12_000:12_500] = [{"v": make(n)} for n in range(500)]
    table = pa.table({"s": pa.array(rows, pa.struct([pa.field("v", inner)]))})
    group_ends = range(row_group_rows, len(rows), row_group_rows)
    windows = []
    for start in range(0, len(rows), _WINDOW):
        window = rows[start : start + _WINDOW]
        segments = [end - start for end in group_ends if start < end < start + len(window)]
        if inner == pa.string():  # a null of a byte array column has an empty range
            windows.append(
                _empty_slots(pa.record_batch([pa.array(window, table.schema.field(0).type)], ["s"]))
            )
        else:
            windows.append(_window_of(window, segments, inner, zero))
    expected = naive_hash(windows[0].schema, windows)
    for threads in (1, 2):
        found = logical_hash_file(_file(table, row_group_size=row_group_rows), threads=threads)
        assert found.digest.hex() == expected


def _empty_slots(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Strings whose nulls are empty, and null where their struct is."""
    struct = batch.column(0)
    texts = [None if row is None else row["v"] for row in struct.to_pylist()]
    child = pa.array(texts)
    outer = pa.array([row.is_valid for row in struct]).buffers()[1]
    rebuilt = pa.Array.from_buffers(struct.type, len(struct), [outer], children=[child])
    return pa.record_batch([rebuilt], ["s"])


def test_structs_without_meeting_nulls_do_not_depend_on_batches() -> None:
    rows = [{"a": n, "b": {"c": f"x{n}"}} for n in range(25_000)]
    inner = pa.struct([pa.field("c", pa.string(), nullable=False)])
    struct = pa.struct([pa.field("a", pa.int32(), nullable=False), pa.field("b", inner, nullable=False)])
    schema = pa.schema([pa.field("s", struct)])
    batch = pa.record_batch([pa.array(rows, struct)], schema=schema)
    expected = naive_hash(schema, [batch])
    assert naive_hash(schema, [batch.slice(0, 9), batch.slice(9)]) == expected
    stored = _file(pa.Table.from_batches([batch]), row_group_size=3_000)
    assert logical_hash_file(stored).digest.hex() == expected


def test_required_field_below_nullable_structs() -> None:
    """Its nulls are those of the structs; where these meet, its slot is hashed."""
    required = pa.struct([pa.field("v", pa.int32(), nullable=False)])
    outer = pa.struct([pa.field("in", required)])
    rows = [None, {"in": {"v": 7}}, {"in": None}, {"in": {"v": 9}}, {"in": None}]
    table = pa.table({"s": pa.array(rows, outer)})
    child = pa.array([7, 7, 0, 9, 0], pa.int32())  # the values 7 and 9, spaced out
    inner = pa.Array.from_buffers(required, 5, [_bitmap("01010")], children=[child])
    struct = pa.Array.from_buffers(outer, 5, [_bitmap("01111")], children=[inner])
    batch = pa.record_batch([struct], ["s"])
    assert logical_hash_file(_file(table)).digest.hex() == naive_hash(batch.schema, [batch])


def _bitmap(bits: str) -> Any:
    return pa.array([bit == "1" for bit in bits]).buffers()[1]
