"""Two more versions of the engines beside this program's, installed once for these tests by the real pip."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from odf_core.engines.environments.install import Installation, Installer
from odf_core.engines.environments.registry import EngineEnvironments
from odf_core.engines.installed import InstalledEngines
from odf_core.metadata import TransformSql
from odf_core.transform.port import TransformEngine
from tests.cli.conftest import odf as odf
from tests.engine_install.releases import release
from tests.landlock import landlock_works
from tests.spark_fixture import shared_engine
from tests.spark_fixture import spark_engine as spark_engine

DATAFUSION = "odf_core/engines/datafusion"
SPARK = "odf_core/engines/spark"
SIGNS = (f"{DATAFUSION}/step.py", ("def _execute(", "# Another release.\ndef _execute("))
"""A change by which nothing comes out otherwise."""
SPARK_SIGNS = (f"{SPARK}/transforms/execute.py", ("def _execute(", "# Another release.\ndef _execute("))
REVERSED = (
    "        for batch in batches:\n",
    "        for batch in batches:\n            batch = batch.take(pa.array(range(len(batch))[::-1]))\n",
)
"""A change by which rows come out in another order."""
SPYING = """    try:
        open({secret!r}).close()
        raise EngineFailed("the fence is open")
    except PermissionError:
        pass
    tables = read_tables"""
"""An engine that looks at what it may not read."""


def never(environment: object) -> None:
    raise AssertionError


@dataclass
class Versions:
    """What is installed: `old` gives what this program gives, `wrong` something else, and spies."""

    folder: Path
    wheels: dict[str, Path]
    made: dict[str, Installation]

    @property
    def engines(self) -> InstalledEngines:
        return InstalledEngines(shared_engine().options, environments=self.environments)

    @property
    def environments(self) -> EngineEnvironments:
        return EngineEnvironments(self.folder)

    def identity(self, name: str, release_: str = "old") -> str:
        told = self.made[release_].environment.record.told
        return next(item.identity for item in told.engines if item.name == name)

    def choose(self, transform: TransformSql) -> TransformEngine:
        return self.engines.choose(transform)


@pytest.fixture(scope="session")
def versions(tmp_path_factory: pytest.TempPathFactory) -> Versions:
    folder = tmp_path_factory.mktemp("engines")
    secret = folder.parent / "secret"
    secret.write_text("of the user")
    spying = SPYING.format(secret=str(secret))
    edits = {
        "old": dict([SIGNS, SPARK_SIGNS]),
        "wrong": {
            f"{DATAFUSION}/output.py": REVERSED,
            f"{DATAFUSION}/step.py": ("    tables = read_tables", spying),
        },
    }
    if not landlock_works():
        del edits["wrong"][f"{DATAFUSION}/step.py"]
    wheels = {
        name: release(tmp_path_factory.mktemp(name), f"0.0.{number}", edits[name])
        for number, name in enumerate(edits)
    }
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PIP_NO_COMPILE", "1")
        patch.setenv("PIP_NO_INDEX", "1")
        patch.setenv("PIP_FIND_LINKS", str(wheels["wrong"].parent))
        installer = Installer(EngineEnvironments(folder), never)
        named = {"old": str(wheels["old"]), "wrong": "odf-node==0.0.1"}
        made = {name: installer.install(source) for name, source in named.items()}
    return Versions(folder, wheels, made)
