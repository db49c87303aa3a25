"""One Spark engine for the whole run of the tests, on real Java, ended at the end.

Other folders' conftest.py import the fixture: `from tests.spark_fixture import spark_engine`. Programs
that tests start share the engine when they get `spark_environment()`.
"""

import functools
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.options import SparkOptions


@functools.cache
def _folder() -> Path:
    return Path(tempfile.mkdtemp(prefix="odf-t-"))


def spark_environment() -> dict[str, str]:
    """Variables under which a program finds the engine of this run."""
    return {
        "ODF_SPARK__RUNTIME_DIR": str(_folder() / "r"),
        "ODF_SPARK__WORK_DIR": str(_folder() / "w"),
        "ODF_SPARK__IDLE_SECONDS": "300",
    }


@functools.cache
def shared_engine() -> SparkEngine:
    return SparkEngine(SparkOptions.from_environment(spark_environment()))


@pytest.fixture(scope="session")
def spark_engine() -> Iterator[SparkEngine]:
    """The engine; it starts with the first call."""
    engine = shared_engine()
    yield engine
    engine.stop()
    shutil.rmtree(_folder(), ignore_errors=True)
