"""The merge strategies (data.md 3.6): what of the input becomes new records, and as which operation.

Each takes the input (data columns, `ROW`, and for the streams the operation types) and the history (all
slices, None before the first), and gives data columns, `OP` and `ROW`. Keys are compared as SQL does:
null is equal to nothing. Ties among input records are settled by `ROW`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce

from pyspark.sql import Column, DataFrame, Window
from pyspark.sql import functions as F

from odf_core.engines.spark.slices.alike import comparable, has_map
from odf_core.engines.spark.slices.columns import OLD, OP, ROW, col, old
from odf_core.engines.spark.slices.state import current_state
from odf_core.ingest.merge_errors import MergeKeyMissing, UnsupportedColumnType
from odf_core.ingest.merge_job import Names, Strategy, StrategyKind

APPEND, RETRACT, CORRECT_FROM, CORRECT_TO = 0, 1, 2, 3
BROADCAST_RECORDS = 1_000_000
"""Up to as many input records, their keys are sent to where the history is, not the history to them."""

_RANK = "__odf_rank"
_FOUND = "__odf_found"
_CHANGES = "__odf_changes"


@dataclass(frozen=True, slots=True)
class Merge:
    """One merge: the input, its data columns in their order, and the history. `given` are the columns that
    the input has of its own: the event time may have been added."""

    new: DataFrame
    columns: tuple[str, ...]
    history: DataFrame | None
    strategy: Strategy
    names: Names
    num_records: int
    given: tuple[str, ...] = ()

    @property
    def key(self) -> tuple[str, ...]:
        """The primary key's columns."""
        return self.strategy.primary_key


def merged(merge: Merge) -> DataFrame:
    """New records: data columns, `OP`, `ROW`. Raises `MergeKeyMissing`, `UnsupportedColumnType`."""
    _require(merge, (*merge.key, *(merge.strategy.compare_columns or ())))
    return _STRATEGIES[merge.strategy.kind](merge)


def _append(merge: Merge) -> DataFrame:
    return _as_appended(merge, merge.new)


def _ledger(merge: Merge) -> DataFrame:
    if merge.history is None:
        return _as_appended(merge, merge.new)
    known = merge.history.select(*[col(name) for name in merge.key])
    if merge.num_records <= BROADCAST_RECORDS:
        # Only keys that the input has are of interest: the history is read once and never shuffled.
        wanted = merge.new.select(*[col(name) for name in merge.key]).distinct()
        known = F.broadcast(known.join(F.broadcast(wanted), _names(merge), "left_semi").distinct())
    return _as_appended(merge, merge.new.join(known, _names(merge), "left_anti"))


def _snapshot(merge: Merge) -> DataFrame:
    if merge.history is None:
        return _as_appended(merge, merge.new)
    state = _state(merge)
    first = merge.key[0]
    compared = merge.strategy.compare_columns
    if compared is None:
        compared = tuple(name for name in merge.columns if name not in merge.key)
    pairs = merge.new.join(state, _same_key(merge), "full_outer").where(_differs(merge, compared))
    return _told(
        merge,
        pairs,
        appended=old(first).isNull(),
        retracted=col(first).isNull(),
        # Without a key on the new side, the values are the old ones, also of what is told as new.
        appended_is_old=col(first).isNull(),
    )


def _changelog(merge: Merge) -> DataFrame:
    operation = merge.names.operation_type
    if operation not in merge.new.columns:
        raise MergeKeyMissing(
            f"ChangelogStream needs a column {operation!r} with the operation type of each record; "
            f"the input has the columns {', '.join(map(repr, merge.given or merge.columns))}.",
            objects=[operation],
        )
    return merge.new.select(*_data(merge), col(operation).cast("int").alias(OP), ROW)


