"""From a transformation to a plan that can be evaluated, or to the sentence why not."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from pyspark.sql import SparkSession

from odf_core.engines.errors import QueryRefused
from odf_core.engines.spark.transforms.closing import Closing
from odf_core.engines.spark.transforms.plans import Plan, Step, Table, plan_query
from odf_core.engines.spark.transforms.result import (
    Result,
    refuse_system_columns,
    result_of,
)
from odf_core.engines.transform_calls import SystemNames

NEVER_PRUNED = (
    "The query keeps rows for as long as the dataset lives: no window of event time divides them and no "
    "interval of it bounds their join, so nothing ever leaves its state."
)
NO_KEY = "No column divides the rows of the query, so each step computes the whole result from all of them."


def understood(
    session: SparkSession,
    steps: Sequence[Step],
    tables: Sequence[Table],
    names: SystemNames,
    folder: Path,
) -> tuple[Plan, Result]:
    """The plan of a query and the columns of its result.

    Raises `QueryRefused`, `QueryInvalid`, `InvalidQueryResult`, `UnsupportedColumnType`.
    """
    plan = plan_query(session, steps, tables, folder)
    inputs = [table.names for table in tables]
    result = result_of(plan.schema, plan.shape, names, inputs)
    refuse_system_columns(plan.shape, inputs, plan.input_of)
    if plan.on_close and not plan.shape.window_keys():
        raise QueryRefused(
            "EMIT_ON_CLOSE asks for windows of event time once they are closed, but the query does not group "
            "or join by one.",
            objects=["EMIT_ON_CLOSE"],
        )
    return plan, result


def remarks_on(plan: Plan) -> list[str]:
    """What whoever wrote the query should know."""
    if plan.shape.is_linear:
        return []
    if not plan.shape.keys:
        return [NO_KEY]
    return [] if Closing(plan.shape).happens else [NEVER_PRUNED]


def query_digest(steps: Sequence[Step], plan: Plan) -> str:
    """What a state belongs to: the queries, and the columns of which it keeps rows."""
    kept = [[(column.name, column.type) for column in prefix.output] for prefix in plan.shape.prefixes]
    text = json.dumps([[(step.alias, step.query) for step in steps], [] if plan.shape.is_linear else kept])
    return hashlib.sha3_256(text.encode()).hexdigest()
