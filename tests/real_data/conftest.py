"""Commands that share the engine of the run, and a site that serves the data."""

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from email.utils import formatdate
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from tests.app_ingest.conftest import ingest_node
from tests.cli.conftest import Odf, odf
from tests.fixtures_node import shared_node
from tests.running_node import RunningNode
from tests.spark_fixture import spark_engine, spark_environment

__all__ = ["ingest_node", "odf", "shared_node", "spark_engine"]
MANIFESTS = Path(__file__).with_name("manifests")


@dataclass(frozen=True)
class Site:
    """A folder on the web. Answers carry an ETag of the content and honour If-None-Match."""

    url: str
    folder: Path
    statuses: list[int]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    folder = tmp_path / "site"
    folder.mkdir()
    statuses: list[int] = []

    class Handler(SimpleHTTPRequestHandler):
        def do_GET(self) -> None:
            body = Path(self.translate_path(self.path)).read_bytes()
            tag = f'"{hash(body) & 0xFFFFFFFF:x}"'
            fresh = self.headers.get("If-None-Match") == tag
            statuses.append(304 if fresh else 200)
            self.send_response(statuses[-1])
            self.send_header("ETag", tag)
            self.send_header("Last-Modified", formatdate(1.5e9, usegmt=True))
            if not fresh:
                self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(b"" if fresh else body)

        def log_message(self, *_args: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield Site(f"http://127.0.0.1:{server.server_port}", folder, statuses)
    server.shutdown()
    server.server_close()


@pytest.fixture
def home(odf: Odf, spark_engine: Any, monkeypatch: pytest.MonkeyPatch) -> Odf:
    """A workspace of the publisher's, in the current folder."""
    for name, value in spark_environment().items():
        monkeypatch.setenv(name, value)
    assert odf("init").code == 0
    return odf


@dataclass(frozen=True)
class Elsewhere:
    """A dataset in another workspace, where it came by way of a node."""

    odf: Odf
    name: str

    def rows(self, query: str) -> list[dict[str, Any]]:
        ran = self.odf("sql", query, "-o", "json")
        assert ran.code == 0, ran.err
        rows: list[dict[str, Any]] = ran.json
        return rows

    def tail(self, records: int) -> list[dict[str, Any]]:
        rows: list[dict[str, Any]] = self.odf("tail", self.name, "-n", records, "-o", "json").json
        return rows


@pytest.fixture
def arrive(home: Odf, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Elsewhere]:
    """Goes to another folder, where a dataset is pulled from its address on a node and verified."""

    def arrive(address: str) -> Elsewhere:
        name = address.rpartition("/")[2]
        elsewhere = tmp_path / "elsewhere"
        elsewhere.mkdir()
        monkeypatch.chdir(elsewhere)
        for command in (("init",), ("pull", address), ("verify", name)):
            ran = home(*command)
            assert ran.code == 0, ran.err
        return Elsewhere(home, name)

    return arrive


@pytest.fixture
def travel(
    home: Odf, shared_node: RunningNode, arrive: Callable[[str], Elsewhere]
) -> Callable[[str], Elsewhere]:
    """Pushes a dataset to the node, and goes where it is pulled and verified."""

    def travel(name: str) -> Elsewhere:
        assert os.listdir(".odf/work") == []
        address = f"odf+{shared_node.base_url}/alice/{name}"
        pushed = home(
            "push", name, address, "--token", shared_node.token_of("alice"), "--visibility", "public"
        )
        assert pushed.code == 0, pushed.err
        return arrive(address)

    return travel


def done(ran: Any) -> dict[str, Any]:
    """What a command that went well says with `-o json`."""
    assert ran.code == 0, ran.err
    facts: dict[str, Any] = ran.json
    return facts
