"""The engine of the run."""

from tests.spark_fixture import spark_engine

__all__ = ["spark_engine"]
