"""The engines that evaluate the node's transforms, as its settings want them."""

from app.ingest.engine import spark_engine
from app.settings import Settings
from odf_core.engines.transforming import SparkTransforms
from odf_core.metadata import TransformSql
from odf_core.transform.errors import EngineNotInstalled
from odf_core.transform.port import TransformEngine
from odf_core.workspace.transforms import ChooseEngine


def installed_engines(settings: Settings) -> ChooseEngine:
    """Chooses by a transform's engine and version; nothing is started before it is used."""
    spark = SparkTransforms(spark_engine(settings), settings.spark.call_seconds)

    def choose(transform: TransformSql) -> TransformEngine:
        if transform.engine.lower() != spark.name or transform.version not in (None, spark.version()):
            raise EngineNotInstalled(f"The engine {transform.engine} {transform.version or ''} is not here.")
        return spark

    return choose


def is_quick(settings: Settings, transform: TransformSql) -> bool:
    """Whether the engine of a transform answers without being started first."""
    return transform.engine.lower() != SparkTransforms.name or spark_engine(settings).running()
