"""Queries that need the rows that came before: only what new rows can change is computed again (spark.md 3).

The state holds, for each linear part of the query, the rows that it has given so far. New rows change the
result for their keys alone: the query is evaluated over the rows of these keys as they were and as they are,
and the difference is told. Where a key is a window of event time, or an interval of it bounds a join,
rows leave the state when the watermark has closed their window; rows that come later still are counted and
left out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from odf_core.engines.spark.sharing import Place
from odf_core.engines.spark.slices.columns import col
from odf_core.engines.spark.slices.frames import empty_frame
from odf_core.engines.spark.transforms.carried import OFFSET, OP
from odf_core.engines.spark.transforms.changelog import changes
from odf_core.engines.spark.transforms.checkpoint import Memory
from odf_core.engines.spark.transforms.closing import Closing
from odf_core.engines.spark.transforms.linear import carried_frame
from odf_core.engines.spark.transforms.plans import Plan, array, helper, plan_of_frame
from odf_core.engines.spark.transforms.result import Result
from odf_core.engines.spark.transforms.stateless import APPEND, CORRECT_TO
from odf_core.engines.spark.transforms.zset import (
    WEIGHT,
    consolidated,
    expanded,
    flat,
    group_numbers,
    parts_of,
    rebuilt,
)
from odf_core.metadata import Timestamp
from odf_core.transform.errors import QueryStateTooLarge

MOST_UNKEYED_ROWS = 1_000_000
_SMALL_ROWS = 50_000
_COMING = (APPEND, CORRECT_TO)
_COUNT = "__odf_n"
_SIDE = "__odf_new"


@dataclass(slots=True)
class _Part:
    """A linear part in this step: its rows as they were and are for the keys that new rows have, the rest of
    its state, and its columns."""

    number: int
    spark: T.StructType
    arrow: pa.Schema
    delta: pa.Table
    late: int = 0
    old: pa.Table | None = None
    new: pa.Table | None = None
    rest: pa.Table | None = None


def evaluate(
    place: Place,
    plan: Plan,
    result: Result,
    frames: Mapping[int, DataFrame],
    memory: Memory,
    watermark: Timestamp | None,
    is_small: bool,
    scratch: Path,
) -> tuple[pa.Table, int]:
    """The changes of the result (`OP`, then the columns of the slice), and how many rows were late.

    `memory` is brought up to date; its watermark is still that of the step before, `watermark` that of this
    one. Raises `QueryStateTooLarge`, and what Spark raises.
    """
    parts = [_part(place, plan, prefix.number, frames, is_small, scratch) for prefix in plan.shape.prefixes]
    closing = Closing(plan.shape)
    if closing.happens and memory.watermark is not None:
        for part in parts:
            _drop_late(part, closing, memory.watermark)
    late = sum(part.late for part in parts)
    has_news = any(len(part.delta) for part in parts)
    if has_news:
        _divide(parts, plan, memory)
    if plan.on_close:
        told = _on_close(place, plan, result, parts, memory, watermark, closing, scratch)
    elif has_news:
        new = _query(place, plan, result, [(part, part.new) for part in parts], scratch)
        old = (
            _query(place, plan, result, [(part, part.old) for part in parts], scratch)
            if memory.has_begun
            else new.slice(0, 0)
        )
        told = changes(old, new, _pairs(plan, result))
    else:
        told = _nothing(result)
    for part in parts:
        if part.new is not None and part.rest is not None:
            memory.rows[part.number] = pa.concat_tables([part.rest, part.new])
    memory.has_begun = memory.has_begun or has_news
    if closing.happens and watermark is not None:
        _prune(parts, closing, memory, watermark)
    memory.late_rows += late
    return told, late


def _part(
    place: Place,
    plan: Plan,
    number: int,
    frames: Mapping[int, DataFrame],
    is_small: bool,
    scratch: Path,
) -> _Part:
    """What a linear part gives for new rows: weight 1 for rows that came, -1 for those that went."""
    frame = carried_frame(place.session, plan, number, frames)
    spark = T.StructType(
        [T.StructField(f"c{place}", item.dataType) for place, item in enumerate(frame.schema.fields[:-2])]
    )
    names = [item.name for item in spark.fields]
    frame = frame.toDF(*names, OP, OFFSET)
    if is_small:
        table = _weighed(frame.toArrow())
    else:
        sign = F.when(col(OP).isin(*_COMING), F.lit(1)).otherwise(F.lit(-1)).cast("bigint")
        grouped = frame.groupBy(*[col(name) for name in names]) if names else frame.groupBy()
        folded = grouped.agg(F.sum(sign).alias(WEIGHT), F.count(F.lit(1)).alias(_COUNT))
        files = place.at(scratch / f"part-{number}").write(folded)
        table = pa.concat_tables([pq.read_table(file) for file in files])
    counts = table.column(_COUNT)
    arrow = pa.schema([item for item in table.schema if item.name not in (WEIGHT, _COUNT)])
    weights = table.column(WEIGHT).cast(pa.int64())
    rows = flat(table.select(names)) if names else pa.table({"c": pa.nulls(len(table), pa.int8())})
    rows = rows.append_column(WEIGHT, weights).append_column(_COUNT, counts.cast(pa.int64()))
    return _Part(number, spark, arrow, rows)


def _weighed(table: pa.Table) -> pa.Table:
    """The rows with their weights for their operations: for few rows sooner done here than asked of Spark."""
    signs = np.where(np.isin(np.asarray(table.column(OP)), _COMING), 1, -1)
    table = table.drop_columns([OP, OFFSET]).append_column(WEIGHT, pa.array(signs, pa.int64()))
    return table.append_column(_COUNT, pa.array(np.ones(len(signs), np.int64)))


def _drop_late(part: _Part, closing: Closing, watermark: Timestamp) -> None:
    late = closing.late(part.delta, part.number, watermark)
    part.late = int(pc.sum(part.delta.filter(late).column(_COUNT)).as_py() or 0)
    part.delta = part.delta.filter(pc.invert(late))


def _divide(parts: Sequence[_Part], plan: Plan, memory: Memory) -> None:
    """The state into rows of keys that are touched, which are brought up to date, and the rest."""
    deltas = [consolidated(part.delta.drop_columns([_COUNT])) for part in parts]
    states = [memory.rows.get(part.number, part.delta.drop_columns([_COUNT]).slice(0, 0)) for part in parts]
    states = [state.cast(delta.schema) for state, delta in zip(states, deltas, strict=True)]
    if plan.shape.keys:
        names = [
            [name for key in plan.shape.keys for name in parts_of(state, f"c{key[part.number]}")]
            for part, state in zip(parts, states, strict=True)
        ]
        raw = [part.delta for part in parts]
        numbers = group_numbers([*states, *raw], [*names, *names])
        touched = np.unique(np.concatenate(numbers[len(states) :]))
        masks = [pa.array(np.isin(item, touched)) for item in numbers[: len(states)]]
    else:
        masks = [pa.array(np.ones(len(state), bool)) for state in states]
        total = sum(len(state) for state in states) + sum(len(delta) for delta in deltas)
        if total > MOST_UNKEYED_ROWS:
            raise QueryStateTooLarge(
                f"The query keeps nothing together by a key, so each step computes it from all {total} rows; "
                f"at most {MOST_UNKEYED_ROWS} are allowed. Group or join by a column.",
                extras={"rows": total, "limit": MOST_UNKEYED_ROWS},
            )
    for part, state, delta, mask in zip(parts, states, deltas, masks, strict=True):
        part.old, part.rest = state.filter(mask), state.filter(pc.invert(mask))
        part.new = consolidated(pa.concat_tables([part.old, delta]))


def _query(
    place: Place,
    plan: Plan,
    result: Result,
    rows: Sequence[tuple[_Part, pa.Table | None]],
    scratch: Path,
) -> pa.Table:
    """What stands above the linear parts, evaluated over these rows: the columns of the slice."""
    frames = [_frame(place, part, table, scratch) for part, table in rows]
    session = place.session
    made = helper(session).call(
        "substituted",
        [
            plan.java,
            array(session, [part.number for part, _ in rows]),
            array(session, [frame._jdf.queryExecution().analyzed() for frame in frames]),
            array(session, list(plan.shape.canonical)),
        ],
    )
    table = plan_of_frame(session, made).toArrow()
    columns = [
        table.column(column).cast(item.type, safe=False)
        for column, item in zip(result.places, result.columns, strict=True)
    ]
    return pa.table(columns, schema=_loose(result.columns))


def _frame(place: Place, part: _Part, table: pa.Table | None, scratch: Path) -> DataFrame:
    """Rows of a part, each as often as its weight says."""
    session = place.session
    if table is None or not len(table):
        return empty_frame(session, part.spark)
    plain = expanded(table)
    if not len(part.spark.fields):
        return session.range(len(plain)).select()
    rows = rebuilt(plain, part.arrow)
    if len(rows) <= _SMALL_ROWS:
        frame = session.createDataFrame(rows, part.spark)
        # Rows that are in one partition already need no shuffle, which would be a stage more.
        return frame.coalesce(1) if session.conf.get("spark.sql.shuffle.partitions") == "1" else frame
    target = scratch / f"rows-{part.number}-{len(list(scratch.iterdir()))}.parquet"
    pq.write_table(rows, target)
    return session.read.schema(part.spark).parquet(*place.brought([str(target)]))


def _on_close(
    place: Place,
    plan: Plan,
    result: Result,
    parts: Sequence[_Part],
    memory: Memory,
    watermark: Timestamp | None,
    closing: Closing,
    scratch: Path,
) -> pa.Table:
    """Windows that this step's watermark closes, told once and for all."""
    if watermark is None:
        return _nothing(result)
    ending: list[tuple[_Part, pa.Table | None]] = []
    for part in parts:
        held = memory.rows.get(part.number)
        tables = [part.rest, part.new] if part.new is not None else [held]
        known = [table for table in tables if table is not None]
        if not known:
            ending.append((part, None))
            continue
        table = pa.concat_tables(known)
        ending.append((part, table.filter(closing.in_closed_window(table, part.number, watermark))))
    if not any(table is not None and len(table) for _, table in ending):
        return _nothing(result)
    new = _query(place, plan, result, ending, scratch)
    return changes(new.slice(0, 0), new, None)


def _prune(parts: Sequence[_Part], closing: Closing, memory: Memory, watermark: Timestamp) -> None:
    for part in parts:
        table = memory.rows.get(part.number)
        if table is not None:
            leaving = closing.leaving(table, part.number, watermark)
            memory.rows[part.number] = table.filter(pc.invert(leaving))


def _pairs(plan: Plan, result: Result) -> list[int] | None:
    """The keys among the columns of the slice; None where rows of the result show no key."""
    if not plan.shape.keys:
        return []
    places = [result.places.index(place) for place in plan.shape.key_outputs if place in result.places]
    return places or None


def _nothing(result: Result) -> pa.Table:
    table = _loose(result.columns).empty_table()
    return table.add_column(0, OP, pa.array([], pa.int32()))


def _loose(schema: pa.Schema) -> pa.Schema:
    return pa.schema([item.with_nullable(True) for item in schema])
