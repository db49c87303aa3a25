"""A person with a workspace whose ingests and transformations run on the engine of the run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from odf_core.engines.handle import SparkEngine
from tests.spark_fixture import spark_engine
from tests.workspace_transforms.person import Person

__all__ = ["spark_engine", "person"]


@pytest.fixture
def person(spark_engine: SparkEngine, tmp_path: Path) -> Iterator[Person]:
    return Person.at(tmp_path / "work", spark_engine)
