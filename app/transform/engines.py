"""The engines that evaluate the node's transforms, as its settings want them."""

from app.ingest.engine import engine_options
from app.settings import Settings
from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.environments.registry import EngineEnvironments
from odf_core.engines.installed import InstalledEngines
from odf_core.engines.transforming import SparkTransforms
from odf_core.identity import DatasetId
from odf_core.identity.did import KeyDid
from odf_core.metadata import TransformSql
from odf_core.workspace.equivalence import choose_equivalent
from odf_core.workspace.transforms import ChooseEngine


def installed_engines(settings: Settings) -> ChooseEngine:
    """Chooses by a transform's engine and version; nothing is started before it is used."""
    options = engine_options(settings)
    datafusion = DataFusionOptions(step_seconds=settings.spark.call_seconds)
    folder = settings.transform.engines_dir
    environments = EngineEnvironments() if folder is None else EngineEnvironments(folder)
    return InstalledEngines(options, datafusion, environments).choose


def engines_of(settings: Settings, choose: ChooseEngine, dataset_id: DatasetId) -> ChooseEngine:
    """As `choose`; for a version that is not here also one of which somebody whom the operator trusts has
    stated that it gives the same for this dataset."""
    folder = settings.transform.equivalences_dir
    trusted = [KeyDid.from_did_key(key) for key in settings.transform.trusted_keys]
    if folder is None or not trusted:
        return choose
    return choose_equivalent(choose, folder, dataset_id, trusted)


def is_quick(settings: Settings, transform: TransformSql) -> bool:
    """Whether the engine of a transform answers without being started first."""
    engine = installed_engines(settings)(transform)
    return not isinstance(engine, SparkTransforms) or engine.is_warm()
