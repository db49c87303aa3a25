"""One workspace of small derivative datasets for all tests, made once in a run by the engine of the run."""

import fcntl
import shutil
from pathlib import Path

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.transforming import SparkTransforms
from odf_core.workspace import Workspace
from tests.replay.derived_chain import grown
from tests.replay.remembering import Remembering
from tests.replay.tampering import World
from tests.spark_fixture import engine_folder, spark_engine

__all__ = ["spark_engine"]


@pytest.fixture(scope="session")
def world(spark_engine: SparkEngine, tmp_path_factory: pytest.TempPathFactory) -> World:
    """A copy for this process. What the engine has evaluated once in the run is known to all processes."""
    shared = engine_folder() / "replay"
    shared.mkdir(exist_ok=True)
    engine = Remembering(SparkTransforms(spark_engine, 120.0), shared / "remembered")
    with (shared / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "names").is_file():
            _grow(shared, engine)
    folder: Path = tmp_path_factory.mktemp("replay")
    shutil.copytree(shared / "grown" / ".odf", folder / ".odf")
    workspace = Workspace.find(folder)
    names = (shared / "names").read_text().split()
    return World(workspace, engine, {name: workspace.dataset(name) for name in names}, folder)


def _grow(shared: Path, engine: Remembering) -> None:
    """The last file to appear has the names of the datasets."""
    shutil.rmtree(shared / "grown", ignore_errors=True)
    (shared / "grown").mkdir()
    datasets = grown(Workspace.init(shared / "grown"), engine)
    (shared / "names").write_text(" ".join(datasets))
