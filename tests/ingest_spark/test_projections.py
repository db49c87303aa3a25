"""What a changelog comes to: the fold in memory and that of Spark are the same, on any history."""

import os
import tempfile
from collections import Counter
from datetime import timedelta
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odf_core.chain import AsOfInvalid, AsOfNotFound, parse_moment
from odf_core.data import write_slice
from odf_core.data.records.state import StateTooLarge
from odf_core.data.records.tail import TailRange
from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.querying import SparkQueries
from odf_core.metadata import MergeStrategyAppend, MergeStrategySnapshot, Timestamp
from odf_core.workspace import LocalDataset, Workspace
from odf_core.workspace.queries import query
from odf_core.workspace.tail import resolve_as_of, standing
from tests.builders.chain_builder import FIRST_TIME
from tests.builders.dataset_builder import EVENT_TIME, SLICE_SCHEMA, DatasetBuilder

EXAMPLES = 60 if os.environ.get("ODF_TEST_FULL") else 2
Row = tuple[int, int, str, int | None]
"""Operation, event time in hours, city, population."""

_rows = st.tuples(st.integers(0, 3), st.integers(0, 5), st.sampled_from("ab"), st.none() | st.integers(0, 1))
_histories = st.lists(st.lists(_rows, min_size=1, max_size=8), min_size=1, max_size=3)
_keys = st.sampled_from([("city",), ("population",), ("population", "city"), None])


def made(rounds: list[list[Row]], key: tuple[str, ...] | None) -> tuple[Workspace, LocalDataset]:
    """A dataset `log` of one block per round, each a second after the one before."""
    folder = Path(tempfile.mkdtemp(prefix="odf-p-"))
    builder = DatasetBuilder("log")
    merge = MergeStrategyAppend() if key is None else MergeStrategySnapshot(primary_key=key)
    builder.chain.seed().polling_source(merge=merge).schema()
    for rows in rounds:
        start = builder.next_offset
        columns = {
            "offset": list(range(start, start + len(rows))),
            "op": [row[0] for row in rows],
            "system_time": [FIRST_TIME] * len(rows),
            "event_time": [EVENT_TIME + timedelta(hours=row[1]) for row in rows],
            "city": [row[2] for row in rows],
            "population": [row[3] for row in rows],
        }
        written = write_slice(pa.table(columns, schema=SLICE_SCHEMA), folder / "slice")
        builder.put(written.data_slice, written.path.read_bytes())
        builder.chain.add_data(data_slice=written.data_slice)
    workspace = Workspace.init(folder / "work")
    dataset = workspace.create_from_blocks("log", builder.blocks, builder.write(folder / "there"))
    return workspace, dataset


def bag(table: Any) -> Counter[Any]:
    """Rows as a multiset: their data columns."""
    rows = table.select(["event_time", "city", "population"]).to_pylist()
    return Counter(tuple(row.values()) for row in rows)


def together(sources: list[str]) -> str:
    """One query for many tables, which Spark answers faster; `n` says of which one a row is."""
    parts = [
        f"SELECT {number} AS n, event_time, city, population FROM {source}"
        for number, source in enumerate(sources)
    ]
    return " UNION ALL ".join(parts)


def draw_moment(data: Any, dataset: LocalDataset) -> tuple[str | None, str | None]:
    """As of when, and at which event time."""
    block = data.draw(st.sampled_from(list(dataset.folder.walk())))
    last = resolve_as_of(dataset, "9999-01-01")
    as_of = data.draw(
        st.sampled_from([None, str(block.hash), str(block.block.system_time)]) | st.integers(0, last).map(str)
    )
    hour = data.draw(st.none() | st.integers(-1, 6))
    at = None if hour is None else str(Timestamp.from_datetime(EVENT_TIME + timedelta(hours=hour)))
    return as_of, at


