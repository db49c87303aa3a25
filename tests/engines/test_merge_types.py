"""Columns of every type through every strategy, back as they were; and as queries see them."""

import datetime as dt
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.query_job import Fold, QueryJob, Table
from odf_core.engines.querying import SparkQueries
from odf_core.ingest.carried import uncarried
from odf_core.ingest.merge_errors import UnsupportedColumnType
from odf_core.ingest.merge_job import (
    OP_COLUMN,
    MergeEngine,
    MergeJob,
    Names,
    QueryStep,
    Strategy,
    pack_schema,
    unpack_schema,
)

A, R, C0, C1 = range(4)
INSTANT = pa.timestamp("ms", "UTC")
_item = pa.field("item", pa.time32("s"))

TYPES: dict[str, tuple[pa.DataType, Any, Any]] = {
    "bool": (pa.bool_(), False, True),
    "int8": (pa.int8(), -128, 127),
    "int16": (pa.int16(), -(1 << 15), 1),
    "int32": (pa.int32(), 1, 2),
    "int64": (pa.int64(), -(1 << 63), (1 << 63) - 1),
    "uint8": (pa.uint8(), 0, 255),
    "uint16": (pa.uint16(), 0, (1 << 16) - 1),
    "uint32": (pa.uint32(), 0, (1 << 32) - 1),
    "uint64": (pa.uint64(), 0, (1 << 64) - 1),
    "float32": (pa.float32(), 0.5, -1.5),
    "float64": (pa.float64(), 0.1, 1e300),
    "string": (pa.string(), "", "ü"),
    "binary": (pa.binary(), b"", b"\x00\xff"),
    "fixed": (pa.binary(2), b"ab", b"cd"),
    "decimal": (pa.decimal128(38, 4), Decimal("-1.0001"), Decimal("1E30")),
    "date": (pa.date32(), dt.date(1, 1, 1), dt.date(9999, 12, 31)),
    "timestamp": (INSTANT, 0, 1_700_000_000_001),
    "time_s": (pa.time32("s"), dt.time(0, 0, 1), dt.time(23, 59, 59)),
    "time_ms": (pa.time32("ms"), dt.time(0, 0, 0, 1000), dt.time(23, 59, 59, 999000)),
    "time_us": (pa.time64("us"), dt.time(0, 0, 0, 1), dt.time(23, 59, 59, 999999)),
    "duration_s": (pa.duration("s"), dt.timedelta(0), dt.timedelta(-5)),
    "duration_ms": (pa.duration("ms"), dt.timedelta(milliseconds=1), dt.timedelta(400)),
    "duration_us": (pa.duration("us"), dt.timedelta(microseconds=-1), dt.timedelta(1)),
    "list": (pa.list_(pa.uint64()), [], [None, (1 << 64) - 1]),
    "list_of_times": (pa.list_(_item), [dt.time(1)], [dt.time(1), None]),
    "pair": (pa.list_(pa.time64("us"), 2), [dt.time(1), dt.time(2)], [dt.time(2), dt.time(1)]),
    "struct": (
        pa.struct([("t", pa.time32("ms")), ("n", pa.uint32()), ("l", pa.list_(INSTANT))]),
        {"t": dt.time(1), "n": 1, "l": [0]},
        {"t": None, "n": (1 << 32) - 1, "l": [1, None]},
    ),
    "map": (pa.map_(pa.string(), pa.int64()), [("b", 1), ("a", 2)], [("a", 2), ("b", None)]),
    "map_of_times": (pa.map_(pa.time32("s"), pa.duration("ms")), [], [(dt.time(1), dt.timedelta(1))]),
    "maps_inside": (
        pa.list_(pa.struct([("m", pa.map_(pa.string(), pa.uint64()))])),
        [{"m": [("y", 1), ("x", 2)]}],
        [{"m": [("y", 1), ("x", (1 << 64) - 1)]}, None],
    ),
}
"""A type, and two values of it that are not alike."""

