"""`odf commit`: what is printed, and the exit codes."""

import json
from pathlib import Path

import pytest

from app.cli.main import run
from odf_core.identity import DatasetAlias
from odf_core.metadata import DatasetKind
from odf_core.workspace.templates import template

INFO = "kind: SetInfo\ndescription: Readings\n"


@pytest.fixture(autouse=True)
def _dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("ODF_HOME", str(tmp_path / "home"))
    Path("foo.yaml").write_text(template(DatasetAlias.parse("foo"), DatasetKind.ROOT))
    assert run(["init"]) == 0
    assert run(["add", "foo.yaml"]) == 0
    capsys.readouterr()


def test_events_from_files_and_standard_input(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    Path("vocab.yaml").write_text("kind: SetVocab\neventTimeColumn: at\n")
    (tmp_path / "stdin").write_text(INFO)
    with (tmp_path / "stdin").open() as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        assert run(["commit", "foo", "vocab.yaml", "-", "-o", "json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["result"], facts["numBlocks"], facts["dataset"]) == ("Updated", 2, "foo")
    assert [event["kind"] for event in facts["events"]] == ["SetVocab", "SetInfo"]


def test_what_is_said(capsys: pytest.CaptureFixture[str]) -> None:
    Path("info.yaml").write_text(INFO)
    assert run(["commit", "foo", "info.yaml", "--dry-run"]) == 0
    assert capsys.readouterr().out == "foo would take SetInfo; nothing was written\n"
    assert run(["commit", "foo", "info.yaml"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("foo: ")
    assert out.endswith(", SetInfo\n")
    assert run(["commit", "foo", "info.yaml"]) == 0
    assert capsys.readouterr().out == "foo says so already, no block is needed: SetInfo\n"


def test_refusals_have_file_and_line(capsys: pytest.CaptureFixture[str]) -> None:
    Path("two.yaml").write_text(f"{INFO}---\nkind: DisablePushSource\nsourceName: other\n")
    assert run(["commit", "foo", "two.yaml"]) == 3
    assert capsys.readouterr().err.startswith("error: two.yaml, line 4: The event disables the push source")
    assert run(["commit", "foo", "missing.yaml"]) == 3
    assert "missing.yaml cannot be read" in capsys.readouterr().err
    assert run(["commit", "nobody", "two.yaml"]) == 4
    assert run(["commit", "foo", "two.yaml", "--old-head", "f1620" + "00" * 32]) == 6
