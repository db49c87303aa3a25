"""The Spark engine as the node's settings want it."""

from app.settings import Settings
from odf_core.engines.handle import SparkEngine
from odf_core.engines.trial import QuickTrials

PLANNING_ONLY = QuickTrials(None, 0)
"""Queries of new sources are tried as far as no engine is asked, which is for those who have to wait."""


def spark_engine(settings: Settings) -> SparkEngine:
    """A handle on the engine; it starts with its first call."""
    return SparkEngine(settings.spark.options())
