"""stub"""

from pyspark.sql import SparkSession


def check_query(session: SparkSession, sql: str, inputs: set[str]) -> None:
    session.sql(sql)
