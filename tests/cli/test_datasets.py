"""The commands over a workspace, from `init` to `delete`."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Odf
from tests.client.local import sample, write
from tests.client.smart_node import SmartNode
from tests.client.test_pull import forked


@pytest.fixture
def there(tmp_path: Path) -> str:
    write(sample(), tmp_path / "there")
    return f"file://{tmp_path}/there"


def test_from_init_to_delete(odf: Odf, there: str) -> None:
    assert "Made a workspace" in odf("init").text
    pulled = odf("pull", there, "--as", "foo", "-o", "json")
    assert pulled.code == 0
    assert pulled.json["result"] == "Updated"
    assert (pulled.json["oldHead"], pulled.json["newHead"]) == (None, str(sample().head))
    (row,) = odf("list", "-o", "json").json
    assert row == {
        "name": "foo",
        "kind": "Root",
        "blocks": 6,
        "records": 30,
        "updated": "2024-01-01T00:00:05Z",
        "head": str(sample().head),
        "id": str(sample().dataset_id),
    }
    log = odf("log", "foo", "-o", "json").json
    assert [item["number"] for item in log] == [5, 4, 3, 2, 1, 0]
    assert [item["hash"] for item in log] == [str(block.hash) for block in reversed(sample().blocks)]
    assert len(odf("log", "foo", "-n", "2", "-o", "json").json) == 2
    shown = odf("show", "foo", "-o", "json").json
    assert (shown["numBlocks"], shown["numRecords"], shown["pullAliases"]) == (6, 30, [there])
    assert shown["schema"]["schema"]["fields"][0]["name"] == "offset"
    assert odf("delete", "foo", "--yes", "-o", "json").json["deleted"] is True
    assert odf("list", "-o", "json").json == []


def test_one_block_by_number_hash_and_end_of_hash(odf: Odf, there: str) -> None:
    odf("init")
    odf("pull", there, "--as", "foo")
    block = sample().blocks[3]
    outputs = {odf("show", "foo", name, "-o", "json").text for name in (3, block.hash, block.hash.short)}
    assert len(outputs) == 1
    assert odf("show", "foo", "3", "-o", "json").json["content"]["sequenceNumber"] == 3
    assert odf("show", "foo", "99").code == 4


def test_tables_for_pipes_have_tabs(odf: Odf, there: str) -> None:
    odf("init")
    odf("pull", there, "--as", "foo")
    header, row = odf("list").text.splitlines()
    assert header.split("\t") == ["name", "kind", "blocks", "records", "updated", "head", "id"]
    assert row.split("\t")[:4] == ["foo", "Root", "6", "30"]
    assert odf("list", "-o", "yaml").text.startswith("- name: foo\n")


def test_push_and_pull_with_a_node(odf: Odf, there: str) -> None:
    odf("init")
    odf("pull", there, "--as", "foo")
    with SmartNode() as node:
        pushed = odf("push", "foo", f"odf+{node.url}", "-o", "json").json
        assert (pushed["result"], pushed["numBlocks"], pushed["objectsMoved"]) == ("Updated", 6, 6)
        assert node.head == sample().head
        assert odf("push", "foo").text == "1 dataset(s) up-to-date\n"
        again = odf("pull", f"odf+{node.url}", "--as", "foo")
        assert again.text == "1 dataset(s) up-to-date\n"


def test_a_divergence_is_told_with_what_resolves_it(odf: Odf, tmp_path: Path) -> None:
    ours, theirs = forked()
    write(ours, tmp_path / "there")
    odf("init")
    odf("pull", f"file://{tmp_path}/there", "--as", "foo")
    with SmartNode(theirs) as node:
        refused = odf("pull", f"odf+{node.url}", "--as", "foo", "-o", "json")
        assert refused.code == 6
        assert refused.out == b""
        assert refused.error["code"] == "datasets_diverged"
        assert refused.error["extras"]["commonAncestor"] == str(sample().head)
        plain = odf("pull", f"odf+{node.url}", "--as", "foo")
        assert plain.err.splitlines()[-1] == "  code: datasets_diverged"
        assert "--force" in plain.err
        assert odf("pull", f"odf+{node.url}", "--as", "foo", "--force").code == 0


def test_repositories_and_logins(odf: Odf, tmp_path: Path) -> None:
    odf("init")
    assert odf("repo", "add", "node", "odf+http://h:1", "-o", "json").json["url"] == "odf+http://h:1/"
    assert odf("repo", "list", "-o", "json").json == [{"name": "node", "url": "odf+http://h:1/"}]
    assert odf("repo", "add", "node", "odf+http://other").code == 6
    assert odf("repo", "remove", "node").code == 0
    assert odf("repo", "remove", "node").code == 4
    login = odf("login", "http://h:1", "--token", "secret", "--no-check", "-o", "json")
    assert login.json == {"origin": "http://h:1", "account": None}
    assert "secret" in (tmp_path / "home" / "tokens.yaml").read_text()
    assert odf("login", "http://h:1", "--token", "two words", "--no-check").code == 3
    assert odf("logout", "http://h:1", "-o", "json").json["loggedOut"] is True
    assert odf("logout", "http://h:1", "-o", "json").json["loggedOut"] is False


def test_without_a_workspace(odf: Odf) -> None:
    for command in (
        ("list",),
        ("log", "x"),
        ("pull", "http://h/x"),
        ("push", "x"),
        ("repo", "list"),
        ("verify",),
    ):
        ran = odf(*command)
        assert ran.code == 4
        assert "odf init" in ran.err


def test_no_node_there(odf: Odf) -> None:
    odf("init")
    ran = odf("-q", "pull", "odf+http://127.0.0.1:9/foo", "-o", "json")
    assert ran.code == 11
    assert ran.error["code"] == "remote_unavailable"


def test_unknown_references(odf: Odf) -> None:
    odf("init")
    assert odf("pull", "elsewhere/foo").code == 4
    assert odf("pull", "no-such:thing").code == 3
    assert odf("pull", "ftp://h/x").code == 3
    assert odf("push", "foo").code == 4


def test_wrong_usage(odf: Odf) -> None:
    for arguments in (
        (),
        ("nonsense",),
        ("pull",),
        ("list", "-o", "xml"),
        ("block", "encode", "-", "--manifest-version", "9"),
    ):
        assert odf(*arguments).code == 2


def test_a_fault_of_the_program_is_told_without_a_trace(odf: Odf, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise ZeroDivisionError("deep inside")

    monkeypatch.setattr("app.cli.session.find_workspace", fail)
    ran = odf("list")
    assert (ran.code, ran.out) == (1, b"")
    assert "Traceback" not in ran.err
    assert "--debug" in ran.err
    assert "Traceback" in odf("--debug", "list").err


def test_a_file_of_the_system_that_cannot_be_used(odf: Odf, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    ran = odf("init", tmp_path / "file")
    assert ran.code == 3
    assert "Traceback" not in ran.err


def test_the_command_line_loads_little() -> None:
    script = (
        "import sys, app.cli.main\n"
        "heavy = {'pyarrow', 'numpy', 'sqlalchemy', 'fastapi', 'boto3', 'pydantic', 'urllib3', 'websockets', "
        "'cryptography', 'rich.console', 'yaml'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=_root()
    )
    assert ran.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("module", "light"),
    [("app.cli.session", "pyarrow numpy pydantic urllib3 websockets yaml cryptography ssl"),
     ("odf_core.workspace.state", "pyarrow numpy pydantic urllib3 websockets yaml cryptography ssl"),
     ("odf_core.workspace.adding", "pyarrow numpy pydantic urllib3 websockets cryptography ssl"),
     ("odf_core.workspace.ingests", "pydantic urllib3 websockets cryptography llvmlite shapefile ijson"),
     ("odf_core.workspace.tail", "pydantic urllib3 websockets yaml cryptography llvmlite")],
)  # fmt: skip
def test_what_commands_share_loads_little(module: str, light: str) -> None:
    script = f"import sys, {module}\nprint(sorted(set({light.split()!r}) & set(sys.modules)))"
    ran = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, cwd=_root()
    )
    assert ran.stdout.strip() == "[]"


def test_version(odf: Odf) -> None:
    assert odf("--version").text.startswith("odf ")


def _root() -> Path:
    return Path(__file__).resolve().parents[2]
