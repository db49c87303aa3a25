"""Slices compared as tables: what the logical hash and `==` do not tell apart."""

import base64
import math
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.data import InvalidDataFile
from odf_core.limits import Limits
from odf_core.verify.rows import TableDifference, compare_slices

NAN = math.nan
LISTS = pa.list_(pa.float64())
STRUCTS = pa.struct([("x", pa.float32()), ("y", pa.list_(pa.struct([("z", pa.float64())])))])
MAPS = pa.map_(pa.string(), pa.float64())


@pytest.fixture
def compare(tmp_path: Path):
    def compare(one, two, kind=None, most=5, **writing) -> TableDifference:
        paths = []
        for number, content in enumerate((one, two)):
            if content is None:
                paths.append(None)
                continue
            table = content if isinstance(content, pa.Table) else pa.table({"c": pa.array(content, kind)})
            paths.append(tmp_path / f"{number}.parquet")
            pq.write_table(table, paths[-1], **(writing if number else {}))
        return compare_slices(*paths, most=most, limits=Limits())

    return compare


@pytest.mark.parametrize(
    ("kind", "values"),
    [
        (pa.float64(), [NAN, -0.0, 0.0, None, math.inf]),
        (pa.float32(), [NAN, -0.0, None]),
        (pa.string(), ["", None, "ü"]),
        (LISTS, [[NAN, None], [], None, [-0.0]]),
        (STRUCTS, [None, {"x": NAN, "y": [{"z": -0.0}, None]}, {"x": None, "y": None}]),
        (MAPS, [[("a", NAN)], [], None]),
        (pa.decimal128(10, 2), [Decimal("1.10"), None]),
        (pa.timestamp("ms", "UTC"), [datetime(2024, 1, 1, tzinfo=UTC), None]),
        (pa.binary(), [b"\x00", b"", None]),
    ],
)
def test_equal_rows_are_equal(compare, kind, values):
    assert not compare(values, values, kind)
    assert not compare(values * 40, values * 40, kind, row_group_size=7)


@pytest.mark.parametrize(
    ("kind", "one", "two"),
    [
        (pa.int64(), None, 0),
        (pa.float64(), 0.0, -0.0),
        (pa.float64(), NAN, None),
        (pa.float64(), NAN, 1.0),
        (pa.float32(), 0.0, -0.0),
        (pa.string(), "", None),
        (pa.binary(), b"", None),
        (LISTS, [], None),
        (LISTS, [0.0], [-0.0]),
        (LISTS, [None], [0.0]),
        (STRUCTS, None, {"x": None, "y": None}),
        (STRUCTS, {"x": 0.0, "y": []}, {"x": -0.0, "y": []}),
        (STRUCTS, {"x": 0.0, "y": [{"z": 0.0}]}, {"x": 0.0, "y": [{"z": -0.0}]}),
        (MAPS, [("a", 0.0)], [("a", -0.0)]),
    ],
)
@pytest.mark.parametrize("place", [0, 50, 99])
def test_one_row_that_differs_is_found(compare, kind, one, two, place):
    values = [one] * 100
    others = [*values[:place], two, *values[place + 1 :]]
    found = compare(values, others, kind, row_group_size=9)
    assert [row.row for row in found.rows] == [place]


def test_a_day_with_a_rest_is_another_one(tmp_path):
    """Days may be kept as milliseconds; what is left over a whole day is no reason to stop."""
    days, milliseconds = tmp_path / "days", tmp_path / "milliseconds"
    pq.write_table(pa.table({"c": pa.array([1, 2], pa.date32())}), days)
    hint = pa.schema([pa.field("c", pa.date64())]).serialize().to_pybytes()
    plain = pa.table({"c": pa.array([86_400_000, 172_800_001], pa.int64())})
    with pq.ParquetWriter(milliseconds, plain.schema, store_schema=False) as writer:
        writer.write_table(plain)
        writer.add_key_value_metadata({"ARROW:schema": base64.b64encode(hint).decode()})
    for one, two in ((days, milliseconds), (milliseconds, days)):
        (row,) = compare_slices(one, two, most=5, limits=Limits()).rows
        assert row.row == 1


def test_a_null_that_moves(compare):
    """The same item stream, and so the same logical hash."""
    (first, second) = compare([None, 5], [1280, None], pa.int64()).rows
    assert first.to_json() == {"row": 0, "recorded": {"c": None}, "recomputed": {"c": 1280}}
    assert second.recorded == {"c": 5}


def test_only_the_first_rows_are_told(compare):
    found = compare(list(range(100)), list(range(100, 200)), most=3)
    assert [row.row for row in found.rows] == [0, 1, 2]


def test_rows_that_one_of_them_lacks(compare):
    (row,) = compare([1, 2, 3], [1, 2]).rows
    assert (row.row, row.recorded, row.recomputed) == (2, {"c": 3}, None)
    (row,) = compare([1, 2], [1, 2, 3]).rows
    assert (row.row, row.recorded, row.recomputed) == (2, None, {"c": 3})


def test_no_file_is_a_slice_without_rows(compare):
    assert not compare(None, None)
    (row,) = compare(None, [1]).rows
    assert (row.row, row.recorded, row.recomputed) == (0, None, {"c": 1})
    assert compare([1], None)
    assert not compare([], None, pa.int64())


def test_columns(compare):
    one, two = pa.table({"a": [1], "b": [1]}), pa.table({"b": [1], "a": [1]})
    assert "a, b" in compare(one, two).columns[0]
    assert "int64" in compare(pa.table({"a": [1]}), pa.table({"a": [1.0]})).columns[0]


def test_how_texts_lie_in_memory_is_nothing(compare):
    one = pa.table({"a": pa.array(["x", None], pa.string())})
    for kind in (pa.large_string(), pa.string_view()):
        assert not compare(one, pa.table({"a": pa.array(["x", None], kind)}))
        assert compare(one, pa.table({"a": pa.array(["y", None], kind)}))


def test_values_are_fit_for_json(compare):
    table = pa.table(
        {
            "nan": [NAN],
            "time": [datetime(2024, 1, 1, tzinfo=UTC)],
            "bytes": [b"\x01"],
            "decimal": [Decimal("1.5")],
            "text": ["x" * 5000],
            "list": [[math.inf]],
            "struct": [{"a": b"\x02"}],
        }
    )
    (row,) = compare(table, None).rows
    assert row.recorded["nan"] == "nan"
    assert row.recorded["time"] == "2024-01-01T00:00:00+00:00"
    assert (row.recorded["bytes"], row.recorded["decimal"]) == ("01", "1.5")
    assert len(row.recorded["text"]) == 1001
    assert (row.recorded["list"], row.recorded["struct"]) == (["inf"], {"a": "02"})


def test_a_file_that_is_none(tmp_path):
    path = tmp_path / "x"
    path.write_bytes(b"no Parquet file")
    with pytest.raises(InvalidDataFile):
        compare_slices(path, None, most=5, limits=Limits())
