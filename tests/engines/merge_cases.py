"""Merge cases as Parquet files and back: what the engine is asked, and what it has to answer."""

import datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.ingest.merge_job import (
    OP_COLUMN,
    MergeEngine,
    MergeJob,
    Names,
    Strategy,
    pack_schema,
)

TYPES = {
    "offset": pa.int64(),
    "op": pa.int32(),
    "year": pa.date32(),
    "city": pa.string(),
    "kind": pa.string(),
    "population": pa.int64(),
}
"""An event time has to be a time, so a year is its first day here."""


def merge_rows(
    engine: MergeEngine,
    folder: Path,
    *,
    strategy: Strategy,
    columns: list[str],
    new: list[dict[str, Any]],
    history: list[dict[str, Any]] | None,
    pieces: int = 1,
) -> list[dict[str, Any]]:
    """The rows that the engine leaves. `pieces`: over how many files input and history are spread."""
    data = [name for name in columns if name != "op"]
    known = ["offset", "op", *[name for name in ("year", "city", "kind", "population") if name in data]]
    told = [{"offset": number, "op": 0} | row for number, row in enumerate(history or [])]
    job = MergeJob(
        input_files=_files(folder / "new", new, columns, pieces),
        input_schema=pack_schema(_schema(columns)),
        num_records=len(new),
        strategy=strategy,
        names=Names(event_time="year"),
        history_files=_files(folder / "old", told, known, pieces) if told else (),
        history_schema=pack_schema(_schema(known)) if told else None,
    )
    with engine.merge(job) as outcome:
        tables = [pq.read_table(part) for part in outcome.parts]
    rows = [row for table in tables for row in table.to_pylist()]
    return [{"op": row.pop(OP_COLUMN)} | _plain(row) for row in rows]


def strategy_of(kind: str, params: dict[str, Any]) -> Strategy:
    compare = params.get("compare_columns")
    return Strategy(
        kind=kind,  # type: ignore[arg-type]
        primary_key=tuple(params.get("primary_key", ())),
        compare_columns=tuple(compare) if compare else None,
    )


def _schema(columns: list[str]) -> pa.Schema:
    return pa.schema([(name, TYPES[name]) for name in columns])


def _files(folder: Path, rows: list[dict[str, Any]], columns: list[str], pieces: int) -> tuple[str, ...]:
    folder.mkdir(parents=True)
    each = max(1, -(-len(rows) // pieces))
    files = []
    for start in range(0, max(1, len(rows)), each):
        path = folder / f"{start}.parquet"
        listed = [_typed(row, columns) for row in rows[start : start + each]]
        pq.write_table(pa.Table.from_pylist(listed, _schema(columns)), path)
        files.append(str(path))
    return tuple(files)


def _typed(row: dict[str, Any], columns: list[str]) -> dict[str, Any]:
    return {name: _date(row.get(name)) if name == "year" else row.get(name) for name in columns}


def _date(year: int | None) -> datetime.date | None:
    return None if year is None else datetime.date(year, 1, 1)


def _plain(row: dict[str, Any]) -> dict[str, Any]:
    return {name: value.year if isinstance(value, datetime.date) else value for name, value in row.items()}
