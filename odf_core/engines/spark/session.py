"""The Spark session of the engine, with every setting that a result could depend on.

The settings are part of the engine's identity: no query can change them (`SET` is refused by the gates).
"""

import os
import sys
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from odf_core.engines.options import SparkOptions
from odf_core.engines.spark.sharing import EXCHANGE_CONF

RESULT_CONF = {
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.ansi.enabled": "true",
    # Without it "x" would be text here and a column elsewhere in ODF: one meaning for all engines.
    "spark.sql.ansi.doubleQuotedIdentifiers": "true",
    "spark.sql.parquet.outputTimestampType": "TIMESTAMP_MILLIS",
    "spark.sql.parquet.compression.codec": "snappy",
    # Replacement of ${env:X} happens before parsing, out of sight of the gates (spark.md 1.3).
    "spark.sql.variable.substitute": "false",
    "spark.sql.runSQLOnFiles": "false",
    "spark.sql.caseSensitive": "false",
    # Times of day are a type that Spark 4.3 has but hides.
    "spark.sql.timeType.enabled": "true",
    "spark.sql.legacy.timeParserPolicy": "CORRECTED",
}
"""Settings that decide about values."""

LOCAL_PARTITIONS = 4
SUBMITTED = "spark.jars"


def submitted_conf(options: SparkOptions, cache: Path) -> tuple[tuple[str, str], ...]:
    """Settings for jars that Spark fetches when it starts (`spark.jars.packages`, for S3), kept in a cache.

    They stand in a command line that others can see: nothing else of the options does.
    """
    named = tuple((name, value) for name, value in options.conf if name.startswith(SUBMITTED))
    return (("spark.jars.ivy", str(cache / "ivy")), *named) if named else ()


def build_session(options: SparkOptions, scratch: Path) -> SparkSession:
    """The session of this process; PySpark has been given a gateway before (`Jvm.hand_to_pyspark`)."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder: Any = SparkSession.builder.master(options.master).appName("odf")
    for name, value in {**_plain_conf(options, scratch), **dict(options.conf), **RESULT_CONF}.items():
        builder = builder.config(name, value)
    session: SparkSession = builder.getOrCreate()
    return session


def _plain_conf(options: SparkOptions, scratch: Path) -> dict[str, str]:
    """Settings of the process: quiet, in its own folder, small enough for small steps."""
    conf = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.eventLog.enabled": "false",
        "spark.local.dir": str(scratch),
        "spark.sql.warehouse.dir": str(scratch / "warehouse"),
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.execution.arrow.pyspark.enabled": "true",
        "spark.sql.sources.default": "parquet",
        "spark.driver.maxResultSize": "512m",
        "spark.hadoop.mapreduce.fileoutputcommitter.algorithm.version": "2",
        "spark.hadoop.mapreduce.fileoutputcommitter.marksuccessfuljobs": "false",
    }
    if options.local:
        conf["spark.sql.shuffle.partitions"] = str(LOCAL_PARTITIONS)
        conf["spark.driver.host"] = "127.0.0.1"
        conf["spark.driver.bindAddress"] = "127.0.0.1"
    if options.exchange is not None:
        conf[EXCHANGE_CONF] = options.exchange
    return conf
