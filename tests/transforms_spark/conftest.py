"""One engine for these tests, which knows a call to run steps under other settings."""

from dataclasses import replace

import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.transforming import SparkTransforms
from tests.spark_fixture import shared_engine


@pytest.fixture(scope="session")
def transforms():
    options = replace(
        shared_engine().options,
        handler_modules=("tests.transforms_spark.transform_handlers",),
        memory="1g",
    )
    engine = SparkEngine(options)
    yield SparkTransforms(engine, 120.0)
    engine.stop()