COLUMNS = pa.schema([(name, kind) for name, (kind, _, _) in TYPES.items()])
FIRST = {name: one for name, (_, one, _) in TYPES.items()}
SYSTEM = [("offset", pa.int64()), ("op", pa.int32()), ("event_time", INSTANT)]
NAMES = Names()


def reordered(values: dict[str, Any]) -> dict[str, Any]:
    """The same values: maps have no order."""
    inside = [{"m": list(reversed(values["maps_inside"][0]["m"]))}]
    return values | {"map": list(reversed(values["map"])), "maps_inside": inside}


def rows_of_first() -> list[dict[str, Any]]:
    return [{"id": name, **FIRST} for name in [*TYPES, "null", "same"]]


def rows_of_second() -> list[dict[str, Any]]:
    """In each row the column that it is named after has changed; in one all become null, in one nothing
    changes."""
    changed = [{"id": name, **FIRST, name: two} for name, (_, _, two) in TYPES.items()]
    return [
        *changed,
        {"id": "null", **dict.fromkeys(TYPES)},
        {"id": "same", **reordered(FIRST)},
    ]


def table_of(rows: list[dict[str, Any]], system: list[Any]) -> Any:
    fields = [*system, ("id", pa.string()), *COLUMNS]
    return pa.Table.from_pylist(rows, pa.schema(fields))


def written(folder: Path, name: str, table: Any) -> tuple[str, ...]:
    path = folder / f"{name}.parquet"
    pq.write_table(table, path)
    return (str(path),)


def merge(
    engine: MergeEngine,
    folder: Path,
    kind: str,
    *,
    op: bool = False,
    key: tuple[str, ...] = ("id",),
    **job: Any,
) -> tuple[list[int], Any]:
    """Operations, and the records with the types that the outcome names."""
    old = [{"offset": n, "op": A, "event_time": 0, **row} for n, row in enumerate(rows_of_first())]
    history = table_of(old, SYSTEM)
    rows = [row | {"op": C1, "event_time": 0} for row in rows_of_second()]
    new = table_of(rows, [SYSTEM[2], *([SYSTEM[1]] if op else [])])
    asked = MergeJob(
        input_files=written(folder, "new", new),
        input_schema=pack_schema(new.schema),
        num_records=len(rows),
        strategy=Strategy(kind=kind, primary_key=() if kind == "Append" else key),  # type: ignore[arg-type]
        names=NAMES,
        history_files=written(folder, "old", history),
        history_schema=pack_schema(history.schema),
        **job,
    )
    with engine.merge(asked) as outcome:
        left = pa.concat_tables([pq.read_table(part) for part in outcome.parts])
        schema = unpack_schema(outcome.schema)
    columns = [uncarried(left.column(item.name).combine_chunks(), item.type) for item in schema]
    return left.column(OP_COLUMN).to_pylist(), pa.Table.from_arrays(columns, schema=schema)


def values(table: Any) -> list[dict[str, Any]]:
    """Rows by id, maps as sets of entries."""
    return table.select(["id", *TYPES]).to_pylist(maps_as_pydicts="strict")  # type: ignore[no-any-return]


def expected(rows: list[dict[str, Any]]) -> dict[str, Any]:
    return {row["id"]: row for row in values(table_of(rows, []))}


@pytest.mark.parametrize("kind", ["Append", "Ledger", "Snapshot", "ChangelogStream", "UpsertStream"])
def test_every_type_through_every_strategy(merge_engine: MergeEngine, tmp_path: Path, kind: str) -> None:
    first, second = expected(rows_of_first()), expected(rows_of_second())
    key = ("id", "string") if kind == "Ledger" else ("id",)
    ops, table = merge(merge_engine, tmp_path, kind, op=kind.endswith("Stream"), key=key)
    found = list(zip(ops, values(table), strict=True))
    assert table.schema.remove_metadata().field("time_s").type == pa.time32("s")
    assert all(table.schema.field(name).type == item[0] for name, item in TYPES.items())
    if kind in ("Snapshot", "UpsertStream"):
        changed = {*TYPES, "null"}
        if kind == "UpsertStream":
            assert {row["id"] for op, row in found} == changed
        assert {row["id"]: row for op, row in found if op == C0} == {name: first[name] for name in changed}
        assert {row["id"]: row for op, row in found if op == C1} == {name: second[name] for name in changed}
    elif kind == "Ledger":
        assert [(op, row["id"]) for op, row in found] == [(A, "string"), (A, "null")]
    else:
        assert {op for op, _ in found} == {C1 if kind == "ChangelogStream" else A}
        assert {row["id"]: row for _, row in found} == second


