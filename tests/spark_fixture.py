"""One Spark engine for the whole run of the tests, on real Java, ended with the run.

Other folders' conftest.py import the fixture: `from tests.spark_fixture import spark_engine`. Programs
that tests start share the engine when they get `spark_environment()`. Under pytest-xdist the workers share
it too: the controller makes the folder, tells it them, and stops the engine when all have ended.
"""

import functools
import shutil
import tempfile
from pathlib import Path

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.options import SparkOptions

_handed: list[Path] = []


def take_folder(folder: str) -> None:
    """In a worker: use the folder that the controller made."""
    _handed.append(Path(folder))


@functools.cache
def engine_folder() -> Path:
    return _handed[0] if _handed else Path(tempfile.mkdtemp(prefix="odf-t-"))


def spark_environment() -> dict[str, str]:
    """Variables under which a program finds the engine of this run."""
    return {
        "ODF_SPARK__RUNTIME_DIR": str(engine_folder() / "r"),
        "ODF_SPARK__WORK_DIR": str(engine_folder() / "w"),
        "ODF_SPARK__IDLE_SECONDS": "300",
    }


@functools.cache
def shared_engine() -> SparkEngine:
    return SparkEngine(SparkOptions.from_environment(spark_environment()))


def stop_engine() -> None:
    """End the engine and remove its folder, where this run used one; by the process that owns the run."""
    if engine_folder.cache_info().currsize and not _handed:
        shared_engine().stop()
        shutil.rmtree(engine_folder(), ignore_errors=True)


@pytest.fixture(scope="session")
def spark_engine() -> SparkEngine:
    """The engine; it starts with the first call."""
    return shared_engine()
