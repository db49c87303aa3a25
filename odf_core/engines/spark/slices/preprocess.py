"""Preprocessing: SQL over the table `input` (data.md 3.3)."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from odf_core.engines.spark.gates import check_query
from odf_core.engines.spark.slices.frames import empty_frame
from odf_core.errors import InvalidInput
from odf_core.ingest.merge_job import QueryStep

INPUT = "input"


class InvalidPreprocess(InvalidInput):
    """Preprocess steps without exactly one result."""

    code = "invalid_preprocess"


def preprocessed(
    session: SparkSession, frame: DataFrame, declared: T.StructType, steps: Sequence[QueryStep]
) -> tuple[DataFrame, T.StructType]:
    """What the steps make of `frame`, and its schema.

    Spark takes every column of a file for nullable; so the steps are analysed a second time over an empty
    table with the declared columns, and that tells which results cannot be null. Raises
    `InvalidPreprocess`, `QueryRefused`, `QueryInvalid`.
    """
    result = _run(session, frame, steps, checked=True)
    twin = session.newSession()
    schema = _run(twin, empty_frame(twin, declared), steps, checked=False).schema
    return result, schema


def _run(session: SparkSession, frame: DataFrame, steps: Sequence[QueryStep], *, checked: bool) -> DataFrame:
    frame.createOrReplaceTempView(INPUT)
    known = {INPUT}
    result: DataFrame | None = None
    for step in steps:
        if checked:
            check_query(session, step.query, known)
        made = session.sql(step.query)
        if step.alias is not None:
            made.createOrReplaceTempView(step.alias)
            known.add(step.alias)
        elif result is not None:
            raise InvalidPreprocess("Only one step of a preprocess may be without an alias: its result.")
        else:
            result = made
    if result is None:
        raise InvalidPreprocess("One step of a preprocess has to be without an alias: its result.")
    return result
