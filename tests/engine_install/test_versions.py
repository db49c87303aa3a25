"""A chain that was made by one version of an engine, and what the others make of it."""

import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from app.settings import load_settings
from app.transform.engines import installed_engines
from app.workers import worker_environment
from odf_core.engines.datafusion import warm_pool
from odf_core.engines.environments.registry import VARIABLE
from odf_core.engines.errors import EngineIdentityDiffers
from odf_core.engines.installed import InstalledEngines
from odf_core.engines.options import SparkOptions
from odf_core.metadata import SqlQueryStep, TransformSql
from odf_core.transform.errors import EngineNotInstalled
from odf_core.workspace import Workspace
from odf_core.workspace.transforms import Transforms
from tests.engine_install.conftest import SIGNS, SPARK_SIGNS
from tests.engine_install.releases import left, release
from tests.replay.derived_chain import STATELESS, Root, clock, derivative

OWN = InstalledEngines().named("datafusion").version()


@pytest.fixture
def world(versions, odf, monkeypatch: pytest.MonkeyPatch):
    """A workspace in which the command finds the installed engines, and a dataset of the old one."""
    monkeypatch.setenv("ODF_ENGINES_DIR", str(versions.folder))
    odf("init")
    workspace = Workspace(Path.cwd() / ".odf")
    root = Root(workspace)
    transform = TransformSql(
        engine="datafusion",
        version=versions.identity("datafusion"),
        queries=(SqlQueryStep(query=STATELESS),),
    )
    dataset = derivative(workspace, "derived", transform, root.dataset)
    for _ in range(2):
        root.grow()
        Transforms(workspace, versions.choose, clock()).update(dataset.id)
    return workspace, root, dataset


def engines_of(ran) -> list[str]:
    (told,) = ran.json
    assert told["ok"], told
    return [item["version"] for item in told["replay"]["engines"]]


def test_a_chain_goes_on_with_its_version_and_is_replaced_by_another(world, versions, odf):
    _, root, dataset = world
    old = versions.identity("datafusion")
    assert old != OWN
    rows = {row["version"]: row for row in odf("engine", "list", "-o", "json").json}
    assert len(rows) == 2 + 4 - 1  # the Spark of one of the releases is that of this program
    assert (rows[old]["datasets"], rows[OWN]["datasets"]) == (1, 0)
    assert rows[old]["from"].endswith("odf_node-0.0.0-py3-none-any.whl")
    assert (rows[OWN]["from"], rows[OWN]["default"], rows[old]["default"]) == ("this program", False, False)

    root.grow()
    head = dataset.head
    assert odf("pull", "derived").code == 0
    assert dataset.head != head
    assert engines_of(odf("verify", "derived", "-o", "json")) == [old]
    assert engines_of(odf("verify", "derived", "--engine", "datafusion", "-o", "json")) == [OWN]
    owners = [program.python for (parent, program), _ in warm_pool._idle if parent == os.getpid()]
    assert len(set(owners)) == 2, "both versions wait for calls"

    wrong = versions.identity("datafusion", "wrong")
    ran = odf("engine", "deprecate", "derived", "--to", wrong, "-o", "json")
    assert (ran.code, ran.error["code"]) == (6, "engines_differ")
    assert "rows" in ran.error["message"]

    done = odf("engine", "deprecate", "derived", "--to", OWN, "-o", "json").json
    assert (done["replaced"], done["version"], done["steps"]) == ([old], OWN, 3)


