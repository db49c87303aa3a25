"""Two versions of the Spark engine at one time, each a process of its own behind its fences."""

import os
from dataclasses import replace

import pytest

from odf_core.engines.environments.errors import EngineDoesNotRun
from odf_core.engines.environments.proving import prove_spark
from odf_core.engines.errors import QueryRefused
from odf_core.engines.handle import SparkEngine
from odf_core.engines.transforming import SparkTransforms
from odf_core.metadata import SqlQueryStep, TransformSql
from odf_core.verify import ReplayOptions
from odf_core.workspace import Workspace
from odf_core.workspace.deprecation import Deprecations
from odf_core.workspace.signing import own_key
from odf_core.workspace.transforms import Transforms
from odf_core.workspace.verification import VerificationOptions, Verifications
from tests.replay.derived_chain import WINDOWED, Root, clock, derivative


@pytest.fixture
def old(versions):
    """The old Spark, ended afterwards."""
    environment = versions.made["old"].environment
    yield SparkEngine(versions.engines.spark, environment.program(versions.identity("spark")))
    versions.engines.stop(environment)


@pytest.mark.skipif("ODF_TEST_FULL" not in os.environ, reason="starts another Spark: ODF_TEST_FULL=1")
def test_two_versions_of_spark_side_by_side(versions, old, tmp_path, spark_engine):
    workspace = Workspace.init(tmp_path)
    root, version = Root(workspace), versions.identity("spark")
    transform = TransformSql(engine="spark", version=version, queries=(SqlQueryStep(query=WINDOWED),))
    dataset = derivative(workspace, "windowed", transform, root.dataset)
    for _ in range(2):
        root.grow()
        Transforms(workspace, versions.choose, clock()).update(dataset.id)
    assert old.running()
    replay = VerificationOptions(integrity=None, replay=ReplayOptions())
    (verified,) = Verifications(workspace, versions.choose).run([dataset], replay)
    assert verified.ok and {item.version for item in verified.replay.summary.engines} == {version}

    own = SparkTransforms(spark_engine, 120.0)
    done = Deprecations(workspace, versions.choose, own_key(tmp_path / "key")).run("windowed", own.version())
    assert (done.replaced, done.version, done.steps) == ((version,), own.version(), 2)

    old.run("check_query", {"sql": "select k from t", "inputs": {"t": "k string"}}, deadline=60)
    spark_engine.run("check_query", {"sql": "select k from t", "inputs": {"t": "k string"}}, deadline=60)
    infos = (old.info, spark_engine.info)
    assert infos[0]["identity"] == version and infos[1]["identity"] == own.version()
    assert infos[0]["pid"] != infos[1]["pid"] and infos[0]["fence"] == infos[1]["fence"]
    assert all(os.path.exists(f"/proc/{info['pid']}") for info in infos)
    secret = versions.folder.parent / "secret"
    with pytest.raises(QueryRefused):
        sql = f"select * from csv.`{secret}`"
        old.run("check_query", {"sql": sql, "inputs": {}}, deadline=60)
    environment = versions.made["old"].environment
    prove_spark(environment, old.options)
    assert not old.running(), "what was only tried does not stay"
    with pytest.raises(EngineDoesNotRun, match="does not run with the code of this release"):
        prove_spark(environment, replace(old.options, memory="1x"))
