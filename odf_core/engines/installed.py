"""The engines of this installation: which one evaluates a transformation (data.md 4.4, 4.5)."""

from dataclasses import dataclass, field

from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.datafusion.transform import DataFusionTransforms
from odf_core.engines.errors import JavaNotFound
from odf_core.engines.handle import SparkEngine
from odf_core.engines.java import find_java
from odf_core.engines.options import SparkOptions
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
    where the machine can.
    """

    name: str
    version: str
    is_default: bool
    is_fenced: bool
    java: str | None = None
    trouble: str | None = None


@dataclass(frozen=True, slots=True)
class InstalledEngines:
    """Makes engines from their options, without starting any."""

    spark: SparkOptions = field(default_factory=SparkOptions.from_environment)
    datafusion: DataFusionOptions = field(default_factory=DataFusionOptions)

    def named(self, name: str) -> TransformEngine:
        """The engine of this installation that is called so, in any case of letters.

        Raises `EngineNotInstalled`.
        """
        match name.lower():
            case "spark":
                return SparkTransforms(SparkEngine(self.spark), self.spark.call_seconds)
            case "datafusion":
                return DataFusionTransforms(self.datafusion)
        raise EngineNotInstalled(
            f"The transformation is written for the engine {name!r}, which is not one of those that are here "
            f"({', '.join(NAMES)}); pull the dataset from a repository that computes it.",
            objects=[name],
        )

    def listed(self) -> list[InstalledEngine]:
        """All engines; none is started."""
        java, trouble = None, None
        try:
            java = find_java(self.spark.java_home).version
        except JavaNotFound as error:
            trouble = error.message
        return [
            InstalledEngine(
                name=name,
                version=self.named(name).version(),
                is_default=name == DEFAULT,
                is_fenced=self.spark.sandbox if name == "spark" else True,
                java=java if name == "spark" else None,
                trouble=trouble if name == "spark" else None,
            )
            for name in NAMES
        ]

    def choose(self, transform: TransformSql) -> TransformEngine:
        """The engine of the version that `transform` names; one that names none is of a deployed coordinator
        and evaluated by the rules of its engine. Raises `EngineNotInstalled`.
        """
        engine = self.named(transform.engine)
        wanted = transform.version
        if wanted is None or wanted == engine.version():
            return engine
        raise EngineNotInstalled(
            f"The dataset is computed by {engine.name} {wanted}; this installation has {engine.version()}. "
            f"Use an installation that has that version, or have this one declared equivalent "
            f"(`odf engine deprecate`).",
            objects=[wanted],
            extras={"engine": engine.name, "version": wanted, "installed": engine.version()},
        )


def choose(transform: TransformSql) -> TransformEngine:
    """As `InstalledEngines.choose`, with options from the environment."""
    return InstalledEngines().choose(transform)
