"""Spark alone: a CSV to one Parquet file. A process of its own, since only engines may import PySpark.

`python -m bench.spark_alone CSV FOLDER ROUNDS` prints the seconds of each round; one more warms up.
"""

import shutil
import sys
import time
from pathlib import Path

from pyspark.sql import SparkSession

SCHEMA = "event_time TIMESTAMP, station STRING, reading DOUBLE, counter BIGINT"


def main() -> None:
    """Measure."""
    path, folder, rounds = sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])
    builder = SparkSession.builder.master("local[*]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false")
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    session.range(1000).selectExpr("sum(id)").collect()
    for number in range(rounds):
        target = folder / str(number)
        started = time.perf_counter()
        rows = session.read.schema(SCHEMA).option("header", True).csv(path)
        rows.coalesce(1).write.parquet(str(target))
        print(time.perf_counter() - started, flush=True)
        shutil.rmtree(target)


if __name__ == "__main__":
    main()
