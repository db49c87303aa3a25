"""Datasets that are computed on the node from others, by themselves."""

from tests.app_transform.deriving import derive, finished, wait
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
