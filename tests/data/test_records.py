"""Cells as JSON and CSV (data.md 6), and the last records of slices."""

import io
import json
from contextlib import AbstractContextManager, nullcontext
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.data.errors import SliceRowsMismatch, SliceUnreadable
from odf_core.data.records import encode
from odf_core.data.records.cells import column_cells
from odf_core.data.records.encode import RecordsFormat, encode_records, json_text
from odf_core.data.records.errors import RecordsTooLarge, UnsupportedRecordType
from odf_core.data.records.tail import TailRange, read_tail
from odf_core.data.records.times import date_text, timestamp_text
from odf_core.metadata import DataSlice, SetDataSchema
from tests.builders.chain_builder import chain
from tests.builders.dataset_builder import describe, parquet, records

NOON = datetime(2050, 1, 1, 12, tzinfo=UTC)


def cells(values: list[Any], kind: Any) -> list[Any]:
    return column_cells(pa.chunked_array([values[:1], values[1:]], type=kind), "x")


@pytest.mark.parametrize(
    ("kind", "value", "cell"),
    [
        (pa.int8(), -1, -1),
        (pa.int64(), -(1 << 63), -(1 << 63)),
        (pa.uint64(), (1 << 64) - 1, (1 << 64) - 1),
        (pa.bool_(), True, True),
        (pa.float64(), 0.1, 0.1),
        (pa.float64(), float("nan"), None),
        (pa.float64(), float("-inf"), None),
        (pa.float32(), 0.1, 0.1),
        (pa.float32(), 16777216.0, 16777216.0),
        (pa.string(), "ö", "ö"),
        (pa.large_string(), "", ""),
        (pa.string_view(), "x", "x"),
        (pa.binary(), b"\x00\xff", "00ff"),
        (pa.binary(2), b"ab", "6162"),
        (pa.binary_view(), b"a", "61"),
        (pa.decimal128(10, 2), Decimal("1.5"), "1.50"),
        (pa.decimal128(20, 9), Decimal("0.000000001"), "0.000000001"),
        (pa.decimal256(60, 0), Decimal(10**50), "1" + "0" * 50),
        (pa.date32(), date(2020, 2, 29), "2020-02-29"),
        (pa.date64(), date(1969, 12, 31), "1969-12-31"),
        (pa.time32("s"), time(1, 2, 3), "01:02:03"),
        (pa.time32("ms"), time(1, 2, 3, 4000), "01:02:03.004"),
        (pa.time64("us"), time(1, 2, 3, 4), "01:02:03.000004"),
        (pa.time64("ns"), 1, "00:00:00.000000001"),
        (pa.timestamp("ms", "UTC"), NOON, "2050-01-01T12:00:00Z"),
        (pa.timestamp("ms", "UTC"), NOON + timedelta(milliseconds=10), "2050-01-01T12:00:00.010Z"),
        (pa.timestamp("us"), datetime(1969, 1, 1, 0, 0, 0, 1), "1969-01-01T00:00:00.000001"),
        (pa.timestamp("s", "+02:00"), NOON, "2050-01-01T14:00:00+02:00"),
        (pa.timestamp("ns", "Europe/Berlin"), NOON, "2050-01-01T13:00:00+01:00"),
        (pa.duration("ms"), timedelta(milliseconds=1500), "PT1.5S"),
        (pa.duration("s"), timedelta(0), "P0D"),
        (pa.list_(pa.int32()), [1, None, 3], [1, None, 3]),
        (pa.large_list(pa.date32()), [date(2020, 1, 1)], ["2020-01-01"]),
        (pa.list_(pa.float64(), 2), [1.5, float("nan")], [1.5, None]),
        (
            pa.struct([("a", pa.binary()), ("b", pa.list_(pa.int8()))]),
            {"a": b"x", "b": []},
            {"a": "78", "b": []},
        ),
        (pa.dictionary(pa.int8(), pa.string()), "x", "x"),
    ],
)
def test_cells(kind: Any, value: Any, cell: Any) -> None:
    array = pa.chunked_array([pa.array([None, value], kind), pa.array([value, None], kind)])
    assert column_cells(array, "x") == [None, cell, cell, None]
    assert column_cells(array.slice(1, 2), "x") == [cell, cell]
    json.loads(json_text(column_cells(array, "x")))


def test_lists_of_structs_with_holes() -> None:
    kind = pa.list_(pa.struct([("a", pa.int8()), ("b", pa.struct([("c", pa.string())]))]))
    values = [None, [], [None, {"a": 1, "b": None}], [{"a": None, "b": {"c": "x"}}]]
    assert column_cells(pa.array(values, kind), "x") == values
    assert column_cells(pa.array(values, kind)[2:], "x") == values[2:]


@given(st.datetimes(timezones=st.just(UTC)))
def test_timestamps_are_those_of_datetime(moment: datetime) -> None:
    nanos = ((moment - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)) * 1000
    assert timestamp_text(nanos)[:19] == moment.strftime("%Y").zfill(4) + moment.strftime("-%m-%dT%H:%M:%S")


def test_years_that_datetime_lacks() -> None:
    days = (date(9999, 12, 31) - date(1970, 1, 1)).days
    assert (date_text(days), date_text(days + 1)) == ("9999-12-31", "+10000-01-01")
    assert date_text(-719_529) == "-0001-12-31"
    column = pa.array([1 << 62, -(1 << 62)], pa.timestamp("ms", "Europe/Berlin"))
    assert all(str(cell).endswith("Z") for cell in column_cells(column, "x"))


@pytest.mark.parametrize("kind", [pa.map_(pa.string(), pa.int8()), pa.month_day_nano_interval()])
def test_types_without_cells(kind: Any) -> None:
    for form in RecordsFormat:
        with pytest.raises(UnsupportedRecordType, match="'x'"):
            encode_records(pa.table({"x": pa.nulls(1, kind)}), form)


