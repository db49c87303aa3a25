"""Workers that are killed in the middle of transforms: the outcome is that of an undisturbed run.

Two kills by default, as many as ODF_TEST_KILLS says.
"""

import os
import random
import time
from pathlib import Path
from typing import Any

import pytest

from odf_core.engines.handle import SparkEngine
from tests.app_transform.deriving import derive, finished, wait
from tests.ingesting import IngestNode, csv
from tests.node_worker import WorkerProcess, worker_settings
from tests.running_node import running_node
from tests.services import S3Bucket

KILLS = int(os.environ.get("ODF_TEST_KILLS", "2"))
QUERY = "SELECT min(at) AS at, id % 3 AS third, count(*) AS n, sum(id) AS total FROM t GROUP BY id % 3"


@pytest.mark.timeout(300 + 30 * KILLS)
def test_steps_are_taken_once_whenever_workers_are_killed(
    database_url: str, s3_bucket: S3Bucket, spark_engine: SparkEngine, tmp_path: Path
) -> None:
    settings = worker_settings(database_url, s3_bucket, tmp_path)
    dice = random.Random(20261121)
    with running_node(settings) as node:
        worker = WorkerProcess(settings, tmp_path / "worker.log")
        target = IngestNode(node, worker, node.token_of("alice"))
        target.create("ground")
        derive(target, "thirds", {"t": "ground"}, QUERY)
        derive(target, "above", {"t": "thirds"}, "SELECT at, third, total FROM t WHERE third > 0")
        worker.start()
        try:
            for number in range(KILLS + 1):
                assert target.ingest("ground", csv(*range(3 * number, 3 * number + 3)))[0] == 200
                if number < KILLS:
                    time.sleep(dice.uniform(0, 2.0))  # what is hit does not matter, only that it varies
                    worker.kill()
                    worker.start()
            wait(target, lambda: _standing(target.records("above")) == _expected(KILLS + 1))
            for name in ("thirds", "above"):
                _replays(target, name)
        finally:
            worker.kill()
        assert _standing(target.records("thirds")).keys() == {0, 1, 2}
        offsets = [item["offset"] for item in target.records("thirds")]
        assert offsets == list(range(len(offsets)))


def _replays(node: IngestNode, name: str) -> None:
    """Nobody disturbs a replay: each step comes out as it was recorded, logical hashes included."""
    status, found = node.post(f"/alice/{name}/verification")
    if status == 202:
        found = finished(node, f"/jobs/{found['id']}")["result"]
    assert found["ok"], found
    assert found["replay"]["replayed"] == found["replay"]["steps"] > 0, found


def _standing(records: list[dict[str, Any]]) -> dict[int, int]:
    """Totals by third, of the records that stand; each is told once and withdrawn before it is told anew."""
    found: dict[int, int] = {}
    for item in records:
        if item["op"] in (0, 3):
            assert item["third"] not in found
            found[item["third"]] = item["total"]
        else:
            assert found.pop(item["third"]) == item["total"]
    return found


def _expected(rounds: int) -> dict[int, int]:
    return {third: sum(range(third, 3 * rounds, 3)) for third in (1, 2)}
