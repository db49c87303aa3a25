"""Three levels over a real log: pushed slices go through by themselves, and another place reads the end."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.app_transform.deriving import derive, get, wait
from tests.ingesting import IngestNode
from tests.real_data.conftest import MANIFESTS
from tests.real_data.reading import DATA, leap_seconds

SECONDS = "SELECT effective_from AS at, tai_minus_utc FROM log"
BY_DECADE = (
    "SELECT min(at) AS at, year(at) DIV 10 * 10 AS decade, count(*) AS steps FROM seconds "
    "GROUP BY year(at) DIV 10 * 10"
)
BUSY = "SELECT at, decade, steps FROM decades WHERE steps > 4"


def test_a_pushed_slice_goes_through_all_levels(
    ingest_node: IngestNode, home: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = ingest_node
    manifest = yaml.safe_load((MANIFESTS / "leap-seconds.yaml").read_text("utf-8"))
    source = manifest["content"]["metadata"][0]
    source["kind"], source["sourceName"] = "AddPushSource", "default"
    del source["fetch"]
    assert node.post("/datasets?visibility=Public", json.dumps(manifest).encode())[0] == 201
    derive(node, "seconds", {"log": "leap-seconds"}, SECONDS)
    derive(node, "decades", {"seconds": "seconds"}, BY_DECADE)
    derive(node, "busy", {"decades": "decades"}, BUSY)
    for edition in ("1990", "2017"):
        body = (DATA / f"leap-seconds-{edition}.csv").read_bytes()
        assert node.ingest("leap-seconds", body)[0] == 200
        wait(node, lambda edition=edition: _standing(node.records("busy")) == _busy(edition))
    graph = get(node, "/alice/busy/lineage")[1]
    names = [item["alias"].removeprefix("alice/") for item in graph["datasets"]]
    assert names == ["busy", "decades", "seconds", "leap-seconds"]
    status, found = node.post("/alice/decades/verification")
    assert (status, found["ok"], found["replay"]["replayed"]) == (200, True, 2), found
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for command in (("init",), ("pull", f"odf+{node.node.base_url}/alice/busy"), ("verify", "busy")):
        ran = home(*command)
        assert ran.code == 0, ran.err
    ran = home("sql", "SELECT op, decade, steps FROM busy ORDER BY offset", "-o", "json")
    assert ran.code == 0, ran.err
    assert _standing(ran.json) == _busy("2017")


def _standing(records: list[dict[str, Any]]) -> dict[int, int]:
    """Steps by decade, of the records that stand."""
    found: dict[int, int] = {}
    for item in records:
        if item["op"] in (0, 3):
            found[item["decade"]] = item["steps"]
        else:
            del found[item["decade"]]
    return found


def _busy(edition: str) -> dict[int, int]:
    decades = [int(date[:3]) * 10 for date, _ in leap_seconds(edition)]
    return {ten: decades.count(ten) for ten in decades if decades.count(ten) > 4}
