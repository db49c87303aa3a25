"""Files as data frames."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import types as T

from odf_core.engines.spark.slices.carriers import spark_schema


def empty_frame(session: SparkSession, schema: T.StructType) -> DataFrame:
    """No records; made without PySpark, which would start a Python on an executor for them."""
    java: Any = session._jsparkSession
    jvm: Any = session._jvm
    return DataFrame(
        java.createDataFrame(jvm.java.util.ArrayList(), java.parseDataType(schema.json())), session
    )


def read_in_order(session: SparkSession, files: Sequence[str], schema: pa.Schema) -> DataFrame:
    """The records of `files`, partition by partition in the order of the files.

    A reader for each file: one reader of many packs them by size (spark.md 2.1).
    """
    spark = spark_schema(schema)
    if not files:
        return empty_frame(session, spark)
    frames = [session.read.schema(spark).parquet(file) for file in files]
    return reduce(DataFrame.unionAll, frames)


def read_history(session: SparkSession, files: Sequence[str], schema: pa.Schema) -> DataFrame:
    """All slices so far, in no order; a column that an older slice lacks is null in it (data.md 3.5)."""
    return session.read.schema(spark_schema(schema)).parquet(*files)