def _upsert(merge: Merge) -> DataFrame:
    last = Window.partitionBy(*[col(name) for name in merge.key]).orderBy(col(ROW).desc())
    batch = merge.new.withColumn(_RANK, F.row_number().over(last)).where(col(_RANK) == 1).drop(_RANK)
    operation = merge.names.operation_type
    deletes = F.coalesce(col(operation), F.lit(0)) == RETRACT if operation in batch.columns else F.lit(False)
    others = tuple(name for name in merge.columns if name not in merge.key)
    if merge.history is None:
        return _as_appended(merge, batch.where(~deletes & _some_value(others)))
    pairs = batch.join(_state(merge), _same_key(merge), "left_outer")
    found = F.coalesce(col(_FOUND), F.lit(False))
    pairs = pairs.where(
        F.when(deletes, found).when(found, _differs(merge, others)).otherwise(_some_value(others))
    )
    return _told(merge, pairs, appended=~found, retracted=deletes, appended_is_old=F.lit(False))


_STRATEGIES: dict[StrategyKind, Callable[[Merge], DataFrame]] = {
    "Append": _append,
    "Ledger": _ledger,
    "Snapshot": _snapshot,
    "ChangelogStream": _changelog,
    "UpsertStream": _upsert,
}


def _told(
    merge: Merge, pairs: DataFrame, *, appended: Column, retracted: Column, appended_is_old: Column
) -> DataFrame:
    """Pairs of new and old record as a changelog: one record, or the two of a correction."""

    def record(operation: int, values: Callable[[str], Column]) -> Column:
        return F.struct(
            F.lit(operation).alias(OP),
            F.coalesce(col(ROW), old(merge.names.offset)).alias(ROW),
            *[values(name).alias(name) for name in merge.columns],
        )

    def new_or_old(name: str) -> Column:
        return F.when(appended_is_old, old(name)).otherwise(col(name))

    changes = (
        F.when(appended, F.array(record(APPEND, new_or_old)))
        .when(retracted, F.array(record(RETRACT, old)))
        .otherwise(F.array(record(CORRECT_FROM, old), record(CORRECT_TO, col)))
    )
    exploded = pairs.select(F.explode(changes).alias(_CHANGES))
    return exploded.select(f"{_CHANGES}.*")


def _state(merge: Merge) -> DataFrame:
    if merge.history is None:
        raise AssertionError("only a merge with history asks for the state")
    state = current_state(merge.history, merge.key, merge.names)
    kept = (*merge.columns, merge.names.offset)
    return state.select(*[col(name).alias(OLD + name) for name in kept], F.lit(True).alias(_FOUND))


def _differs(merge: Merge, compared: Sequence[str]) -> Column:
    """Some compared column is distinct; an event time only where the input has one."""

    types = {item.name: item.dataType for item in merge.new.schema.fields}

    def distinct(name: str) -> Column:
        differs = ~comparable(col(name), types[name]).eqNullSafe(comparable(old(name), types[name]))
        return differs & col(name).isNotNull() if name == merge.names.event_time else differs

    return reduce(lambda one, other: one | other, [distinct(name) for name in compared], F.lit(False))


def _some_value(columns: Sequence[str]) -> Column:
    return reduce(lambda one, other: one | other, [col(name).isNotNull() for name in columns], F.lit(False))


def _same_key(merge: Merge) -> Column:
    return reduce(lambda one, other: one & other, [col(name) == old(name) for name in merge.key])


def _as_appended(merge: Merge, records: DataFrame) -> DataFrame:
    return records.select(*_data(merge), F.lit(APPEND).alias(OP), ROW)


def _data(merge: Merge) -> list[Column]:
    return [col(name) for name in merge.columns]


def _names(merge: Merge) -> list[str]:
    return list(merge.key)


def _require(merge: Merge, wanted: Sequence[str]) -> None:
    if merge.strategy.kind != "Append" and not merge.key:
        raise MergeKeyMissing(f"{merge.strategy.kind} needs a primary key.")
    missing = [name for name in wanted if name not in merge.columns]
    if missing:
        raise MergeKeyMissing(
            f"{merge.strategy.kind} names {', '.join(map(repr, missing))}, but the columns of the input are "
            f"{', '.join(map(repr, merge.given or merge.columns))}; change the input, or the names in the "
            "source's merge strategy.",
            objects=missing,
        )
    maps = [
        item.name for item in merge.new.schema.fields if item.name in merge.key and has_map(item.dataType)
    ]
    if maps:
        raise UnsupportedColumnType(
            f"Column {maps[0]!r} cannot be part of the primary key: its maps have no order.",
            objects=maps,
        )
