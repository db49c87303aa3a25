"""Columns of less usual types from a file to a slice and to answers."""

import datetime as dt
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.data import UnsupportedLogicalHashType
from odf_core.data.records.encode import encode_records
from odf_core.engines.querying import SparkQueries
from odf_core.metadata import (
    MergeStrategyAppend,
    MergeStrategySnapshot,
    ReadStepParquet,
    SqlQueryStep,
    TransformSql,
)
from odf_core.workspace.queries import query
from odf_core.workspace.tail import standing
from tests.ingest_spark.making import Maker

SHIFTS = pa.schema(
    [
        ("id", pa.int64()),
        ("begins", pa.time32("s")),
        ("ends", pa.time64("us")),
        ("breaks", pa.list_(pa.time32("ms"))),
        ("seen", pa.list_(pa.timestamp("us", "UTC"))),
    ]
)


def parquet(folder: Path, rows: list[Any], schema: pa.Schema) -> bytes:
    path = folder / "made.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema), path)
    return path.read_bytes()


def shift(number: int, hour: int) -> dict[str, Any]:
    moment = dt.datetime(2024, 1, 1, 0, 0, 0, 1, tzinfo=dt.UTC)
    return {
        "id": number,
        "begins": dt.time(hour),
        "ends": dt.time(hour, 59, 59, 999999),
        "breaks": [dt.time(hour, 30), None],
        "seen": [moment],
    }


def test_times_of_day_are_merged_stored_and_told(maker: Maker, queries: SparkQueries, tmp_path: Path) -> None:
    maker.with_push(ReadStepParquet(), MergeStrategySnapshot(primary_key=("id",)))
    old = parquet(tmp_path, [shift(1, 8), shift(2, 9)], SHIFTS)
    maker.push(old)
    assert not maker.push(old).is_updated
    maker.push(parquet(tmp_path, [shift(1, 8), shift(2, 10)], SHIFTS))
    assert [row["op"] for row in maker.rows()] == [2, 3]
    stored = maker.table().schema
    assert stored.field("ends").type == pa.time64("us")
    slice_of_seconds = maker.table().column("begins").cast(pa.time64("us")).to_pylist()
    assert slice_of_seconds == [dt.time(9), dt.time(10)]

    sql = "SELECT id, begins, ends, breaks, hour(begins) AS h FROM to_table(foo) WHERE ends > time'10:00:00'"
    (found,) = encode_records(query(maker.workspace, queries, sql))
    assert found == {
        "id": 2,
        "begins": "10:00:00",
        "ends": "10:59:59.999999",
        "breaks": ["10:30:00", None],
        "h": 10,
    }
    in_memory = standing(maker.dataset).select(["id", "begins"])
    assert encode_records(in_memory) == [{"id": 1, "begins": "08:00:00"}, {"id": 2, "begins": "10:00:00"}]


ODD = pa.schema([("d", pa.duration("ms")), ("m", pa.map_(pa.string(), pa.int64()))])
ROWS = [{"d": dt.timedelta(seconds=90), "m": [("a", 1)]}]


def test_what_has_no_logical_hash_can_be_preprocessed_but_not_stored(maker: Maker, tmp_path: Path) -> None:
    query = "SELECT extract(MINUTE FROM d) AS minutes, m['a'] AS a FROM input"
    preprocess = TransformSql(engine="spark", queries=(SqlQueryStep(query=query),))
    maker.with_push(ReadStepParquet(), MergeStrategyAppend(), preprocess=preprocess)
    maker.push(parquet(tmp_path, ROWS, ODD))
    assert [(row["minutes"], row["a"]) for row in maker.rows()] == [(1, 1)]


def test_what_has_no_logical_hash_leaves_nothing(maker: Maker, tmp_path: Path) -> None:
    maker.with_push(ReadStepParquet(), MergeStrategyAppend())
    head = maker.dataset.head
    with pytest.raises(UnsupportedLogicalHashType, match="Column 'd' of type duration"):
        maker.push(parquet(tmp_path, ROWS, ODD))
    assert maker.dataset.head == head
    assert not any((Path(maker.workspace.root) / "work").iterdir())
