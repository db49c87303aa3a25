"""From the text of a query to a plan whose shape is known; plans are kept, since planning takes longer than
a small step.

Inputs stand in the plan as empty files with their schema: had they rows, the optimiser could compute
with them.
"""

import json
import threading
import weakref
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from odf_core.engines.errors import QueryInvalid
from odf_core.engines.spark.gates import check_query
from odf_core.engines.spark.gates.understand import query_invalid
from odf_core.engines.spark.java_source import JavaHelper
from odf_core.engines.spark.transforms.hints import without_hints
from odf_core.engines.spark.transforms.nodes import Node, read_plan
from odf_core.engines.spark.transforms.shape import Shape, leaves, shape_of
from odf_core.engines.transform_calls import SystemNames

_LEAF_FILE = "odf-leaf-"
_MOST_PLANS = 64
_CONF = {
    # Each would change columns or rows of leaves, or look at rows before they are in their final order.
    "spark.sql.optimizer.nestedSchemaPruning.enabled": "false",
    "spark.sql.optimizer.windowGroupLimitThreshold": "-1",
    "spark.sql.execution.replaceHashWithSortAgg": "true",
    # Rows on their way through files keep their microseconds; slices are written by us.
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MICROS",
}


@dataclass(frozen=True, slots=True)
class Step:
    """A query; with an alias a view for those after it."""

    query: str
    alias: str | None


@dataclass(frozen=True, slots=True)
class Table:
    """An input as the query knows it; `names` are those of offset, operation, system and event time."""

    name: str
    schema: T.StructType
    names: SystemNames = ("offset", "op", "system_time", "event_time")


@dataclass(frozen=True, slots=True)
class Plan:
    """An optimised plan in the JVM, its shape, and its result's columns by name and type."""

    java: Any
    shape: Shape
    schema: T.StructType
    on_close: bool

    def inputs_of(self, root: int) -> tuple[int, ...]:
        """For each leaf below a linear part, the number of the input that it reads."""
        (prefix,) = [item for item in self.shape.prefixes if item.number == root]
        return tuple(self.input_of(leaf) for leaf in leaves(prefix))

    def input_of(self, leaf: Node) -> int:
        """The number of the input that a leaf reads."""
        return _input_of(leaf)


_plans: "OrderedDict[tuple[Any, ...], Plan]" = OrderedDict()
_lock = threading.Lock()
_helpers: "weakref.WeakKeyDictionary[Any, JavaHelper]" = weakref.WeakKeyDictionary()


def plan_query(session: SparkSession, steps: Sequence[Step], tables: Sequence[Table], folder: Path) -> Plan:
    """The plan of the last step. Raises `QueryRefused`, `QueryInvalid`."""
    for name, value in _CONF.items():
        session.conf.set(name, value)
    key = (tuple(steps), tuple((item.name, item.schema.json(), item.names) for item in tables))
    with _lock:
        if key in _plans:
            _plans.move_to_end(key)
            return _plans[key]
    plan = _planned(session, steps, tables, folder)
    with _lock:
        _plans[key] = plan
        while len(_plans) > _MOST_PLANS:
            _plans.popitem(last=False)
    return plan


def plan_of_frame(session: SparkSession, java_plan: Any) -> DataFrame:
    """A plan as a data frame."""
    jvm: Any = session._jvm
    dataset = getattr(jvm.org.apache.spark.sql.classic, "Dataset$").__getattr__("MODULE$")
    return DataFrame(dataset.ofRows(session._jsparkSession, java_plan), session)


def helper(session: SparkSession) -> JavaHelper:
    """The compiled OdfPlan of this process's Java."""
    context = session.sparkContext
    with _lock:
        known = _helpers.get(context)
        if known is None:
            known = JavaHelper(session, "transforms/OdfPlan.java", "OdfPlan")
            _helpers[context] = known
        return known


def array(session: SparkSession, items: Sequence[Any]) -> Any:
    """A Java array of objects."""
    gateway: Any = session.sparkContext._gateway
    jvm: Any = session._jvm
    made = gateway.new_array(jvm.java.lang.Object, len(items))
    for index, item in enumerate(items):
        made[index] = item
    return made


def _planned(session: SparkSession, steps: Sequence[Step], tables: Sequence[Table], folder: Path) -> Plan:
    known = set()
    for number, table in enumerate(tables):
        path = folder / f"{_LEAF_FILE}{number}.parquet"
        path.mkdir(parents=True, exist_ok=True)
        session.read.schema(table.schema).parquet(str(path)).createOrReplaceTempView(f"`{table.name}`")
        known.add(table.name)
    on_close = False
    for place, step in enumerate(steps):
        query, closes = without_hints(step.query)
        on_close = on_close or closes
        check_query(session, query, known)
        if place + 1 < len(steps):
            if step.alias is None:
                raise QueryInvalid("A query that is not the last needs an alias, or nothing could read it.")
            session.sql(query).createOrReplaceTempView(f"`{step.alias}`")
            known.add(step.alias)
    state: Any = session._jsparkSession.sessionState()
    jvm: Any = session._jvm
    skip = jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
    try:
        execution = state.executePlan(state.sqlParser().parsePlan(query), skip)
        optimised = execution.optimizedPlan()
    except (AnalysisException, ParseException) as error:
        raise query_invalid(error, query) from error
    java = helper(session).call("unsorted", [optimised])
    root = read_plan(helper(session).call("describe", [java]))
    shape = shape_of(root, {leaf.number: tables[_input_of(leaf)].names[3] for leaf in leaves(root)})
    schema = T.StructType.fromJson(json.loads(execution.analyzed().schema().json()))
    return Plan(java, shape, schema, on_close)


def _input_of(leaf: Node) -> int:
    """It is in the name of the file that stands for the input."""
    return int(leaf.file.rpartition(_LEAF_FILE)[2].partition(".")[0])
