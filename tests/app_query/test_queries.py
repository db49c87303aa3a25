"""`/query` and `/verify` on the engine."""

import json
from typing import Any

import pytest

from tests.ingesting import IngestNode, csv


@pytest.fixture(scope="module")
def cities(ingest_node: IngestNode) -> IngestNode:
    """A dataset `alice/cities` of three records."""
    ingest_node.create("cities")
    status, result = ingest_node.ingest("cities", csv(1, 2, 3))
    assert status == 200, (result, ingest_node.worker.tell())
    return ingest_node


def ask(node: IngestNode, **request: Any) -> tuple[int, Any]:
    return node.post("/query", json.dumps(request).encode(), content_type="application/json")


QUERY = "SELECT offset, id, city FROM `alice/cities` ORDER BY offset DESC"


def test_answers_in_every_form(cities: IngestNode) -> None:
    status, found = ask(cities, query=QUERY)
    assert status == 200, found
    assert found == {
        "output": {
            "data": [{"offset": n - 1, "id": n, "city": f"city {n}"} for n in (3, 2, 1)],
            "dataFormat": "JsonAoS",
        }
    }
    status, found = ask(cities, query=QUERY, dataFormat="JsonSoA", skip=1, limit=1, schemaFormat="ArrowJson")
    assert found["output"]["data"] == {"offset": [1], "id": [2], "city": ["city 2"]}
    fields = found["output"]["schema"]["fields"]
    assert [(item["name"], item["data_type"]) for item in fields] == [
        ("offset", "Int64"),
        ("id", "Int64"),
        ("city", "Utf8"),
    ]


def test_datafusion_answers_too(cities: IngestNode) -> None:
    query = 'SELECT id, city FROM "alice/cities" WHERE offset < 3 ORDER BY id DESC'
    status, found = ask(cities, query=query, queryDialect="SqlDataFusion", limit=2, skip=1, include=["proof"])
    assert status == 200, found
    assert found["output"]["data"] == [{"id": n, "city": f"city {n}"} for n in (2, 1)]
    assert [item["alias"] for item in found["input"]["datasets"]] == ["alice/cities"]
    body = {name: part for name, part in found.items() if name != "output"}
    assert verify(cities, body) == (200, {"ok": True})
    for wrong, code in (('SELECT * FROM "alice/absent"', "dataset_not_found"), ("SELEC", "query_invalid")):
        status, answer = ask(cities, query=wrong, queryDialect="SqlDataFusion")
        assert (status // 100, answer["code"]) == (4, code)


def test_a_signed_answer_is_verified_and_a_changed_one_is_not(cities: IngestNode) -> None:
    status, signed = ask(cities, query=QUERY, include=["proof"])
    assert status == 200, signed
    assert signed["input"]["include"] == ["Input", "Proof"]
    assert [item["alias"] for item in signed["input"]["datasets"]] == ["alice/cities"]
    assert cities.ingest("cities", csv(4))[0] == 200  # the answer is about the blocks before
    body = {name: part for name, part in signed.items() if name != "output"}
    assert verify(cities, body) == (200, {"ok": True})
    status, answer = verify(cities, {**body, "input": {**body["input"], "limit": 7}})
    assert (status, answer["error"]["kind"]) == (400, "InvalidRequest::InputHash")
    status, answer = verify(cities, {**body, "subQueries": [{}]})
    assert (status, answer["error"]["kind"]) == (400, "InvalidRequest::SubQueriesHash")
    other = {**body["proof"], "proofValue": "u" + "A" * 86}
    status, answer = verify(cities, {**body, "proof": other})
    assert (status, answer["error"]["kind"]) == (400, "InvalidRequest::BadSignature")
    status, answer = verify(
        cities, {**body, "proof": {**body["proof"], "type": "EcdsaSecp256k1Signature2019"}}
    )
    assert (status, answer["code"]) == (501, "proof_unsupported")


def verify(node: IngestNode, body: Any) -> tuple[int, Any]:
    return node.post("/verify", json.dumps(body).encode(), content_type="application/json")


@pytest.mark.parametrize(
    ("request_body", "status", "code"),
    [
        ({"query": "SELECT * FROM `alice/absent`"}, 404, "dataset_not_found"),
        ({"query": "SELEC 1"}, 400, None),
        ({"query": "SELECT * FROM parquet.`/etc/x`"}, 400, None),
        ({"query": QUERY, "queryDialect": "SqlFlink"}, 400, "invalid_request"),
        ({"query": QUERY, "unknown": 1}, 400, "invalid_request"),
        ({"query": QUERY, "limit": 10**7}, 413, "query_too_large"),
        ({"query": QUERY, "datasets": []}, 404, "dataset_not_found"),
    ],
)
def test_refusals(cities: IngestNode, request_body: dict[str, Any], status: int, code: str | None) -> None:
    found, answer = ask(cities, **request_body)
    assert found == status or (code is None and 400 <= found < 500), answer
    assert code is None or answer["code"] == code
    assert "Traceback" not in answer["message"]


def test_get_asks_the_same(cities: IngestNode) -> None:
    answer = cities.node.get(
        "/query?query=SELECT%20count(*)%20AS%20n%20FROM%20%60alice/cities%60&include=Input"
    )
    assert answer.status == 200, answer.data
    found = json.loads(answer.data)
    assert found["output"]["data"][0]["n"] >= 3
    assert found["input"]["datasets"][0]["alias"] == "alice/cities"
