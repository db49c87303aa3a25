"""Datasets that are computed on the node from others, by themselves."""

import json

from tests.app_transform.deriving import derivative, derive, finished, get, wait
from tests.ingesting import IngestNode, csv


def ids(node: IngestNode, name: str) -> list[int]:
    return [item["id"] for item in node.records(name)]


def test_three_levels_follow_by_themselves(ingest_node: IngestNode) -> None:
    node = ingest_node
    node.create("ground")
    made = derive(node, "even", {"t": "ground"}, "SELECT at, id, city FROM t WHERE id % 2 = 0")
    assert finished(node, made["job"])["state"] == "done"
    derive(node, "tens", {"t": "even"}, "SELECT at, id, city FROM t WHERE id % 10 = 0")
    derive(node, "top", {"t": "tens"}, "SELECT at, id + 1000 AS id FROM t")
    assert node.ingest("ground", csv(*range(25)))[0] == 200
    wait(node, lambda: ids(node, "top") == [1000, 1010, 1020])
    assert ids(node, "even") == list(range(0, 25, 2))
    assert node.ingest("ground", csv(*range(25, 45)))[0] == 200
    wait(node, lambda: ids(node, "top") == [1000, 1010, 1020, 1030, 1040])
    status, result = node.post("/alice/top/pull")
    assert (status, result["result"], result["why"]) == (200, "UpToDate", "the inputs have nothing new")
    status, graph = get(node, "/alice/even/lineage")
    assert status == 200
    names = {item["id"]: item["alias"] for item in graph["datasets"]}
    edges = {(names[edge["input"]], names[edge["dataset"]]) for edge in graph["edges"]}
    assert edges == {
        ("alice/ground", "alice/even"),
        ("alice/even", "alice/tens"),
        ("alice/tens", "alice/top"),
    }


def test_lineage_tells_nobody_of_what_he_may_not_read(ingest_node: IngestNode) -> None:
    node = ingest_node
    node.create("open")
    hidden = derivative("hidden", {"t": "open"}, "SELECT * FROM t")
    assert node.post("/datasets", hidden)[0] == 201
    derive(node, "shown", {"t": "hidden", "u": "open"}, "SELECT t.at, t.id FROM t JOIN u ON t.id = u.id")
    bob = node.node.token_of("bob")
    own, others = (get(node, "/alice/shown/lineage", token)[1] for token in (node.token, bob))
    assert {item.get("alias") for item in own["datasets"]} == {"alice/shown", "alice/hidden", "alice/open"}
    assert {item.get("alias") for item in others["datasets"]} == {"alice/shown", None, "alice/open"}
    assert len(others["edges"]) == 2
    below = get(node, "/alice/open/lineage", bob)[1]
    assert {item.get("alias") for item in below["datasets"]} == {"alice/open", "alice/shown", None}
    assert get(node, "/alice/hidden/lineage", bob)[0] == 404


def test_a_dataset_may_not_read_itself(ingest_node: IngestNode) -> None:
    node = ingest_node
    node.create("source")
    derive(node, "first", {"t": "source"}, "SELECT at, id FROM t")
    derive(node, "second", {"t": "first"}, "SELECT at, id FROM t")
    event = json.loads(derivative("x", {"t": "second"}, "SELECT at, id FROM t"))["content"]["metadata"][0]
    status, answer = node.post("/alice/first/metadata", json.dumps(event).encode())
    assert (status, answer["code"]) == (400, "transform_cycle"), answer