KEYS = tuple(name for name in TYPES if "map" not in name)


def test_every_type_but_maps_as_a_key(merge_engine: MergeEngine, tmp_path: Path) -> None:
    """All columns are the key: what differs in one is another record."""
    ops, table = merge(merge_engine, tmp_path, "Ledger", key=("id", *KEYS))
    assert [row["id"] for row in values(table)] == [*KEYS, "null"]
    assert set(ops) == {A}
    for name in ("map", "maps_inside"):
        with pytest.raises(UnsupportedColumnType, match=f"{name}' cannot be part of the primary key"):
            merge(merge_engine, tmp_path, "Snapshot", key=("id", name))


def test_queries_see_times_as_times(merge_engine: MergeEngine, tmp_path: Path) -> None:
    """A column that a preprocess query leaves alone keeps its type; one that it makes has microseconds."""
    names = ", ".join(f"`{name}`" for name in TYPES)
    sql = (
        f"SELECT event_time, id, {names}, time_s + interval '1' second AS later, duration_ms * 2 AS twice, "
        f"hour(time_us) AS hour, time_s - time'00:00:00' AS since, map['b'] AS b FROM input "
        f"WHERE time_s < time'12:00:00'"
    )
    _, table = merge(
        merge_engine, tmp_path, "Append", preprocess=(QueryStep(query=sql),), preprocess_engine="spark"
    )
    assert all(table.schema.field(name).type == item[0] for name, item in TYPES.items())
    second = expected(rows_of_second())
    found = {row["id"]: row for row in values(table)}
    assert found == {name: row for name, row in second.items() if name not in ("time_s", "null")}
    row = table.select(["later", "twice", "hour", "since", "b"]).to_pylist()[0]
    assert row == {
        "later": dt.time(0, 0, 2),
        "twice": dt.timedelta(milliseconds=2),
        "hour": 0,
        "since": dt.timedelta(seconds=1),
        "b": 1,
    }


def test_a_query_over_every_type(merge_engine: Any, spark_engine: Any, tmp_path: Path) -> None:
    old = [{"offset": n, "op": A, "event_time": 0, **row} for n, row in enumerate(rows_of_first())]
    history = table_of(old, SYSTEM)
    table = Table(
        files=written(tmp_path, "old", history), schema=pack_schema(history.schema), offset_column="offset"
    )
    folded = Table(
        files=table.files,
        schema=table.schema,
        offset_column="offset",
        fold=Fold(primary_key=(), names=NAMES),
    )
    queries = SparkQueries(spark_engine, 120.0)
    for view in (table, folded):
        found = queries.run(QueryJob(sql="SELECT * FROM t", tables={"t": view}))
        assert {row["id"]: row for row in values(found)} == expected(rows_of_first())
        assert found.schema.field("time_s").type == pa.time64("us")
        assert found.schema.field("duration_s").type == pa.duration("us")


def test_types_that_cannot_be_carried_are_a_sentence(merge_engine: MergeEngine, tmp_path: Path) -> None:
    for number, kind in enumerate((pa.decimal256(60, 2), pa.float16(), pa.null())):
        table = pa.table({"odd": pa.array([None], kind)})
        job = MergeJob(
            input_files=written(tmp_path, f"{number}", table),
            input_schema=pack_schema(table.schema),
            num_records=1,
            strategy=Strategy(kind="Append"),
            names=NAMES,
        )
        with pytest.raises(UnsupportedColumnType, match="Column 'odd' has the type"), merge_engine.merge(job):
            pass
