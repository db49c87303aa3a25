"""`POST pull` and schedules: the node asks a source itself."""

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.ingesting import SCHEMA, IngestNode, csv


class _Source(ThreadingHTTPServer):
    """Serves `content` with an ETag that follows it."""

    content = b""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/data.csv"


class _Handler(BaseHTTPRequestHandler):
    server: _Source

    def do_GET(self) -> None:
        content = self.server.content
        tag = f'"{hash(content)}"'
        if self.headers.get("if-none-match") == tag:
            self.send_response(304)
            self.end_headers()
            return
        self.send_response(200)
        self.send_header("etag", tag)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        """Quiet."""


@contextmanager
def source() -> Iterator[_Source]:
    server = _Source(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def polling(url: str) -> dict[str, Any]:
    return {
        "kind": "SetPollingSource",
        "fetch": {"kind": "Url", "url": url},
        "read": {"kind": "Csv", "header": True, "schema": SCHEMA},
        "merge": {"kind": "Ledger", "primaryKey": ["id"]},
    }


def test_a_pull_takes_what_is_new(ingest_node: IngestNode) -> None:
    with source() as server:
        ingest_node.create("polled", polling(server.url))
        server.content = csv(1, 2)
        status, result = ingest_node.post("/alice/polled/pull")
        assert status == 200, (result, ingest_node.worker.tell())
        assert (result["result"], result["numRecords"]) == ("Updated", 2)
        status, result = ingest_node.post("/alice/polled/pull")
        assert (status, result["result"], result["why"]) == (200, "UpToDate", "the source has nothing new")
        server.content = csv(1, 2, 3)
        assert ingest_node.post("/alice/polled/pull")[1]["numRecords"] == 1
    assert [item["id"] for item in ingest_node.records("polled")] == [1, 2, 3]


def test_what_cannot_be_pulled_is_told(ingest_node: IngestNode) -> None:
    ingest_node.create("unpolled")
    status, answer = ingest_node.post("/alice/unpolled/pull")
    assert (status, answer["code"]) == (400, "no_polling_source")
    with source() as server:
        ingest_node.create("gone", polling(server.url + "x"))
        server.content = b"at,id,city\nnothing like it\n"
        status, answer = ingest_node.post("/alice/gone/pull")
    assert 400 <= status < 500, answer
    assert answer["message"].startswith(f"Input '{server.url}x'"), answer
    assert "Traceback" not in answer["message"]


def test_a_schedule_is_kept_and_its_turn_makes_a_job(ingest_node: IngestNode) -> None:
    with source() as server:
        ingest_node.create("scheduled", polling(server.url))
        server.content = csv(7)
        path = "/alice/scheduled/schedule"
        assert ingest_node.node.get(path, token=ingest_node.token).status == 404
        answer = _put(ingest_node, path, {"cron": "* * * * *"})
        assert answer.status == 200, answer.data
        assert json.loads(answer.data)["cron"] == "* * * * *"
        _make_due(ingest_node)
        deadline = time.monotonic() + 60
        while not ingest_node.records("scheduled") and time.monotonic() < deadline:
            time.sleep(0.1)
        assert [item["id"] for item in ingest_node.records("scheduled")] == [7], ingest_node.worker.tell()
        assert ingest_node.node.request("DELETE", path, token=ingest_node.token).status == 204
        assert ingest_node.node.get(path, token=ingest_node.token).status == 404


@pytest.mark.parametrize("cron", ["", "* * * *", "* * * * * *", "61 * * * *", "soon", "0 0 31 2 *"])
def test_schedules_that_are_none(ingest_node: IngestNode, cron: str) -> None:
    if ingest_node.node.get("/alice/untimed/refs/head").status == 404:
        ingest_node.create("untimed", polling("https://example.org/x.csv"))
    answer = _put(ingest_node, "/alice/untimed/schedule", {"cron": cron})
    assert (answer.status, json.loads(answer.data)["code"]) == (400, "invalid_schedule")


def _put(node: IngestNode, path: str, body: dict[str, Any]) -> Any:
    headers = {"content-type": "application/json", "accept": "application/json"}
    return node.node.request("PUT", path, token=node.token, body=json.dumps(body).encode(), headers=headers)


def _make_due(node: IngestNode) -> None:
    """As if the minute had passed."""
    from sqlalchemy import text

    from app.context import NodeContext
    from app.database import begin

    async def work(context: NodeContext) -> None:
        async with begin(context.engine) as conn:
            await conn.execute(text("UPDATE pull_schedule SET next_at = now() - interval '1 minute'"))

    node.node.run(work)
