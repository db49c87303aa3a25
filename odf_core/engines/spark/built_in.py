"""Calls that the engine answers by itself: `check_query`, whether a query would be allowed."""

from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.spark.gates import check_query
from odf_core.engines.spark.handlers import Progress, register


def _check_query(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """`{"sql", "inputs": {name: DDL of its columns}}`; raises `QueryRefused`, `QueryInvalid`."""
    sql, inputs = request.get("sql"), request.get("inputs")
    if not isinstance(sql, str) or not isinstance(inputs, dict):
        raise InvalidEngineRequest("A check of a query needs `sql` and `inputs`.")
    for name, ddl in inputs.items():
        session.createDataFrame([], schema=str(ddl)).createOrReplaceTempView(str(name))
    check_query(session, sql, set(inputs))
    return {}


register("check_query", _check_query)
