"""The Parquet read step."""

import datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from odf_core.ingest.read import (
    DuplicateInputColumn,
    InputLimitExceeded,
    MalformedInput,
    UnsupportedInputType,
    ValueDoesNotFit,
)
from odf_core.limits import Limits
from odf_core.metadata import ReadStepParquet
from tests.ingest.read_helpers import parquet_bytes, rows, stage, types

SECOND = datetime.datetime(1970, 1, 1, 0, 0, 1, tzinfo=datetime.UTC)
TABLE = pa.table(
    {
        "words": pa.array(["x", None]).dictionary_encode(),
        "naive": pa.array([1_000_000_123, None], pa.timestamp("ns")),
        "zoned": pa.array([1000, None], pa.timestamp("ms", "Europe/Kyiv")),
        "large": pa.array(["x", None], pa.large_string()),
        "nothing": pa.nulls(2),
        "unsigned": pa.array([1, 1 << 63], pa.uint64()),
        "nested": pa.array([{"a": [1]}, None], pa.struct([("a", pa.large_list(pa.int8()))])),
        "text": ["1", "z"],
        "big": [1, 1 << 40],
    }
)


def test_the_files_own_schema_made_plain(tmp_path):
    staged = stage(ReadStepParquet(), parquet_bytes(TABLE), tmp_path)
    assert types(staged) == {
        "words": "string",
        "naive": "timestamp[us, tz=UTC]",
        "zoned": "timestamp[ms, tz=UTC]",
        "large": "string",
        "nothing": "string",
        "unsigned": "uint64",
        "nested": "struct<a: list<element: int8>>",
        "text": "string",
        "big": "int64",
    }
    first = rows(staged)[0]
    assert (first["words"], first["naive"], first["zoned"]) == ("x", SECOND, SECOND)
    assert not staged.has_read_schema


def test_required_columns_stay_required_in_the_schema(tmp_path):
    table = pa.table({"a": [1]}, schema=pa.schema([pa.field("a", pa.int64(), nullable=False)]))
    assert types(stage(ReadStepParquet(), parquet_bytes(table), tmp_path)) == {"a": "int64!"}


def test_a_schema_is_matched_by_name_and_values_are_cast(tmp_path):
    step = ReadStepParquet(ddl_schema=("big DOUBLE", "missing INT", "naive TIMESTAMP", "words STRING"))
    staged = stage(step, parquet_bytes(TABLE), tmp_path)
    assert rows(staged)[0] == {"big": 1.0, "missing": None, "naive": SECOND, "words": "x"}
    assert staged.has_read_schema
    table = pa.table({"t": ["2020-01-01"], "m": ["1.5"]})
    staged = stage(ReadStepParquet(ddl_schema=("t DATE", "m DECIMAL(4,2)")), parquet_bytes(table), tmp_path)
    assert rows(staged) == [{"t": datetime.date(2020, 1, 1), "m": Decimal("1.50")}]


@pytest.mark.parametrize(("column", "ddl"), [("big", "INT"), ("text", "INT"), ("unsigned", "BIGINT")])
def test_values_that_do_not_fit_are_refused_with_their_row(tmp_path, column, ddl):
    with pytest.raises(ValueDoesNotFit) as caught:
        stage(ReadStepParquet(ddl_schema=(f"{column} {ddl}",)), parquet_bytes(TABLE), tmp_path)
    assert caught.value.extras == {"file": "input.dat", "row": 2, "column": column}
    assert list((tmp_path / "staged").iterdir()) == []


def test_types_that_cannot_be_cast_are_refused(tmp_path):
    with pytest.raises(UnsupportedInputType) as caught:
        stage(ReadStepParquet(ddl_schema=("nested INT",)), parquet_bytes(TABLE), tmp_path)
    assert caught.value.extras["column"] == "nested"


def test_two_columns_of_one_name_are_refused(tmp_path):
    table = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["a", "a"])
    for step in (ReadStepParquet(), ReadStepParquet(ddl_schema=("a INT",))):
        with pytest.raises(DuplicateInputColumn):
            stage(step, parquet_bytes(table), tmp_path)


def test_damaged_and_oversized_files_are_refused(tmp_path):
    data = parquet_bytes(TABLE)
    for damaged in (
        b"PAR1",
        b"no parquet at all",
        data[:-20],
        data[: len(data) // 2],
        data[:4] + data[-300:],
    ):
        with pytest.raises(MalformedInput, match="no Parquet file"):
            stage(ReadStepParquet(), damaged, tmp_path)
    with pytest.raises(InputLimitExceeded):
        stage(ReadStepParquet(), data, tmp_path, limits=Limits(slice_columns=2))


def test_an_empty_file_and_an_empty_table(tmp_path):
    assert stage(ReadStepParquet(), b"", tmp_path) is None
    staged = stage(ReadStepParquet(), parquet_bytes(TABLE.slice(0, 0)), tmp_path)
    assert (staged.files, staged.num_records) == ((), 0)
    assert staged.schema.names == TABLE.column_names


def test_many_row_groups_become_few_files(tmp_path):
    import pyarrow.parquet as pq

    sink = pa.BufferOutputStream()
    pq.write_table(pa.table({"n": range(30_000)}), sink, row_group_size=100)
    staged = stage(ReadStepParquet(), sink.getvalue().to_pybytes(), tmp_path, split_bytes=100_000)
    assert len(staged.files) == 3
    assert [row["n"] for row in rows(staged)] == list(range(30_000))
