"""One workspace of small derivative datasets for all tests, made by the engine of the run."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from odf_core.engines.transforming import SparkTransforms
from odf_core.workspace import Workspace
from tests.replay.derived_chain import grown
from tests.replay.remembering import Remembering
from tests.replay.tampering import World
from tests.spark_fixture import spark_engine

__all__ = ["spark_engine"]


@pytest.fixture(scope="session")
def world(spark_engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    folder: Path = tmp_path_factory.mktemp("replay")
    remembered = folder / "remembered"
    remembered.mkdir()
    engine = Remembering(SparkTransforms(spark_engine, 120.0), remembered)
    workspace = Workspace.init(folder)
    yield World(workspace, engine, grown(workspace, engine), folder)
