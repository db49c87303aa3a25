"""`POST ingest`: what comes back, and what is in the dataset then."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.ingesting import IngestNode, csv, push_source


def test_pushed_records_are_in_the_dataset(ingest_node: IngestNode) -> None:
    ingest_node.create("pushed")
    status, result = ingest_node.ingest("pushed", csv(1, 2, 3))
    assert status == 200, (result, ingest_node.worker.tell())
    assert (result["result"], result["numBlocks"], result["numRecords"]) == ("Updated", 2, 3)
    records = ingest_node.records("pushed")
    assert [(item["offset"], item["op"], item["id"]) for item in records] == [(0, 0, 1), (1, 0, 2), (2, 0, 3)]
    assert result["newHead"] == ingest_node.node.get("/alice/pushed/refs/head").data.decode()


def test_a_ledger_takes_a_record_once(ingest_node: IngestNode) -> None:
    ingest_node.create("ledger", push_source({"kind": "Ledger", "primaryKey": ["id"]}))
    assert ingest_node.ingest("ledger", csv(1, 2))[1]["numRecords"] == 2
    status, result = ingest_node.ingest("ledger", csv(1, 2))
    assert (status, result["result"], result["numBlocks"]) == (200, "UpToDate", 0)
    assert ingest_node.ingest("ledger", csv(2, 3))[1]["numRecords"] == 1
    assert [item["id"] for item in ingest_node.records("ledger")] == [1, 2, 3]


def test_two_ingests_at_once_both_land(ingest_node: IngestNode) -> None:
    ingest_node.create("busy")
    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(lambda number: ingest_node.ingest("busy", csv(number)), range(4)))
    assert [status for status, _ in answers] == [200] * 4, answers
    assert sorted(item["id"] for item in ingest_node.records("busy")) == [0, 1, 2, 3]
    assert [item["offset"] for item in ingest_node.records("busy")] == [0, 1, 2, 3]


def test_the_same_idempotency_key_is_ingested_once(ingest_node: IngestNode) -> None:
    ingest_node.create("once")
    answers = [ingest_node.ingest("once", csv(1), idempotency_key="first") for _ in range(2)]
    assert answers[0] == answers[1]
    assert [item["id"] for item in ingest_node.records("once")] == [1]


def test_media_type_and_event_time_of_the_request_count(ingest_node: IngestNode) -> None:
    source = {
        "kind": "AddPushSource",
        "sourceName": "default",
        "read": {"kind": "NdJson", "schema": ["id BIGINT"]},
        "merge": {"kind": "Append"},
    }
    ingest_node.create("typed", source)
    status, result = ingest_node.ingest(
        "typed", b"7\n8\n", "?sourceName=default", odf_event_time="2020-05-01T00:00:00Z"
    )
    assert status == 200, (result, ingest_node.worker.tell())
    records = ingest_node.records("typed")
    assert [item["id"] for item in records] == [7, 8]
    assert {str(item["at"]) for item in records} == {"2020-05-01 00:00:00+00:00"}


@pytest.mark.parametrize(
    ("query", "body", "headers", "status", "code"),
    [
        ("?sourceName=absent", csv(1), {}, 400, "push_source_not_found"),
        ("", csv(1), {"content_type": "image/png"}, 415, "unsupported_input_media_type"),
        ("", b"at,id,city\n2024-01-01T00:00:00Z,no number,x\n", {}, 400, None),
        ("", csv(1), {"odf_event_time": "yesterday"}, 400, "invalid_timestamp"),
        ("", csv(1), {"idempotency_key": "x" * 201}, 400, "idempotency_key_invalid"),
    ],
)
def test_refusals(
    ingest_node: IngestNode, query: str, body: bytes, headers: dict[str, str], status: int, code: str | None
) -> None:
    if ingest_node.node.get("/alice/refusing/refs/head").status == 404:
        ingest_node.create("refusing")
    head = ingest_node.node.get("/alice/refusing/refs/head").data
    found, answer = ingest_node.ingest("refusing", body, query, **headers)
    assert found == status, answer
    assert code is None or answer["code"] == code
    assert "Traceback" not in answer["message"]
    assert ingest_node.node.get("/alice/refusing/refs/head").data == head


def test_who_may_not_write_is_told_so(ingest_node: IngestNode) -> None:
    ingest_node.create("guarded")
    bob = ingest_node.node.token_of("bob")
    path = "/alice/guarded/ingest"
    assert ingest_node.node.request("POST", path, body=csv(1)).status == 401
    assert ingest_node.node.request("POST", path, body=csv(1), token=bob).status == 403
    assert ingest_node.ingest("absent", csv(1))[0] == 404
    status, job = ingest_node.ingest("guarded", csv(1))
    assert status == 200, job
