"""The order in which offsets are given (data.md 3.5), and the order of what a query left."""

from typing import Any

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from odf_core.engines.spark.slices.alike import comparable
from odf_core.engines.spark.slices.columns import OP, ROW, col
from odf_core.ingest.merge_job import Names, Strategy

_KEEPS_ORDER = frozenset(
    {"Project", "Filter", "Generate", "Union", "LogicalRelation", "LocalRelation", "Sort"}
)
"""Operators whose output follows the order of their input. A Sort makes one of its own."""


def offset_order(strategy: Strategy, names: Names) -> list[Column]:
    """Keyed strategies go by key and operation, the others by event time; nulls first, ties by source."""
    if strategy.is_keyed:
        keys = [col(name).asc_nulls_first() for name in strategy.primary_key]
        return [*keys, col(OP).asc(), col(ROW).asc()]
    return [col(names.event_time).asc_nulls_first(), col(ROW).asc()]


def with_rows(frame: DataFrame) -> DataFrame:
    """`frame` with `ROW`, rising in its order. Where a query loses the order of the source (a join, an
    aggregate), the records are put in the order of all their columns, so that it is the same each time."""
    if not _keeps_order(frame._jdf.queryExecution().optimizedPlan()):
        columns = [comparable(col(item.name), item.dataType) for item in frame.schema.fields]
        frame = frame.orderBy(*[column.asc_nulls_first() for column in columns])
    return frame.withColumn(ROW, F.monotonically_increasing_id())


def _keeps_order(plan: Any) -> bool:
    if plan.nodeName() not in _KEEPS_ORDER and not plan.nodeName().startswith("Relation"):
        return False
    children = plan.children()
    return all(_keeps_order(children.apply(index)) for index in range(children.size()))
