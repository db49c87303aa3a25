"""`odf verify` over derivative datasets: what it prints, and how it ends."""

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from odf_core.metadata import DatasetKind, SqlQueryStep, TransformSql
from odf_core.verify import ReplayOptions
from odf_core.workspace import Workspace
from odf_core.workspace.transforms import Transforms
from odf_core.workspace.verification import VerificationOptions, Verifications
from tests.cli.conftest import odf
from tests.replay.derived_chain import clock, derivative
from tests.spark_fixture import spark_environment

__all__ = ["odf"]


@pytest.fixture
def work(world, odf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace with copies of the honest datasets, in which `odf` runs."""
    for name, value in spark_environment().items():
        monkeypatch.setenv(name, value)
    odf("init")
    root = tmp_path / "work" / ".odf"
    shutil.copytree(world.workspace.root / "datasets", root / "datasets", dirs_exist_ok=True)
    return Workspace(root)


@pytest.fixture
def tampered(world, work):
    """Puts a lie into the workspace: the third step of `stateless` has another key in row 2."""
    copy = world.copy("stateless")
    place = copy.steps[2]
    table = copy.table(place)
    column = table.schema.get_field_index("k")
    keys = table["k"].to_pylist()
    keys[2] = "forged"
    copy.change(place, new_data=copy.put(table.set_column(column, table.schema.field(column), [keys])))
    copy.rebuild()
    put(work, "stateless", copy)
    return str(copy.hashes[place])


def put(work, name, copy):
    path = work.dataset(name).path
    shutil.rmtree(path)
    shutil.copytree(copy.path, path)
    (path / "info" / "alias").write_text(name)


def test_an_honest_dataset(odf, work, world):
    ran = odf("verify", "stateless", "-o", "json")
    assert ran.code == 0, ran
    (told,) = ran.json
    assert (told["ok"], told["findings"], told["dataset"]) == (True, [], "stateless")
    assert (told["replay"]["steps"], told["replay"]["replayed"]) == (6, 6)
    assert told["replay"]["engines"] == [{"name": "spark", "version": world.engine.version()}]
    assert told["head"] == str(work.dataset("stateless").head)


def test_for_people(odf, work, world):
    ran = odf("verify", "stateless", "--from", "4", "--to", "5")
    version = world.engine.version()
    assert ran.text == (f"stateless: valid (6 blocks, 4 objects; 2 of 2 steps replayed by spark {version})\n")


def test_a_lie_is_told_with_block_and_rows(odf, work, tampered):
    ran = odf("verify", "stateless")
    assert ran.code == 7
    assert tampered in ran.text
    assert "not_reproducible" in ran.text
    assert "row 2: k forged, not" in ran.text
    (told,) = odf("verify", "stateless", "--replay", "-o", "json").json
    (finding,) = told["findings"]
    assert (finding["block"], told["ok"]) == (tampered, False)
    assert finding["details"]["rows"][0]["recorded"]["k"] == "forged"


def test_integrity_alone_lets_it_pass(odf, work, tampered):
    ran = odf("verify", "stateless", "--integrity", "-o", "json")
    assert (ran.code, ran.json[0]["replay"]) == (0, None)
    assert odf("verify", "stateless", "--sizes-only").code == 0


def test_a_range_without_the_lie(odf, work, tampered):
    assert odf("verify", "stateless", "--from", tampered[-8:], "--to", tampered).code == 7
    assert odf("verify", "stateless", "--from", "6").code == 0


def test_a_range_is_one_of_one_dataset(odf, work):
    ran = odf("verify", "--from", "2", "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "range_needs_one_dataset")
    assert odf("verify", "stateless", "--to", "99").code == 4


def test_recursively_inputs_come_first(odf, work):
    spark = TransformSql(engine="spark", queries=(SqlQueryStep(query="select 1"),))
    middle = [work.dataset("stateless"), work.dataset("windowed")]
    derivative(work, "diamond", spark, *middle)
    ran = odf("verify", "diamond", "--recursive", "--integrity", "-o", "json")
    assert ran.code == 0
    assert [item["dataset"] for item in ran.json] == ["root", "stateless", "windowed", "diamond"]


def test_a_lie_upstream(odf, work, tampered):
    spark = TransformSql(engine="spark", queries=(SqlQueryStep(query="select 1"),))
    derivative(work, "second", spark, work.dataset("stateless"))
    assert odf("verify", "second").code == 0
    ran = odf("verify", "second", "--recursive", "--replay", "-o", "json")
    assert ran.code == 7
    root, stateless, second = ran.json
    assert (root["ok"], stateless["ok"], second["ok"]) == (True, False, False)
    assert root["replay"] is None
    assert [finding["code"] for finding in second["findings"]] == ["input_not_valid"]


def test_an_input_that_was_replaced_by_a_lie(odf, work, world, tampered):
    """What is computed from it is honest, and so is valid by itself."""
    spark = TransformSql(
        engine="spark",
        version=world.engine.version(),
        queries=(SqlQueryStep(query="select event_time, k from stateless"),),
    )
    second = derivative(work, "second", spark, work.dataset("stateless"))
    Transforms(work, lambda transform: world.engine, clock()).update(second.id)
    assert odf("verify", "second").code == 0
    ran = odf("verify", "second", "--recursive", "-o", "json")
    assert ran.code == 7
    root, stateless, second = ran.json
    assert (root["ok"], stateless["ok"], second["ok"]) == (True, False, False)
    assert [finding["block"] for finding in stateless["findings"]] == [tampered]
    assert (second["replay"]["ok"], second["replay"]["replayed"]) == (True, 1)


def test_steps_count_whatever_the_seed_says(odf, work, world):
    """A chain may begin as that of a root dataset and have steps nonetheless."""
    copy = world.copy("stateless")
    copy.change(0, dataset_kind=DatasetKind.ROOT)
    place = copy.steps[1]
    copy.change(place, new_data=None)
    copy.rebuild()
    put(work, "stateless", copy)
    ran = odf("verify", "stateless", "-o", "json")
    assert (ran.code, ran.json[0]["replay"]["steps"]) == (7, 6)
    assert ran.json[0]["findings"][0]["block"] == str(copy.hashes[place])


def test_an_input_that_is_not_here(odf, work):
    shutil.rmtree(work.dataset("root").path)
    ran = odf("verify", "stateless", "-o", "json")
    assert (ran.code, ran.json[0]["ok"], ran.json[0]["replay"]) == (0, True, None)
    assert "is not in this workspace" in ran.json[0]["remark"]
    assert odf("verify", "stateless", "--replay").code == 7
    ran = odf("verify", "stateless", "--recursive", "-o", "json")
    assert ran.code == 7
    codes = {finding["code"] for finding in ran.json[0]["findings"]}
    assert codes == {"input_not_verified", "local_dataset_not_found"}
    ran = odf("verify", "stateless", "--recursive", "--integrity", "-o", "json")
    assert (ran.code, ran.json[0]["ok"]) == (4, False)


def test_a_version_that_is_not_installed(odf, work, world):
    copy = world.copy("stateless")
    event = copy.event(1)
    copy.change(1, transform=replace(event.transform, version="1.0+other"))
    copy.rebuild()
    put(work, "stateless", copy)
    ran = odf("verify", "stateless")
    assert ran.code == 3
    assert ran.text.startswith("stateless: not verified completely (8 blocks") is False
    assert "stateless: not verified completely" in ran.text
    assert "6 steps" in ran.text
    assert "engine_not_installed" in ran.text
    ran = odf("verify", "stateless", "--replay", "--engine", "spark", "--to", "3", "-o", "json")
    assert ran.code == 0, ran
    assert ran.json[0]["replay"]["replayed"] == 1


@pytest.mark.parametrize("engine", ["flink", "spark@1.0"])
def test_an_engine_by_name_that_is_not_here(odf, work, engine):
    ran = odf("verify", "stateless", "--engine", engine, "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "engine_not_installed")


def test_a_root_dataset_has_nothing_to_replay(odf, work):
    ran = odf("verify", "root", "--replay")
    assert (ran.code, ran.text) == (0, "root: not computed from others, nothing to replay\n")


def test_a_broken_chain_is_a_finding(odf, work):
    dataset = work.dataset("stateless")
    head = dataset.path / "blocks" / str(dataset.head)
    head.write_bytes(b"nonsense")
    ran = odf("verify", "stateless", "--replay", "-o", "json")
    assert ran.code == 7
    assert [finding["block"] for finding in ran.json[0]["findings"]] == [None]


def test_progress_is_told_for_each_dataset(work, world):
    told = []
    run = Verifications(work, lambda transform: world.engine, lambda dataset, item: told.append(item.phase))
    options = VerificationOptions(integrity=None, replay=ReplayOptions())
    (verified,) = run.run([work.dataset("windowed")], options)
    assert verified.ok
    assert told == ["steps"] * 6
    assert list((work.root / "work").iterdir()) == []
