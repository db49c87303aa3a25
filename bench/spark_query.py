"""Plain Spark SQL over Parquet files into one Parquet file (in its own process: PySpark is for engines).

`python -m bench.spark_query QUERY FOLDER ROUNDS FILE…` prints the seconds of each round over all files, which
are `readings` in the query. With `--each` the files are the rounds, and ROUNDS over the first one warm up.
"""

import argparse
import shutil
import time
from pathlib import Path

from pyspark.sql import SparkSession


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--each", action="store_true")
    parser.add_argument("query")
    parser.add_argument("folder", type=Path)
    parser.add_argument("rounds", type=int)
    parser.add_argument("files", nargs="+")
    given = parser.parse_args()
    builder = SparkSession.builder.master("local[*]").config("spark.driver.memory", "2g")
    builder = builder.config("spark.sql.session.timeZone", "UTC").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.parquet.outputTimestampType", "TIMESTAMP_MILLIS")
    session = builder.config("spark.sql.shuffle.partitions", "4").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    if given.each:
        rounds = [[file] for file in [given.files[0]] * given.rounds + given.files]
    else:
        session.range(1000).selectExpr("sum(id)").collect()
        rounds = [given.files] * given.rounds
    for number, files in enumerate(rounds):
        target = given.folder / str(number)
        started = time.perf_counter()
        session.read.parquet(*files).createOrReplaceTempView("readings")
        session.sql(given.query).coalesce(1).write.parquet(str(target))
        taken = time.perf_counter() - started
        if not given.each or number >= given.rounds:
            print(taken, flush=True)
        shutil.rmtree(target)


if __name__ == "__main__":
    main()