@settings(max_examples=EXAMPLES, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(rounds=_histories, key=_keys, data=st.data())
def test_both_folds_tell_the_same(queries: SparkQueries, rounds: Any, key: Any, data: Any) -> None:
    workspace, dataset = made(rounds, key)
    moments = [draw_moment(data, dataset) for _ in range(4)]
    told = [["null" if item is None else f"'{item}'" for item in moment] for moment in moments]
    on_spark = query(workspace, queries, together([f"to_table(log, {one}, {two})" for one, two in told]))
    for number, (as_of, at) in enumerate(moments):
        until = None if as_of is None else resolve_as_of(dataset, as_of)
        moment = None if at is None else parse_moment(at)
        in_memory = standing(dataset, TailRange(limit=100, as_of=until), at=moment)
        offsets = in_memory.column("offset").to_pylist()
        assert offsets == sorted(offsets)
        assert bag(in_memory) == bag(on_spark.filter(pc.field("n") == number)), (as_of, at)


ROUNDS: list[list[Row]] = [
    [(0, 0, "a", 1), (0, 1, "b", 2)],
    [(2, 0, "a", 1), (3, 3, "a", 5), (1, 1, "b", 2)],
]


@pytest.fixture(scope="module")
def log() -> tuple[Workspace, LocalDataset]:
    return made(ROUNDS, ("city",))


SAYINGS: dict[str, dict[str, int]] = {
    "to_table(log)": {"a": 5},
    "to_table(log, '1')": {"a": 1, "b": 2},
    "to_table(log, 1)": {"a": 1, "b": 2},
    "to_table(log, as_of => '2024-01-01 00:00:03')": {"a": 1, "b": 2},
    "to_table(log, null, '2024-01-01T02:00:00Z')": {"a": 1},
    "to_table(log, at => timestamp'2024-01-01 03:00:00')": {"a": 5},
    "to_table(log, at => date'2023-12-31') AS x": {},
    "log VERSION AS OF 1": {"a": 1, "b": 2},
    "log TIMESTAMP AS OF '2024-01-01T00:00:03Z'": {"a": 1, "b": 2},
    "log TIMESTAMP AS OF timestamp'2024-01-01 00:00:02.5' AS y": {},
}


def test_what_queries_may_say(queries: SparkQueries, log: Any) -> None:
    found = query(log[0], queries, together(list(SAYINGS))).to_pylist()
    for number, (source, expected) in enumerate(SAYINGS.items()):
        rows = {row["city"]: row["population"] for row in found if row["n"] == number}
        assert rows == expected, source


@pytest.mark.parametrize(
    ("source", "error", "words"),
    [
        ("log VERSION AS OF '5'", AsOfNotFound, "no offset 5: its last record has offset 4"),
        ("to_table(log, '5')", AsOfNotFound, "no offset 5"),
        ("log TIMESTAMP AS OF '2023-12-31'", AsOfNotFound, "begins at 2024-01-01"),
        (f"log VERSION AS OF 'f1620{'0' * 64}'", AsOfNotFound, "has no block"),
        ("log VERSION AS OF 'yesterday'", AsOfInvalid, "no offset, no hash"),
        ("log TIMESTAMP AS OF timestamp'now'", AsOfInvalid, "'now' is no time"),
        ("log TIMESTAMP AS OF current_timestamp()", InvalidEngineRequest, "a literal only"),
        ("to_table(log, at => 'soon')", AsOfInvalid, "'soon' is no time"),
        ("to_table(log, '1', '2024-01-01', '2')", InvalidEngineRequest, "to_table takes"),
        ("to_table(log, then => '1')", InvalidEngineRequest, "to_table takes"),
        ("to_table('log')", InvalidEngineRequest, "to_table takes"),
    ],
)
def test_what_a_dataset_does_not_have(
    queries: SparkQueries, log: Any, source: str, error: type[Exception], words: str
) -> None:
    with pytest.raises(error, match=words):
        query(log[0], queries, f"SELECT * FROM {source}")


def test_options_hold_where_the_query_says_nothing(queries: SparkQueries, log: Any) -> None:
    sql = "SELECT l.city, l.population, r.population FROM log l JOIN to_table(log) r ON l.city = r.city"
    found = query(log[0], queries, f"{sql} WHERE l.op = 0", as_of="1", at="2024-01-01")
    assert [list(row.values()) for row in found.to_pylist()] == [["a", 1]]  # names twice: a dict has one
    with pytest.raises(AsOfNotFound):
        query(log[0], queries, "SELECT * FROM log", as_of="7")


def test_a_state_that_is_too_large_for_memory(log: Any) -> None:
    with pytest.raises(StateTooLarge, match="to_table"):
        standing(log[1], max_bytes=100)
    assert standing(log[1], TailRange(limit=1, skip=0, as_of=1)).column("city").to_pylist() == ["b"]
    assert standing(log[1], TailRange(limit=1, skip=1, as_of=1)).column("city").to_pylist() == ["a"]
    assert standing(log[1], TailRange(limit=9, as_of=-1)).num_rows == 0
