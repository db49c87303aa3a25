"""A workspace whose ingests run on the engine of the run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.engines.querying import SparkQueries
from odf_core.workspace import Workspace
from tests.ingest_spark.making import Maker
from tests.spark_fixture import spark_engine

__all__ = ["spark_engine", "maker", "queries"]


@pytest.fixture
def maker(spark_engine: SparkEngine, tmp_path: Path) -> Iterator[Maker]:
    return Maker(Workspace.init(tmp_path), SparkMerges(spark_engine, 120.0), tmp_path)


@pytest.fixture(scope="session")
def queries(spark_engine: SparkEngine) -> SparkQueries:
    return SparkQueries(spark_engine, 120.0)
