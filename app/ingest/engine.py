"""The Spark engine as the node's settings want it."""

import json
import os

from app.settings import Settings
from odf_core.engines.handle import SparkEngine
from odf_core.engines.options import ENV_PREFIX, RUNTIME_VARIABLE, SparkOptions


def spark_options(settings: Settings) -> SparkOptions:
    """The settings as the engine takes them. Raises `EngineOptionsInvalid`."""
    told: dict[str, str] = {}
    for name in settings.spark.model_fields_set:
        value = getattr(settings.spark, name)
        if value is not None:
            told[ENV_PREFIX + name.upper()] = json.dumps(value) if name == "conf" else str(value)
    if RUNTIME_VARIABLE in os.environ:
        told[RUNTIME_VARIABLE] = os.environ[RUNTIME_VARIABLE]
    return SparkOptions.from_environment(told)


def spark_engine(settings: Settings) -> SparkEngine:
    """A handle on the engine; it starts with its first call."""
    return SparkEngine(spark_options(settings))
