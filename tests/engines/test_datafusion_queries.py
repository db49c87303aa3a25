"""Queries on DataFusion: in a process of their own, over nothing but their tables."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.datafusion.querying import DataFusionQueries
from odf_core.engines.errors import EngineDied, EngineTimeout, QueryInvalid
from odf_core.engines.query_job import Table
from odf_core.errors import NotFound
from odf_core.ingest.merge_job import pack_schema

CITIES = pa.table({"offset": range(5), "City": list("abcde"), "n": [5, 4, 3, 2, 1]})
ENGINE = DataFusionQueries(DataFusionOptions(seconds=60))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Two slices, the later one first, of which the last record does not count."""
    files = []
    for start in (3, 0):
        path = tmp_path / f"{start}.parquet"
        pq.write_table(CITIES.slice(start, 3), path)
        files.append(str(path))
    return Table(files=tuple(files), schema=pack_schema(CITIES.schema), offset_column="offset", max_offset=3)


def ask(table: Table, sql: str, engine: DataFusionQueries = ENGINE, limit: int | None = 100) -> Any:
    def find(name: str) -> Table:
        if name in ("alice/cities", "other"):
            return table
        raise NotFound(f"There is no dataset {name}.")

    return engine.run(sql, find, limit=limit)


def test_tables_are_found_by_the_names_that_the_query_has(table: Table) -> None:
    found = ask(table, 'SELECT "City", n FROM "alice/cities"', limit=3)
    assert found.to_pydict() == {"City": ["a", "b", "c"], "n": [5, 4, 3]}
    sql = (
        'WITH mine AS (SELECT * FROM "alice/cities") SELECT sum(m.n) AS total FROM mine m '
        "JOIN other o ON m.offset = o.offset WHERE o.City IN (SELECT City FROM other WHERE n > 2)"
    )
    assert ask(table, sql).to_pydict() == {"total": [12]}


@pytest.mark.parametrize(
    ("sql", "error", "words"),
    [
        ("SELECT * FROM absent", NotFound, "no dataset absent"),
        ("SELECT * FROM '/etc/passwd'", NotFound, "no dataset /etc/passwd"),
        ("SELECT nothing FROM other", QueryInvalid, "nothing"),
        ("SELEC 1", QueryInvalid, "SELEC"),
        ("SELECT 1; SELECT 2", QueryInvalid, "single SQL statement"),
        ("SELECT now()", QueryInvalid, "something else each time"),
        ("SELECT random(), uuid() FROM other", QueryInvalid, "something else each time"),
        ("CREATE TABLE x AS SELECT 1", QueryInvalid, "DDL not supported"),
        ("CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'", QueryInvalid, "DDL not supported"),
        ("COPY (SELECT 1) TO '/tmp/x.csv'", QueryInvalid, "DML not supported"),
        ("SET datafusion.execution.batch_size = 1", QueryInvalid, "not supported"),
        ("SELECT 1 / (n - n) FROM other", QueryInvalid, "query fails"),
    ],
)
def test_what_is_no_query_over_datasets(table: Table, sql: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        ask(table, sql)


def test_a_query_that_wants_too_much_is_ended(table: Table) -> None:
    forever = "SELECT count(*) FROM generate_series(1, 9000000000000)"
    with pytest.raises(EngineTimeout, match="longer than 1 s"):
        ask(table, forever, DataFusionQueries(DataFusionOptions(seconds=1)))
    greedy = "SELECT array_agg(value) FROM generate_series(1, 9000000000)"
    with pytest.raises((QueryInvalid, EngineDied)):
        ask(table, greedy, DataFusionQueries(DataFusionOptions(seconds=60, memory_bytes=1 << 30)))
