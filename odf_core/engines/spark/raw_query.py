"""Queries over files that are no dataset (yet), as `ExecuteRawQuery` asks for them.

Steps are run in order; a step with an alias can be read by later ones, and the last is the result. The
files, of one schema, are the table `input`, in the order of the request. The result is one Parquet file.
"""

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from pyspark.sql import DataFrame, SparkSession

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.messages import RawQueryRequest
from odf_core.engines.spark.gates import check_query
from odf_core.engines.spark.handlers import Progress, register
from odf_core.engines.spark.sharing import Place, open_place

KIND = "raw_query"
INPUT = "input"
ENGINE = "spark"


def request_of(message: RawQueryRequest) -> dict[str, Any]:
    """The deployed message as a request of this kind."""
    transform = message.transform
    steps = [{"alias": step.alias, "query": step.query} for step in transform.queries or ()]
    if transform.query is not None:
        steps.append({"alias": None, "query": transform.query})
    return {
        "engine": transform.engine,
        "steps": steps,
        "inputs": list(message.input_data_paths),
        "output": message.output_data_path,
    }


def raw_query(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    """`{"engine", "steps": [{"alias", "query"}], "inputs": [path], "output": path}` to `{"num_records"}`.

    Raises `InvalidEngineRequest`, `QueryRefused`, `QueryInvalid`.
    """
    steps, inputs, output = request["steps"], request["inputs"], Path(request["output"])
    if request["engine"].lower() != ENGINE:
        raise InvalidEngineRequest(f"The query is for the engine {request['engine']!r}; this is {ENGINE!r}.")
    if not steps or not inputs:
        raise InvalidEngineRequest("A raw query needs at least one step and one input file.")
    with open_place(session, workdir, workdir / "result") as place:
        written = _result(session, steps, place, inputs, progress)
        shutil.move(written, output)
    return {"num_records": pq.read_metadata(output).num_rows}


def _result(
    session: SparkSession, steps: list[dict[str, Any]], place: Place, inputs: list[str], progress: Progress
) -> Path:
    """The file that the steps leave."""
    _read_in_order(session, place.brought(inputs)).createOrReplaceTempView(INPUT)
    tables = {INPUT}
    for step in steps[:-1]:
        if not step["alias"]:
            raise InvalidEngineRequest(
                "A step that is not the last needs an alias, or nothing could read it."
            )
        check_query(session, step["query"], tables)
        session.sql(step["query"]).createOrReplaceTempView(step["alias"])
        tables.add(step["alias"])
    check_query(session, steps[-1]["query"], tables)
    progress("running the query")
    (written,) = place.write(session.sql(steps[-1]["query"]).coalesce(1))
    return written


def _read_in_order(session: SparkSession, inputs: Sequence[str]) -> DataFrame:
    """The files one after the other; a scan of several would order them by size (spark.md 2.1)."""
    first, *rest = (session.read.parquet(path) for path in inputs)
    for frame in rest:
        first = first.unionAll(frame)
    return first


register(KIND, raw_query)
