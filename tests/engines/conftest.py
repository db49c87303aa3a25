"""The engine of the run, and merges by it."""

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from tests.spark_fixture import spark_engine

__all__ = ["spark_engine", "merge_engine"]


@pytest.fixture(scope="session")
def merge_engine(spark_engine: SparkEngine) -> SparkMerges:
    """Merges by the engine of the run."""
    return SparkMerges(spark_engine, 120.0)
