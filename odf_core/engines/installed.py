"""The engines that can be used here, and which one evaluates a transformation (data.md 4.4, 4.5): this
program's own, and those of installed environments by the version that a chain names."""

from dataclasses import dataclass, field

from odf_core.engines.contract import PROTOCOL
from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.datafusion.transform import DataFusionTransforms
from odf_core.engines.environments.records import Environment
from odf_core.engines.environments.registry import EngineEnvironments
from odf_core.engines.errors import JavaNotFound
from odf_core.engines.handle import SparkEngine
from odf_core.engines.identity import datafusion_packages, spark_packages
from odf_core.engines.java import find_java
from odf_core.engines.options import SparkOptions
from odf_core.engines.program import OWN, EngineProgram
from odf_core.engines.transforming import SparkTransforms
from odf_core.metadata import TransformSql
from odf_core.transform.errors import EngineNotInstalled
from odf_core.transform.port import TransformEngine

NAMES = ("spark", "datafusion")
DEFAULT = "spark"
"""The engine of queries that name none."""


@dataclass(frozen=True, slots=True)
class InstalledEngine:
    """An engine that is here. `java` is the version of the Java that it would run on, None where it needs
    none or finds none (`trouble` says so); `is_fenced`: whether its process is kept from files and network
    where the machine can. `packages` are what it runs on. `source` is what an installed one was made from,
    None for this program's own; `is_default`: new chains that name no engine get it.
    """

    name: str
    version: str
    is_default: bool
    is_fenced: bool
    packages: dict[str, str] = field(default_factory=dict)
    java: str | None = None
    source: str | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class InstalledEngines:
    """Makes engines from their options, without starting any."""

    spark: SparkOptions = field(default_factory=SparkOptions.from_environment)
    datafusion: DataFusionOptions = field(default_factory=DataFusionOptions)
    environments: EngineEnvironments = field(default_factory=EngineEnvironments)

    def named(self, name: str) -> TransformEngine:
        """This program's own engine that is called so, in any case of letters.

        Raises `EngineNotInstalled`.
        """
        return self._made(name, OWN)

    def listed(self) -> list[InstalledEngine]:
        """All engines, this program's own first; none is started. Raises `EngineRecordUnreadable`."""
        packages = {"spark": spark_packages(), "datafusion": datafusion_packages()}
        java, trouble = self._java()
        own = [
            self._listed(name, self.named(name).version(), packages[name], java, trouble) for name in NAMES
        ]
        installed = [
            self._listed(item.name, item.identity, item.packages, java, trouble, environment)
            for environment in self.environments.all()
            for item in environment.record.told.engines
        ]
        return [*own, *installed]

    def choose(self, transform: TransformSql) -> TransformEngine:
        """The engine of the version that `transform` names; one that names none is of a deployed coordinator
        and evaluated by the rules of its engine. Raises `EngineNotInstalled`, `EngineRecordUnreadable`.
        """
        engine = self.named(transform.engine)
        wanted = transform.version
        if wanted is None or wanted == engine.version():
            return engine
        found = self.environments.find(engine.name, wanted)
        if found is None:
            raise EngineNotInstalled(
                f"The dataset is computed by {engine.name} {wanted}; this installation has "
                f"{engine.version()}. Install the release that has it (`odf engine install`), or have one "
                f"that is here declared equivalent (`odf engine deprecate`).",
                objects=[wanted],
                extras={"engine": engine.name, "version": wanted, "installed": engine.version()},
            )
        trouble = _trouble(found)
        if trouble is not None:
            raise EngineNotInstalled(
                f"The dataset is computed by {engine.name} {wanted}, which is installed but {trouble}. "
                f"Remove it (`odf engine remove`), and install it again or have one that is here declared "
                f"equivalent (`odf engine deprecate`).",
                objects=[wanted],
                extras={"engine": engine.name, "version": wanted, "installed": engine.version()},
            )
        return self._made(engine.name, found.program(wanted))

    def stop(self, environment: Environment) -> None:
        """Ends the warm Spark of an environment, if one with these options runs."""
        for told in environment.record.told.engines:
            if told.name == SparkTransforms.name:
                engine = SparkEngine(self.spark, environment.program(told.identity))
                if engine.running():
                    engine.stop()

    def _made(self, name: str, program: EngineProgram) -> TransformEngine:
        match name.lower():
            case "spark":
                return SparkTransforms(SparkEngine(self.spark, program), self.spark.call_seconds)
            case "datafusion":
                return DataFusionTransforms(self.datafusion, program)
        raise EngineNotInstalled(
            f"The transformation is written for the engine {name!r}, which is not one of those that are here "
            f"({', '.join(NAMES)}); pull the dataset from a repository that computes it.",
            objects=[name],
        )

    def _java(self) -> tuple[str | None, str | None]:
        """The version of the Java that Spark runs on, or why there is none."""
        try:
            return find_java(self.spark.java_home).version, None
        except JavaNotFound as error:
            return None, error.message

    def _listed(
        self,
        name: str,
        version: str,
        packages: dict[str, str],
        java: str | None,
        trouble: str | None,
        environment: Environment | None = None,
    ) -> InstalledEngine:
        is_spark = name == SparkTransforms.name
        own_trouble = None if environment is None else _trouble(environment)
        return InstalledEngine(
            name=name,
            version=version,
            is_default=environment is None and name == DEFAULT,
            is_fenced=self.spark.sandbox if is_spark else True,
            packages=packages,
            java=java if is_spark else None,
            source=None if environment is None else environment.record.source,
            trouble=own_trouble or (trouble if is_spark else None),
        )


def _trouble(environment: Environment) -> str | None:
    told = environment.record.told
    if told.protocol != PROTOCOL:
        return f"speaks protocol {told.protocol} of engines, not {PROTOCOL} as this program does"
    return environment.trouble()


def choose(transform: TransformSql) -> TransformEngine:
    """As `InstalledEngines.choose`, with options from the environment."""
    return InstalledEngines().choose(transform)
