"""The linear parts of a query over new rows."""

from collections.abc import Mapping

from pyspark.sql import DataFrame, SparkSession

from odf_core.engines.spark.transforms.carried import CARRIED
from odf_core.engines.spark.transforms.plans import Plan, array, helper, plan_of_frame


def carried_frame(session: SparkSession, plan: Plan, root: int, frames: Mapping[int, DataFrame]) -> DataFrame:
    """The linear part at `root` over the new rows of its inputs (by number), `CARRIED` behind its columns."""
    java = helper(session)
    rows = [frames[number]._jdf.queryExecution().analyzed() for number in plan.inputs_of(root)]
    node = java.call("node", [plan.java, root])
    made = java.call("carried", [node, array(session, rows), len(CARRIED)])
    return plan_of_frame(session, made)
