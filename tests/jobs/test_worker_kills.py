"""Workers that are killed in the middle of ingests: each input is in its dataset once, in order.

Three kills by default, as many as ODF_TEST_KILLS says.
"""

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from odf_core.engines.handle import SparkEngine
from tests.ingesting import IngestNode, csv
from tests.node_worker import WorkerProcess, worker_settings
from tests.running_node import running_node
from tests.services import S3Bucket

KILLS = int(os.environ.get("ODF_TEST_KILLS", "2"))
SECONDS_FOR_ONE = 120


@pytest.mark.timeout(300 + 30 * KILLS)
def test_each_input_is_there_once_whenever_workers_are_killed(
    database_url: str, s3_bucket: S3Bucket, spark_engine: SparkEngine, tmp_path: Path
) -> None:
    settings = worker_settings(database_url, s3_bucket, tmp_path, ingest={"wait_seconds": 0})
    dice = random.Random(20261121)
    with running_node(settings) as node:
        worker = WorkerProcess(settings, tmp_path / "worker.log")
        target = IngestNode(node, worker, node.token_of("alice"))
        target.create("killed")
        worker.start()
        try:
            jobs = [_pushed(target, number) for number in range(KILLS + 1)]
            left, seen = list(jobs), dict.fromkeys(jobs, 0)
            for _ in range(KILLS):
                _wait_until_one_is_begun(target, left, seen)
                time.sleep(dice.uniform(0, 3.0))  # what is hit does not matter, only that it varies
                worker.kill()
                worker.start()
            results = [_finished(target, job) for job in jobs]
            repeated = [item["attempts"] for item in results if item["attempts"] > 1]
            print(f"{KILLS} kills; {len(repeated)} jobs were begun again, {sum(repeated)} times in all")
            _wait_until_staging_is_empty(target)
        finally:
            worker.kill()
        assert [item["state"] for item in results] == ["done"] * len(jobs), worker.tell()
        assert [item["result"]["numRecords"] for item in results] == [2] * len(jobs)
        expected = [number for job in range(KILLS + 1) for number in (2 * job, 2 * job + 1)]
        assert [item["id"] for item in target.records("killed")] == expected


def _wait_until_staging_is_empty(target: IngestNode) -> None:
    """Inputs go once their jobs are over, also those whose worker was killed between the two."""
    deadline = time.monotonic() + SECONDS_FOR_ONE
    while left := {item.key for item in target.node.context.store.list("staging/")} - {"staging/.keep"}:
        assert time.monotonic() < deadline, left
        time.sleep(0.1)


def _pushed(target: IngestNode, number: int) -> str:
    status, job = target.ingest("killed", csv(2 * number, 2 * number + 1))
    assert status == 202, job
    return str(job["id"])


def _job(target: IngestNode, job: str) -> dict[str, Any]:
    answer = target.node.get(f"/jobs/{job}", token=target.token, headers={"accept": "application/json"})
    assert answer.status == 200
    found: dict[str, Any] = answer.json()
    return found


def _wait_until_one_is_begun(target: IngestNode, left: list[str], seen: dict[str, int]) -> None:
    """Until the worker that runs now has taken up a job; `seen` are the attempts of those before it.

    Jobs run in the order in which they came; those that are over leave the list.
    """
    deadline = time.monotonic() + SECONDS_FOR_ONE
    while left and time.monotonic() < deadline:
        found = _job(target, left[0])
        if "finishedAt" in found:
            left.pop(0)
        elif found["attempts"] > seen[left[0]]:
            seen[left[0]] = found["attempts"]
            return
        else:
            time.sleep(0.02)
    if left:
        pytest.fail(f"no job was begun: {target.worker.tell()}")


def _finished(target: IngestNode, job: str) -> dict[str, Any]:
    deadline = time.monotonic() + SECONDS_FOR_ONE
    while time.monotonic() < deadline:
        found = _job(target, job)
        if "finishedAt" in found:
            return found
        time.sleep(0.1)
    pytest.fail(f"job {job} did not end: {target.worker.tell()}")
