"""Three levels over a real log: pushed slices go through by themselves and on to a second node, which knows
nothing but the address of the first. It replays all that it serves, and a third place reads the end."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.app_mirrors.mirroring import add_repo, mirror
from tests.app_transform.deriving import derive, get, wait
from tests.ingesting import IngestNode
from tests.real_data.conftest import MANIFESTS
from tests.real_data.reading import DATA, leap_seconds

SECONDS = "SELECT effective_from AS at, tai_minus_utc FROM log"
BY_DECADE = (
    "SELECT min(at) AS at, year(at) DIV 10 * 10 AS decade, count(*) AS steps FROM seconds "
    "GROUP BY year(at) DIV 10 * 10"
)
LEVELS = ["leap-seconds", "seconds", "decades", "busy"]
BUSY = "SELECT at, decade, steps FROM decades WHERE steps > 4"


def test_a_pushed_slice_goes_through_all_levels(
    ingest_node: IngestNode,
    second_node: IngestNode,
    home: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    node, second = ingest_node, second_node
    add_repo(second.node, "first", f"odf+{node.node.base_url}")
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
        if edition == "1990":
            status, found = mirror(second, f"{node.node.base_url}/alice/busy", recursive=True)
            assert status == 200, found
            assert [item["dataset"].removeprefix("alice/") for item in found["datasets"]] == LEVELS
        wait(second, lambda edition=edition: _standing(second.records("busy")) == _busy(edition))
    graph = get(second, "/alice/busy/lineage")[1]
    assert [item["mirrorOf"] for item in graph["datasets"]] == [
        f"first/alice/{name}" for name in LEVELS[::-1]
    ]
    status, found = second.post("/alice/busy/verification?recursive=true")
    assert (status, found["ok"]) == (200, True), found
    replayed = {item["alias"]: (item.get("replay") or {}).get("replayed") for item in found["datasets"]}
    assert replayed == {f"alice/{name}": None if name == LEVELS[0] else 2 for name in LEVELS}
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    for command in (("init",), ("pull", f"odf+{second.node.base_url}/alice/busy"), ("verify", "busy")):
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