def test_what_is_not_installed_is_named_with_its_remedy(world, odf, tmp_path, monkeypatch):
    _, root, _ = world
    root.grow()
    monkeypatch.setenv("ODF_ENGINES_DIR", str(tmp_path / "none"))
    ran = odf("pull", "derived", "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "engine_not_installed")
    assert "`odf engine install`" in ran.error["message"]
    (finding,) = odf("verify", "derived", "-o", "json").json[0]["findings"]
    assert finding["code"] == "engine_not_installed"


def test_a_new_dataset_gets_the_engine_of_this_program(versions):
    assert versions.choose(TransformSql(engine="datafusion")).version() == OWN
    assert [item.version for item in versions.engines.listed() if item.is_default] == [
        versions.engines.named("spark").version()
    ]


def test_a_node_finds_them_by_its_setting(versions):
    settings = load_settings(transform={"engines_dir": versions.folder})
    version = versions.identity("datafusion")
    chosen = installed_engines(settings)(TransformSql(engine="datafusion", version=version))
    assert chosen.version() == version
    assert str(versions.folder) in worker_environment(settings).values()


def test_an_environment_that_was_changed_is_not_used(world, versions, odf):
    """The record says one thing, the code another: told before anything is evaluated."""
    _, root, dataset = world
    root.grow()
    folder = versions.made["old"].environment.folder
    (code,) = folder.glob("python/lib/*/site-packages/odf_core/engines/datafusion/linear.py")
    text = code.read_text()
    code.write_text(text + "# changed\n")
    warm_pool.end_idle()
    head = dataset.head
    try:
        with pytest.raises(EngineIdentityDiffers, match=r"odf engine remove"):
            Transforms(world[0], versions.choose, clock()).update(dataset.id)
        ran = odf("pull", "derived", "-o", "json")
        assert ran.error["code"] == "engine_identity_differs"
    finally:
        code.write_text(text)
        warm_pool.end_idle()
    assert dataset.head == head
    assert odf("pull", "derived").code == 0


def test_an_environment_of_another_protocol_or_without_its_python(versions, tmp_path):
    environment = versions.made["old"].environment
    for number, (protocol, words) in enumerate([(1, "is gone"), (2, "speaks protocol 2")]):
        told = json.loads((environment.folder / "engine.json").read_text())
        told["told"]["protocol"] = protocol
        folder = tmp_path / str(number) / "one"
        folder.mkdir(parents=True)
        (folder / "engine.json").write_text(json.dumps(told))
        engines = InstalledEngines(
            SparkOptions(), environments=replace(versions.environments, folder=folder.parent)
        )
        transform = TransformSql(engine="datafusion", version=versions.identity("datafusion"))
        with pytest.raises(EngineNotInstalled, match=words):
            engines.choose(transform)
        troubles = {item.trouble for item in engines.listed() if item.source is not None}
        assert any(words in (trouble or "") for trouble in troubles)


def test_the_same_again_is_no_work(versions, odf, monkeypatch):
    monkeypatch.setenv(VARIABLE, str(versions.folder))
    before, wheel = left(versions.folder), versions.wheels["old"]
    ran = odf("engine", "install", wheel)
    assert (ran.code, ran.text) == (
        0,
        f"Nothing to do, these are here already: spark {versions.identity('spark')}, "
        f"datafusion {versions.identity('datafusion')}\n",
    )
    assert odf("engine", "install", wheel, "-o", "json").json["installed"] is False
    assert left(versions.folder) == before


@pytest.mark.skipif("ODF_TEST_FULL" not in os.environ, reason="installs once more: ODF_TEST_FULL=1")
def test_another_release_with_equal_engines_is_not_kept(versions, tmp_path, odf, monkeypatch):
    """It is installed and asked, found to be one that is here, and nothing is left of it."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_NO_COMPILE", "1")
    monkeypatch.setenv(VARIABLE, str(versions.folder))
    monkeypatch.setattr("odf_core.engines.environments.venv._has_pip", lambda: False)  # as in the image
    before, wheel = left(versions.folder), release(tmp_path, "0.1.7", dict([SIGNS, SPARK_SIGNS]))
    assert odf("engine", "install", wheel, "-o", "json").json["installed"] is False
    assert left(versions.folder) == before


def test_an_environment_is_removed_with_all_of_its_engines(versions, odf, tmp_path, monkeypatch):
    folder = tmp_path / "copies"
    for name in ("one", "two"):
        (folder / name).mkdir(parents=True)
        record = versions.made["old"].environment.folder / "engine.json"
        (folder / name / "engine.json").write_bytes(record.read_bytes())
    monkeypatch.setenv(VARIABLE, str(folder))
    version = versions.identity("datafusion")
    ran = odf("engine", "remove", version, "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "engine_environment_ambiguous")
    assert ran.error["objects"] == ["one", "two"]
    removed = odf("engine", "remove", "one", "-o", "json").json["removed"]
    assert {item["name"] for item in removed} == {"spark", "datafusion"} and left(folder) == ["two"]
    assert odf("engine", "remove", version).code == 0 and left(folder) == []
    ran = odf("engine", "remove", version, "-o", "json")
    assert (ran.code, ran.error["code"]) == (4, "engine_environment_not_found")
