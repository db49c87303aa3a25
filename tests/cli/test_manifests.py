"""`odf new` and `odf add`."""

import http.server
import io
import threading
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.cli.conftest import Odf


@pytest.fixture
def web(tmp_path: Path) -> Iterator[str]:
    """A folder `web` of the test, served over HTTP."""
    folder = tmp_path / "web"
    folder.mkdir()

    class Handler(http.server.SimpleHTTPRequestHandler):
        def __init__(self, *args: object) -> None:
            super().__init__(*args, directory=str(folder))  # type: ignore[arg-type]

        def log_message(self, *_: object) -> None:
            pass

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()


def test_from_new_to_add(odf: Odf) -> None:
    odf("init")
    assert odf("new", "foo", "--root", "-o", "json").json == {
        "file": "foo.yaml",
        "dataset": "foo",
        "kind": "Root",
    }
    assert odf("new", "bar", "--derivative").text == "Wrote bar.yaml; edit it, then run `odf add bar.yaml`\n"
    for wrong in (("foo", "--root"), ("baz",), ("baz", "--root", "--derivative")):
        assert odf("new", *wrong).code == 2
    assert odf("add", "foo.yaml").text == "Added foo\n1 dataset(s) added\n"
    path = Path("bar.yaml")
    path.write_text(path.read_text().replace("name-of-an-input", "foo"))
    (row,) = odf("add", "bar.yaml", "--name", "other", "-o", "json").json
    assert (row["dataset"], row["kind"], row["numBlocks"], row["replaced"]) == (
        "other",
        "Derivative",
        3,
        None,
    )
    assert [item["name"] for item in odf("list", "-o", "json").json] == ["foo", "other"]


def test_all_or_none(odf: Odf) -> None:
    odf("init")
    odf("new", "foo", "--root")
    Path("bad.yaml").write_text(Path("foo.yaml").read_text().replace("kind: Root", "kind: Tree"))
    ran = odf("add", "foo.yaml", "bad.yaml", "-o", "json")
    assert (ran.code, ran.error["code"]) == (3, "invalid_manifest")
    assert ran.error["message"].startswith("bad.yaml, line 5: ")
    assert odf("list", "-o", "json").json == []


def test_replacing(odf: Odf) -> None:
    odf("init")
    odf("new", "foo", "--root")
    first = odf("add", "foo.yaml", "-o", "json").json[0]["datasetId"]
    refused = odf("add", "foo.yaml", "-o", "json")
    assert (refused.code, refused.error["code"]) == (6, "local_dataset_exists")
    again = odf("add", "foo.yaml", "--replace", "--yes", "-o", "json").json[0]
    assert again["replaced"] == first
    assert [item["id"] for item in odf("list", "-o", "json").json] == [again["datasetId"]]


def test_standard_input(odf: Odf, monkeypatch: pytest.MonkeyPatch) -> None:
    odf("init")
    odf("new", "foo", "--root")
    monkeypatch.setattr(
        "sys.stdin", SimpleNamespace(buffer=io.BytesIO(Path("foo.yaml").read_bytes()), isatty=lambda: False)
    )
    assert odf("add", "-").code == 0


def test_from_the_web(odf: Odf, web: str, tmp_path: Path) -> None:
    odf("init")
    odf("new", "foo", "--root", "--file", str(tmp_path / "web" / "foo.yaml"))
    assert odf("add", "--from-url", f"{web}/foo.yaml").text.startswith("Added foo")
    missing = odf("add", f"{web}/other.yaml", "-o", "json")
    assert (missing.code, missing.error["code"]) == (3, "manifest_unreadable")
    assert odf("add", "--from-url", "foo.yaml").code == 2
    with (tmp_path / "web" / "big.yaml").open("wb") as file:
        file.truncate(9 << 20)
    big = odf("add", f"{web}/big.yaml")
    assert big.code != 0
    assert "more than" in big.err
