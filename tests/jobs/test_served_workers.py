"""`odf serve --embedded` with its own worker, which works for it and ends with it."""

import json
import os
import socket
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil
import pytest
import urllib3

from odf_core.engines.handle import SparkEngine
from tests.ingesting import csv, manifest, push_source
from tests.kill.node_process import NodeProcess
from tests.spark_fixture import spark_environment


@pytest.mark.long
def test_a_node_brings_its_worker_along(spark_engine: SparkEngine, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("tests.kill.node_process._environment", lambda: _environment(), raising=True)
    node = NodeProcess(tmp_path / "data", _free_port())
    try:
        node.start()
        node.admin("account", "create", "alice")
        token = node.admin("token", "create", "alice").split()[-1]
        assert _post(node, "/datasets", token, manifest("kept", push_source()))[0] == 201
        assert _ingest(node, token, 1) == (200, 1)
        workers = _workers(node)
        assert len(workers) == 1
        node.kill()
        _wait_until(lambda: not workers[0].is_running())
        node.start()
        assert _ingest(node, token, 2, _uploaded(node, token, csv(2))) == (200, 1)
        workers = _workers(node)
        workers[0].kill()  # another one takes its place
        assert _ingest(node, token, 3) == (200, 1)
        node.stop()
        _wait_until(lambda: not any(item.is_running() for item in workers))
    finally:
        node.stop()


def _environment() -> dict[str, str]:

    kept = {name: value for name, value in os.environ.items() if not name.startswith("ODF_")}
    return (
        kept | spark_environment() | {"ODF_JOBS__STALLED_SECONDS": "2", "ODF_JOBS__HEARTBEAT_SECONDS": "0.5"}
    )


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


def _post(node: NodeProcess, path: str, token: str, body: bytes) -> tuple[int, Any]:
    headers = {"authorization": f"Bearer {token}", "content-type": "text/csv", "accept": "application/json"}
    answer = urllib3.request("POST", node.address + path, headers=headers, body=body, timeout=180)
    return answer.status, json.loads(answer.data)


def _uploaded(node: NodeProcess, token: str, body: bytes) -> str:
    """The token of a file that went to the embedded S3 by itself."""
    path = f"/platform/file/upload/prepare?fileName=x.csv&contentLength={len(body)}"
    status, prepared = _post(node, path, token, b"")
    assert status == 200, prepared
    answer = urllib3.request("PUT", prepared["uploadUrl"], body=body, headers=dict(prepared["headers"]))
    assert answer.status == 200, answer.data
    return quote(prepared["uploadToken"])


def _ingest(node: NodeProcess, token: str, number: int, upload: str = "") -> tuple[int, int | None]:
    """Status and number of records, waited for."""
    query, body = (f"?uploadToken={upload}", b"") if upload else ("", csv(number))
    status, answer = _post(node, f"/alice/kept/ingest{query}", token, body)
    headers = {"authorization": f"Bearer {token}"}
    deadline = time.monotonic() + 120
    while status == 202 and time.monotonic() < deadline:
        time.sleep(0.2)
        job = urllib3.request("GET", f"{node.address}/jobs/{answer['id']}", headers=headers).json()
        if "finishedAt" in job:
            assert job["state"] == "done", job
            return 200, job["result"]["numRecords"]
    return status, answer.get("numRecords")


def _workers(node: NodeProcess) -> list[psutil.Process]:
    """The children of this node that are workers."""
    assert node._process is not None
    children = psutil.Process(node._process.pid).children(recursive=True)
    return [item for item in children if item.cmdline()[-1:] == ["worker"]]


def _wait_until(holds: Any) -> None:
    deadline = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.05)
