"""`POST …/metadata`: a dataset's metadata changed by events that a client sends."""

import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from zlib import crc32

import pytest

from odf_core.metadata import event_kind
from tests.ingesting import SCHEMA, IngestNode, csv, push_source

INFO = b"kind: SetInfo\ndescription: Cities\n"
POLLING = {
    "kind": "SetPollingSource",
    "fetch": {"kind": "Url", "url": "https://example.org/x.csv"},
    "read": {"kind": "Csv", "header": True, "schema": SCHEMA},
    "merge": {"kind": "Append"},
}


def _schema(*columns: tuple[str, str]) -> dict[str, Any]:
    instant = {"kind": "Timestamp", "unit": "Millisecond", "timezone": "UTC"}
    fields: list[dict[str, Any]] = [
        {"name": "offset", "type": {"kind": "Int64"}},
        {"name": "op", "type": {"kind": "Int32"}},
        {"name": "system_time", "type": instant},
        {"name": "at", "type": instant},
    ]
    fields += [{"name": name, "type": {"kind": "Option", "inner": {"kind": kind}}} for name, kind in columns]
    return {"kind": "SetDataSchema", "schema": {"fields": fields}}


def test_events_change_what_the_dataset_says(ingest_node: IngestNode) -> None:
    ingest_node.create("changed")
    before = ingest_node.chain("changed").dataset.head
    license_ = b"kind: SetLicense\nshortName: CC0\nname: Zero\nwebsiteUrl: https://example.org\n"
    status, done = ingest_node.post("/alice/changed/metadata", INFO + b"---\n" + license_)
    assert (status, done["result"], done["numBlocks"]) == (200, "Updated", 2), done
    assert (done["oldHead"], done["events"][0]) == (str(before), {"kind": "SetInfo", "change": "New"})
    chain = ingest_node.chain("changed")
    assert str(chain.dataset.head) == done["newHead"]
    info = chain.history.projection.info
    assert info is not None
    assert info.description == "Cities"
    shown = json.loads(ingest_node.node.get("/alice/changed/metadata").data)["output"]
    assert (shown["info"]["description"], shown["license"]["shortName"]) == ("Cities", "CC0")

    status, again = ingest_node.post("/alice/changed/metadata", INFO)
    assert (status, again["result"], again["numBlocks"]) == (200, "UpToDate", 0)
    assert (again["newHead"], again["events"]) == (done["newHead"], [{"kind": "SetInfo", "change": "None"}])


def test_new_columns_are_filled_by_the_next_ingest(ingest_node: IngestNode) -> None:
    ledger = {"kind": "Ledger", "primaryKey": ["id"]}
    ingest_node.create("wider", push_source(ledger))
    assert ingest_node.ingest("wider", csv(1, 2))[0] == 200
    source = push_source(ledger)
    source["read"]["schema"] = [*SCHEMA, "url STRING"]
    schema = _schema(("id", "Int64"), ("city", "String"), ("url", "String"))
    body = "\n---\n".join(json.dumps(event) for event in (schema, source)).encode()
    status, done = ingest_node.post("/alice/wider/metadata?dryRun=true", body)
    assert (status, done["result"], done["notes"]) == (200, "UpToDate", []), done
    assert [event["change"] for event in done["events"]] == ["New", "New"]
    status, done = ingest_node.post("/alice/wider/metadata", body)
    assert (status, done["numBlocks"]) == (200, 2), done
    more = b"at,id,city,url\n2024-01-01T00:00:02Z,2,city 2,\n2024-01-01T00:00:03Z,3,city 3,https://x\n"
    status, ingested = ingest_node.ingest("wider", more)
    assert (status, ingested["numRecords"]) == (200, 1), ingested
    assert ingest_node.records("wider")[-1]["url"] == "https://x"


@pytest.mark.parametrize(
    ("event", "status", "code", "says"),
    [
        (b"", 400, "invalid_manifest", "no event"),
        (b"kind: SetInfo\ncolour: red\n", 400, "invalid_manifest", "line 2: "),
        (POLLING, 400, "event_refused", "push sources have been added before: 'default'"),
        (
            {**POLLING, "fetch": {"kind": "FilesGlob", "path": "/etc/*"}},
            403,
            "fetch_not_allowed",
            "filesGlob",
        ),
        ({"kind": "AddData"}, 400, "event_refused", "odf ingest"),
        ({"kind": "SetVocab", "eventTimeColumn": "city"}, 400, "event_refused", "any more: "),
        (push_source({"kind": "Ledger", "primaryKey": ["town"]}), 400, "merge_key_missing", "'town'"),
    ],
)
def test_refused_events_change_nothing(
    ingest_node: IngestNode, event: dict[str, Any] | bytes, status: int, code: str, says: str
) -> None:
    name = f"refusing-{code.replace('_', '-')}-{crc32(says.encode())}"
    ingest_node.create(name)
    head = ingest_node.chain(name).dataset.head
    body = event if isinstance(event, bytes) else json.dumps(event).encode()
    found, answer = ingest_node.post(f"/alice/{name}/metadata", body)
    assert (found, answer["code"]) == (status, code), answer
    assert says in answer["message"]
    assert ingest_node.chain(name).dataset.head == head


def test_who_may_and_when(ingest_node: IngestNode) -> None:
    ingest_node.create("guarded")
    answer = ingest_node.node.request("POST", "/alice/guarded/metadata", body=INFO)
    assert answer.status == 401
    stranger = ingest_node.node.token_of("bob")
    answer = ingest_node.node.request("POST", "/alice/guarded/metadata", token=stranger, body=INFO)
    assert answer.status == 403
    head = ingest_node.chain("guarded").dataset.head
    status, done = ingest_node.post(f"/alice/guarded/metadata?expectedHead={head}", INFO)
    assert (status, done["result"]) == (200, "Updated")
    status, answer = ingest_node.post(f"/alice/guarded/metadata?expectedHead={head}", b"kind: SetInfo\n")
    assert (status, answer["code"]) == (409, "head_moved")


def test_events_and_ingests_at_once_all_land(ingest_node: IngestNode) -> None:
    """Each is tried again where another one came between; the chain has every one once."""
    ingest_node.create("busy")
    bodies = [f"kind: SetInfo\ndescription: number {number}\n".encode() for number in range(3)]
    with ThreadPoolExecutor(4) as pool:
        ingest = pool.submit(ingest_node.ingest, "busy", csv(1, 2, 3))
        answers = list(pool.map(lambda body: ingest_node.post("/alice/busy/metadata", body), bodies))
    assert [status for status, _ in answers] == [200] * 3, answers
    assert ingest.result()[0] == 200
    kinds = [event_kind(block.block.event) for block in ingest_node.chain("busy").key_blocks]
    assert (kinds.count("SetInfo"), kinds.count("AddData")) == (3, 1)
    assert len(ingest_node.records("busy")) == 3
