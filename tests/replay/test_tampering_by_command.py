"""What `odf verify` says of each lie: its exit code, and the block that it names."""

import shutil
from pathlib import Path

import pytest

from odf_core.workspace import Workspace
from tests.cli.conftest import Odf, odf
from tests.replay.cases import CASES, FULL, Case, each, one_of_each
from tests.replay.tampering import World

__all__ = ["odf"]
INTEGRITY = 7
JUDGED = CASES if FULL else one_of_each()


@pytest.fixture
def work(world: World, odf: Odf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Workspace:
    """A workspace with the honest root; what the engine has evaluated for others is not evaluated again."""
    monkeypatch.setattr("app.cli.verification.choose_engine", lambda transform: world.engine)
    odf("init")
    root = tmp_path / "work" / ".odf"
    honest = world.datasets["root"].path
    shutil.copytree(honest, root / "datasets" / honest.name)
    return Workspace(root)


@each(JUDGED)
def test_the_command_names_the_block(world: World, work: Workspace, odf: Odf, case: Case) -> None:
    copy, place = case.tell(world)
    copy.rebuild()
    shutil.move(copy.path, work.root / "datasets" / world.datasets[case.chain].path.name)
    liar = str(copy.hashes[place])

    ran = odf("verify", case.chain, "--replay", "-o", "json")
    assert ran.code == INTEGRITY, ran
    (told,) = ran.json
    assert not told["ok"]
    assert told["findings"][0]["block"] == liar
    if case.kind.is_local:
        assert len(told["findings"]) == 1

    if not (FULL or case.kind.met):
        return
    ran = odf("verify", case.chain, "-o", "json")
    assert (ran.code, ran.json[0]["ok"]) == (INTEGRITY, False)
    assert liar in {finding["block"] for finding in ran.json[0]["findings"]}
