"""Verification of a dataset and of everything that it is computed from, on the node."""

import asyncio
import json
import threading
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from app.context import NodeContext
from app.ingest.scratch import worker_scratch
from app.jobs.service import begin_job
from app.verification import work
from app.verification.check import check_files
from app.verification.work import VerifyWork
from odf_core.verify import Phase, Progress
from tests.app_transform.deriving import derivative, derive, finished, get, wait
from tests.ingesting import IngestNode, csv, manifest
from tests.node_worker import worker_settings
from tests.running_node import running_node
from tests.services import S3Bucket


def verify(node: IngestNode, name: str, query: str = "") -> Any:
    status, found = node.post(f"/alice/{name}/verification?recursive=true{query}")
    assert status == 200, (found, node.worker.tell())
    return found


def attestations(node: IngestNode, name: str) -> int:
    return len(get(node, f"/alice/{name}/attestations")[1]["attestations"])


def test_each_dataset_once_with_a_statement_of_its_own(ingest_node: IngestNode) -> None:
    node = ingest_node
    node.create("ground")
    assert node.ingest("ground", csv(*range(4)))[0] == 200
    for name, rest in (("even", 0), ("odd", 1)):
        made = derive(node, name, {"t": "ground"}, f"SELECT at, id FROM t WHERE id % 2 = {rest}")
        assert finished(node, made["job"])["state"] == "done"
    union = "SELECT at, id FROM e UNION ALL SELECT at, id FROM o"
    assert finished(node, derive(node, "both", {"e": "even", "o": "odd"}, union)["job"])["state"] == "done"
    found = verify(node, "both")
    assert (found["ok"], found["findings"]) == (True, [])
    assert [item["alias"] for item in found["datasets"]] == [
        "alice/ground",
        "alice/even",
        "alice/odd",
        "alice/both",
    ]
    assert [(item["ok"], item["isAttested"]) for item in found["datasets"]] == [(True, True)] * 4
    assert [item.get("replay", {}).get("replayed") for item in found["datasets"]][:3] == [None, 1, 1]
    assert [attestations(node, name) for name in ("ground", "even", "odd", "both")] == [1, 1, 1, 1]
    assert get(node, "/alice/odd/verification")[1]["verdict"] == "Good"

    chain = [block.hash for block in node.chain("both").key_blocks]
    found = verify(node, "both", f"&to={chain[0]}")
    assert [item.get("replay", {}).get("steps") for item in found["datasets"]] == [None, 1, 1, 0]


def test_what_the_caller_may_not_read_is_told(ingest_node: IngestNode) -> None:
    """Bob reads what alice has shown, not what it is made of; and leaves no word about it beside it."""
    node = ingest_node
    assert node.post("/datasets", manifest("secret"))[0] == 201
    derive(node, "shown", {"t": "secret"}, "SELECT * FROM t")
    bob = node.node.token_of("bob")
    headers = {"accept": "application/json"}

    def post(path: str, body: bytes = b"") -> Any:
        answer = node.node.request("POST", path, token=bob, body=body, headers=headers)
        assert answer.status in (200, 201), answer.data
        return json.loads(answer.data)

    made = post("/datasets", derivative("taken", {"t": "alice/shown"}, "SELECT at, id FROM t"))
    wait(node, lambda: json.loads(node.node.get(made["job"], token=bob).data).get("finishedAt"))
    found = post("/bob/taken/verification?recursive=true")
    assert not found["ok"]
    assert [item["code"] for item in found["findings"]] == ["input_not_valid"]
    shown, taken = found["datasets"]
    assert [item["code"] for item in shown["findings"]] == ["input_not_verified"]
    assert "secret" not in json.dumps(found)
    assert (shown["ok"], shown["isAttested"], taken["isAttested"]) == (False, False, True)
    assert get(node, "/alice/shown/verification")[1]["verdict"] == "Unknown"
    # by herself
    assert verify(node, "shown")["ok"]
    assert get(node, "/alice/shown/verification")[1]["verdict"] == "Good"
    # a weaker look, by someone who may only read it, does not take the place of hers
    post("/bob/taken/verification?recursive=true&level=integrity")
    assert attestations(node, "shown") == 1


def test_progress_stands_at_the_job(
    database_url: str, s3_bucket: S3Bucket, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The verification stops after its first block until that was seen."""
    seen = threading.Event()

    def slow(store: Any, subject: Any, options: Any, show: Any) -> Any:
        show(Progress(Phase.BLOCKS, 1, None))
        assert seen.wait(120)
        return check_files(store, subject, options, show)

    monkeypatch.setattr(work, "check_files", slow)
    settings = worker_settings(database_url, s3_bucket, tmp_path, ingest={"wait_seconds": 0})
    with running_node(settings) as started, worker_scratch(tmp_path / "scratch", 0) as scratch:
        node = IngestNode(started, None, started.token_of("alice"))  # type: ignore[arg-type]
        node.create("watched")
        status, job = node.post("/alice/watched/verification")
        assert (status, job["state"], job.get("progress")) == (202, "waiting", None)
        assert node.post("/alice/watched/verification")[1]["id"] == job["id"]
        assert node.post("/alice/watched/verification?level=integrity")[1]["id"] != job["id"]

        async def run(context: NodeContext) -> None:
            begun = await begin_job(context.engine, UUID(job["id"]))
            assert begun is not None
            await VerifyWork(context, _no_engine, scratch, tell_seconds=0.01).run(begun)

        done = asyncio.run_coroutine_threadsafe(run(started.context), started.loop)
        try:
            told = wait(node, lambda: _under_way(node, job["address"]))
        finally:
            seen.set()
        assert (told["state"], told.get("result")) == ("running", None)
        current = [{"dataset": "alice/watched", "phase": "blocks", "done": 1}]
        assert told["progress"] in (
            {"datasets": 1, "verified": 0, "current": current},
            {"datasets": 1, "verified": 0, "current": [{"dataset": "alice/watched"}]},
        )
        done.result(120)
        over = finished(node, job["address"])
        assert (over["state"], over["result"]["ok"], over.get("progress")) == ("done", True, None)


def _under_way(node: IngestNode, address: str) -> Any:
    """The job, once it tells of a dataset."""
    job = get(node, address)[1]
    return job if job.get("progress", {}).get("current") else None


def _no_engine(transform: Any) -> Any:
    raise AssertionError(transform)
