"""`GET tail` and `GET metadata`."""

import json
from typing import Any

from tests.ingesting import IngestNode, csv, push_source


def get(node: IngestNode, path: str) -> Any:
    answer = node.node.get(path, headers={"accept": "application/json"})
    assert answer.status == 200, answer.data
    return json.loads(answer.data)


def test_the_tail_is_the_last_records_by_offset(ingest_node: IngestNode) -> None:
    ingest_node.create("tailed")
    assert get(ingest_node, "/alice/tailed/tail") == {"data": [], "dataFormat": "JsonAoS"}
    for ids in ((1, 2, 3), (4,), (5, 6)):
        status, result = ingest_node.ingest("tailed", csv(*ids))
        assert status == 200, (result, ingest_node.worker.tell())
    assert [row["id"] for row in get(ingest_node, "/alice/tailed/tail")["data"]] == [1, 2, 3, 4, 5, 6]
    part = get(ingest_node, "/alice/tailed/tail?skip=1&limit=3&dataFormat=JsonSoA")
    assert part["data"]["offset"] == [2, 3, 4]
    assert part["data"]["id"] == [3, 4, 5]
    assert part["data"]["at"][0] == "2024-01-01T00:00:03Z"
    assert get(ingest_node, "/alice/tailed/tail?limit=0")["data"] == []


def test_the_tail_as_of_then_and_what_stands(ingest_node: IngestNode) -> None:
    ingest_node.create("standing", push_source({"kind": "UpsertStream", "primaryKey": ["id"]}))
    for rows in ("0,1,old", "0,2,kept", "9,1,new"):
        seconds, number, city = rows.split(",")
        body = f"at,id,city\n2024-01-01T00:00:0{seconds}Z,{number},{city}\n".encode()
        status, result = ingest_node.ingest("standing", body)
        assert status == 200, (result, ingest_node.worker.tell())

    def cities(query: str) -> list[str]:
        return [row["city"] for row in get(ingest_node, f"/alice/standing/tail?{query}")["data"]]

    assert cities("") == ["old", "kept", "old", "new"]
    assert cities("asOf=1") == cities("asOf=1&state=true") == ["old", "kept"]
    assert cities("state=true") == ["kept", "new"]
    assert cities("state=true&skip=1") == ["kept"]
    assert sorted(cities("at=2024-01-01T00:00:05Z")) == ["kept", "old"]
    head = ingest_node.node.get("/alice/standing/refs/head").data.decode()
    assert cities(f"asOf={head}&limit=1") == cities("asOf=2999-01-01&limit=1") == ["new"]
    for query, status, code in (
        ("asOf=4", 404, "as_of_not_found"),
        ("asOf=2001-01-01", 404, "as_of_not_found"),
        ("asOf=then", 400, "as_of_invalid"),
        ("at=then", 400, "as_of_invalid"),
    ):
        answer = ingest_node.node.get(f"/alice/standing/tail?{query}", headers={"accept": "application/json"})
        assert (answer.status, json.loads(answer.data)["code"]) == (status, code)


def test_metadata_tells_what_holds(ingest_node: IngestNode) -> None:
    ingest_node.create("told")
    output = get(ingest_node, "/alice/told/metadata")["output"]
    assert output["refs"] == [
        {"name": "head", "blockHash": ingest_node.node.get("/alice/told/refs/head").data.decode()}
    ]
    assert output["sources"][0]["kind"] == "AddPushSource"
    assert output["vocab"]["eventTimeColumn"] == "at"
    assert "schema" not in output
    assert list(get(ingest_node, "/alice/told/metadata?include=Seed,vocab")["output"]) == ["seed", "vocab"]
    answer = ingest_node.node.get("/alice/told/metadata?include=sead", headers={"accept": "application/json"})
    assert (answer.status, json.loads(answer.data)["code"]) == (400, "invalid_request")
    assert "'sead' is no part of the metadata; the parts are attachments, info" in answer.data.decode()


def test_a_private_dataset_is_absent_for_others(ingest_node: IngestNode) -> None:
    text = b"kind: DatasetSnapshot\nversion: 1\ncontent:\n  name: hidden\n  kind: Root\n  metadata: []\n"
    assert ingest_node.post("/datasets", text)[0] == 201
    for path in ("/alice/hidden/tail", "/alice/hidden/metadata"):
        assert ingest_node.node.get(path).status == 404
        assert ingest_node.node.get(path, token=ingest_node.token).status == 200
