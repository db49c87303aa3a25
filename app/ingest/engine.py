"""The Spark engine as the node's settings want it."""

from app.settings import Settings
from odf_core.engines.handle import SparkEngine


def spark_engine(settings: Settings) -> SparkEngine:
    """A handle on the engine; it starts with its first call."""
    return SparkEngine(settings.spark.options())