TABLE = pa.table(
    {
        "n": pa.array([1, None], pa.int64()),
        "f": pa.array([1.0, float("nan")]),
        "t": ["a,b", 'say "x"\n'],
        "l": [[1], None],
    }
)


def test_forms() -> None:
    assert encode_records(TABLE) == [
        {"n": 1, "f": 1.0, "t": "a,b", "l": [1]},
        {"n": None, "f": None, "t": 'say "x"\n', "l": None},
    ]
    assert encode_records(TABLE, RecordsFormat.JSON_AOA)[0] == [1, 1.0, "a,b", [1]]
    assert encode_records(TABLE, RecordsFormat.JSON_SOA)["l"] == [[1], None]
    assert encode_records(TABLE, RecordsFormat.CSV) == 'n,f,t,l\n1,1.0,"a,b",[1]\n,NaN,"say ""x""\n",'
    assert encode_records(TABLE.slice(0, 0), RecordsFormat.CSV) == "n,f,t,l"
    assert encode_records(pa.table({}), RecordsFormat.JSON_AOS) == []
    assert json_text([0.5, 1e-7, 0.1]) == "[0.5,1e-7,0.1]"


def test_columns_hold_no_structs_and_not_everything(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnsupportedRecordType, match="structs"):
        encode_records(pa.table({"x": [[{"a": 1}]]}), RecordsFormat.JSON_SOA)
    monkeypatch.setattr(encode, "MOST_COLUMN_BYTES", 10)
    with pytest.raises(RecordsTooLarge):
        encode_records(TABLE, RecordsFormat.JSON_SOA)


class Slices:
    """Slices of the given numbers of records, and which of their files were opened."""

    def __init__(self, *counts: int, row_group: int | None = None) -> None:
        self.files: dict[DataSlice, bytes] = {}
        self.opened: list[int] = []
        start = 0
        for count in counts:
            content = parquet(records(start, count))
            if row_group is not None:
                out = io.BytesIO()
                pq.write_table(pq.read_table(io.BytesIO(content)), out, row_group_size=row_group)
                content = out.getvalue()
            self.files[describe(content, start, count)] = content
            start += count

    def open(self, item: DataSlice) -> AbstractContextManager[Any]:
        self.opened.append(item.offset_interval.start)
        return nullcontext(io.BytesIO(self.files[item]))

    def tail(self, limit: int, skip: int = 0, schema: SetDataSchema | None = None) -> list[int]:
        self.opened.clear()
        schema = schema or chain().seed().schema().last_event(SetDataSchema)
        newest_first = list(reversed(self.files))
        table = read_tail(newest_first, self.open, schema, TailRange(limit, skip))
        offsets: list[int] = table.column("offset").to_pylist()
        return offsets


def test_only_the_files_that_are_needed_are_opened() -> None:
    slices = Slices(10, 10, 10)
    assert slices.tail(3) == [27, 28, 29]
    assert slices.opened == [20]
    assert slices.tail(10) == list(range(20, 30))
    assert slices.opened == [20]
    assert slices.tail(3, skip=12) == [15, 16, 17]
    assert slices.opened == [10]
    assert slices.tail(4, skip=8) == [18, 19, 20, 21]
    assert slices.opened == [20, 10]
    assert slices.tail(100) == list(range(30))
    assert slices.tail(5, skip=28) == [0, 1]
    assert slices.tail(0) == slices.tail(5, skip=30) == slices.tail(5, skip=99) == []


@given(st.lists(st.integers(1, 9), min_size=1, max_size=4), st.integers(0, 20), st.integers(0, 20))
def test_any_tail_is_that_of_all_records(counts: list[int], limit: int, skip: int) -> None:
    every = list(range(sum(counts)))
    kept = every[: max(0, len(every) - skip)]
    assert Slices(*counts, row_group=2).tail(limit, skip) == kept[max(0, len(kept) - limit) :]


def test_only_the_row_groups_that_are_needed_are_read() -> None:
    slices = Slices(100, row_group=10)
    (item,) = slices.files
    content = bytearray(slices.files[item])
    meta = pq.ParquetFile(io.BytesIO(bytes(content))).metadata
    for group in range(9):  # damage everything before the last row group
        chunk = meta.row_group(group).column(4)
        start = chunk.dictionary_page_offset or chunk.data_page_offset
        content[start : start + chunk.total_compressed_size] = b"\xff" * chunk.total_compressed_size
    slices.files[item] = bytes(content)
    assert slices.tail(5) == [95, 96, 97, 98, 99]
    with pytest.raises(SliceUnreadable):
        slices.tail(15)


def test_columns_of_the_schema_in_its_order() -> None:
    from odf_core.metadata import DataField, DataTypeOption, DataTypeString
    from tests.builders.chain_builder import CITY_FIELDS

    later = (*CITY_FIELDS[::-1], DataField(name="mayor", type=DataTypeOption(inner=DataTypeString())))
    schema = chain().seed().schema(*later).last_event(SetDataSchema)
    slices = Slices(3)
    table = read_tail(list(slices.files), slices.open, schema, TailRange())
    assert table.column_names[4:] == ["population", "city", "mayor"]
    assert table.column("mayor").null_count == 3
    assert read_tail(list(slices.files), slices.open, None, TailRange()).num_rows == 0


def test_a_file_that_is_not_the_slice() -> None:
    slices = Slices(10)
    (item,) = slices.files
    slices.files[item] = parquet(records(0, 9))
    with pytest.raises(SliceRowsMismatch):
        slices.tail(1)
    slices.files[item] = b"PAR1"
    with pytest.raises(SliceUnreadable):
        slices.tail(1)
