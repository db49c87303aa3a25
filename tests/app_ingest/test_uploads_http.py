"""Files that go to S3 first: prepared, uploaded by a presigned PUT, ingested by their token."""

import base64
import http.client
import json
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any
from urllib.parse import quote, urlencode, urlsplit
from uuid import uuid4

import pytest
import urllib3

from app.context import NodeContext
from app.ingest.requests import input_key
from app.ingest.upload_tokens import read_token, write_token
from app.keys import own_seed
from tests.ingesting import IngestNode, csv, push_source
from tests.running_node import running_node

PREPARE = "/platform/file/upload/prepare"


def prepare(node: IngestNode, size: object, name: str = "data.csv", **more: str) -> tuple[int, Any]:
    query = urlencode({"fileName": name, "contentLength": size, **more})
    return node.post(f"{PREPARE}?{query}")


def put(prepared: dict[str, Any], body: bytes) -> urllib3.BaseHTTPResponse:
    """As a client does that has never heard of S3."""
    headers = {**dict(prepared["headers"]), "content-type": "text/csv"}
    return urllib3.request(prepared["method"], prepared["uploadUrl"], body=body, headers=headers)


def uploaded(node: IngestNode, body: bytes, name: str = "data.csv", **more: str) -> str:
    status, prepared = prepare(node, len(body), name, **more)
    assert status == 200, prepared
    assert put(prepared, body).status == 200
    return str(prepared["uploadToken"])


def ingest(node: IngestNode, name: str, token: str, **headers: str) -> tuple[int, Any]:
    return node.post(f"/alice/{name}/ingest?uploadToken={quote(token)}", **headers)


def signed(node: IngestNode, token: str, **changes: Any) -> str:
    """A token with other claims, as if the node had made it so."""

    async def work(context: NodeContext) -> str:
        key = await own_seed(context.engine, "uploads")
        return write_token(replace(read_token(token, key, datetime.now(UTC)), **changes), key)

    return node.node.run(work)


def test_an_uploaded_file_is_ingested_once(ingest_node: IngestNode) -> None:
    ingest_node.create("uploaded")
    body = csv(*range(1000))
    status, prepared = prepare(ingest_node, len(body), contentType="")
    assert status == 200
    assert {**prepared, "uploadUrl": 0, "uploadToken": 0, "expiresAt": 0} == {
        "uploadUrl": 0,
        "method": "PUT",
        "useMultipart": False,
        "headers": [],
        "fields": [],
        "uploadToken": 0,
        "expiresAt": 0,
    }
    assert prepared["uploadUrl"].startswith(ingest_node.node.settings.s3.endpoint)
    assert put(prepared, body).status == 200
    token = prepared["uploadToken"]
    with ThreadPoolExecutor(3) as pool:
        answers = list(pool.map(lambda _: ingest(ingest_node, "uploaded", token), range(3)))
    status, result = answers[0]
    assert status == 200, (result, ingest_node.worker.tell())
    assert (result["result"], result["numRecords"]) == ("Updated", 1000)
    assert answers == [(status, result)] * 3
    assert ingest(ingest_node, "uploaded", token) == (200, result)
    assert put(prepared, csv(7)).status == 403  # its length is signed
    assert sorted(item["id"] for item in ingest_node.records("uploaded")) == list(range(1000))
    ingest_node.create("second")
    status, answer = ingest(ingest_node, "second", token)
    assert (status, answer["code"]) == (409, "upload_used")


def test_the_media_type_is_that_of_the_upload(ingest_node: IngestNode) -> None:
    read = {"kind": "NdJson", "schema": ["id BIGINT"]}
    source = {"kind": "AddPushSource", "sourceName": "default", "read": read, "merge": {"kind": "Append"}}
    ingest_node.create("several", source)
    for number, (name, media_type) in enumerate([("x.ndjson", ""), ("x.dat", ""), ("x", "text/csv")]):
        body = b"%d\n" % number if media_type else b'{"id": %d}\n' % number
        token = uploaded(ingest_node, body, name, contentType=media_type)
        headers = {"odf_event_time": "2020-05-01T00:00:00Z", "content_type": "image/png"}
        status, result = ingest(ingest_node, "several", token, **headers)
        assert status == 200, (name, result)
    records = ingest_node.records("several")
    assert [item["id"] for item in records] == [0, 1, 2]
    assert {str(item["at"]) for item in records} == {"2020-05-01 00:00:00+00:00"}


def test_a_dataset_without_a_source_gets_one_with_its_first_file(ingest_node: IngestNode) -> None:
    """As on the deployed node, and for files only (data.md 3.1)."""
    ingest_node.create("bare", {"kind": "SetInfo", "description": "no source"})
    status, answer = ingest_node.ingest("bare", csv(1))
    assert (status, answer["code"]) == (400, "push_source_not_found")
    status, answer = ingest(ingest_node, "bare", uploaded(ingest_node, csv(1), "data"))
    assert (status, answer["code"]) == (400, "push_source_not_found")  # nobody told its format
    for number, blocks in ((1, 3), (2, 1)):  # AddPushSource, SetDataSchema, AddData
        status, result = ingest(ingest_node, "bare", uploaded(ingest_node, csv(number)))
        assert (status, result.get("numBlocks")) == (200, blocks), result
    records = ingest_node.records("bare")
    assert [(item["id"], item["city"]) for item in records] == [(1, "city 1"), (2, "city 2")]
    assert {item["at"].isoformat() for item in records} == {
        "2024-01-01T00:00:01+00:00",
        "2024-01-01T00:00:02+00:00",
    }
    source = ingest_node.chain("bare").history.projection.push_sources["auto"]
    assert (type(source.merge).__name__, source.preprocess) == ("MergeStrategyAppend", None)
    status, answer = ingest(ingest_node, "bare", uploaded(ingest_node, b""))
    assert (status, answer.get("result")) == (200, "UpToDate"), answer


def test_what_is_wrong_in_a_file_is_told_with_its_name(ingest_node: IngestNode) -> None:
    ingest_node.create("named")
    token = uploaded(ingest_node, b"at,id,city\n2024-01-01T00:00:00Z,no number,x\n", "rain 2024.csv")
    status, answer = ingest(ingest_node, "named", token)
    assert status == 400
    assert "rain 2024.csv" in answer["message"]
    upload = json.loads(base64.urlsafe_b64decode(token))["upload_id"]
    deadline = time.monotonic() + 30
    while ingest_node.node.context.store.stat(input_key(upload)) is not None:
        assert time.monotonic() < deadline, "the worker leaves the file where it was"
        time.sleep(0.05)


@pytest.mark.parametrize(
    ("size", "more", "status", "code"),
    [
        (6 << 30, {}, 413, "ingest_too_large"),
        (10**30, {}, 413, "ingest_too_large"),
        (-1, {}, 400, "invalid_request"),
        ("much", {}, 400, "invalid_request"),
        (1, {"contentType": "image/png"}, 415, "unsupported_input_media_type"),
        (1, {"name": "x" * 256}, 400, "invalid_request"),
    ],
)
def test_uploads_that_are_not_prepared(
    ingest_node: IngestNode, size: object, more: dict[str, str], status: int, code: str
) -> None:
    found, answer = prepare(ingest_node, size, **more)
    assert (found, answer["code"]) == (status, code)
    assert ingest_node.node.request("POST", f"{PREPARE}?fileName=x&contentLength=1").status == 401


@pytest.mark.parametrize("body", [b"", b"x" * 99, b"x" * 101])
def test_s3_takes_the_declared_length_only(ingest_node: IngestNode, body: bytes) -> None:
    _, prepared = prepare(ingest_node, 100)
    assert put(prepared, body).status == 403
    assert (
        put({**prepared, "uploadUrl": prepared["uploadUrl"].replace(".input", ".other")}, b"x" * 100).status
        == 403
    )
    ingest_node.create(f"short-{len(body)}")
    status, answer = ingest(ingest_node, f"short-{len(body)}", prepared["uploadToken"])
    assert (status, answer["code"]) == (404, "upload_not_found")


def test_tokens_that_do_not_count(ingest_node: IngestNode) -> None:
    ingest_node.create("strict", push_source())
    token = uploaded(ingest_node, csv(1))
    head = ingest_node.node.get("/alice/strict/refs/head").data

    def refused(token: str) -> tuple[int, str]:
        status, answer = ingest(ingest_node, "strict", token)
        return status, answer["code"]

    assert refused("abc") == (400, "upload_token_invalid")
    assert refused(token[:8] + ("A" if token[8] != "A" else "B") + token[9:]) == (400, "upload_token_invalid")
    past = datetime.now(UTC) - timedelta(seconds=1)
    assert refused(signed(ingest_node, token, expires_at=past)) == (400, "upload_token_expired")
    assert refused(signed(ingest_node, token, owner="did:odf:fed01another")) == (403, "foreign_upload")
    assert refused(signed(ingest_node, token, id=uuid4())) == (404, "upload_not_found")
    assert refused(signed(ingest_node, token, size=1)) == (400, "upload_size_mismatch")
    assert ingest_node.node.get("/alice/strict/refs/head").data == head
    assert ingest(ingest_node, "strict", token)[0] == 200


def test_a_foreign_token_is_of_no_use(ingest_node: IngestNode) -> None:
    """Who may write to a dataset cannot ingest what somebody else has uploaded."""
    node, bob = ingest_node.node, ingest_node.node.token_of("bob")
    token = uploaded(ingest_node, csv(1))
    ingest_node.create("hers")
    path = f"/alice/hers/ingest?uploadToken={quote(token)}"
    assert node.request("POST", path, token=bob).status == 403
    theirs = IngestNode(node, ingest_node.worker, bob)
    theirs.create("his")
    status, answer = theirs.post(f"/bob/his/ingest?uploadToken={quote(token)}")
    assert (status, answer["code"]) == (403, "foreign_upload")


def test_an_upload_through_the_node(ingest_node: IngestNode) -> None:
    """Where the bucket is not reachable for clients."""
    settings = ingest_node.node.settings
    proxied = settings.model_copy(
        update={"transfer": settings.transfer.model_copy(update={"mode": "proxied"})}
    )
    with running_node(proxied) as node:
        there = IngestNode(node, ingest_node.worker, ingest_node.token)
        there.create("proxied")
        body = csv(*range(50))
        _, prepared = prepare(there, len(body))
        assert prepared["uploadUrl"].startswith(f"{node.base_url}/platform/file/upload/")
        assert put({**prepared, "headers": []}, body).status == 401
        for wrong in (body + b"x", body[1:]):
            answer = put(prepared, wrong)
            assert (answer.status, json.loads(answer.data)["code"]) == (400, "upload_size_mismatch")
        assert _chunked(prepared, body) == 400
        assert ingest(there, "proxied", prepared["uploadToken"])[1]["code"] == "upload_not_found"
        assert put(prepared, body).status == 200
        status, result = ingest(there, "proxied", prepared["uploadToken"])
        assert (status, result["numRecords"]) == (200, 50)


def _chunked(prepared: dict[str, Any], body: bytes) -> int:
    url = urlsplit(prepared["uploadUrl"])
    connection = http.client.HTTPConnection(url.netloc)
    connection.request("PUT", url.path, iter([body]), dict(prepared["headers"]), encode_chunked=True)
    try:
        return connection.getresponse().status
    finally:
        connection.close()


def test_the_same_key_at_once_is_one_job(ingest_node: IngestNode) -> None:
    ingest_node.create("hurried")
    with ThreadPoolExecutor(4) as pool:
        send = partial(ingest_node.ingest, "hurried", csv(1), idempotency_key="k")
        answers = [item.result() for item in [pool.submit(send) for _ in range(4)]]
    assert answers == [answers[0]] * 4
    assert len(ingest_node.records("hurried")) == 1


def test_a_repeated_key_needs_no_second_body(ingest_node: IngestNode) -> None:
    ingest_node.create("keyed")
    first = ingest_node.ingest("keyed", csv(1), idempotency_key="a")
    url = urlsplit(ingest_node.node.base_url)
    connection = http.client.HTTPConnection(url.netloc)
    connection.putrequest("POST", "/alice/keyed/ingest")
    headers = {
        "authorization": f"Bearer {ingest_node.token}",
        "idempotency-key": "a",
        "expect": "100-continue",
    }
    for name, value in {**headers, "content-length": str(1 << 29)}.items():
        connection.putheader(name, value)
    connection.endheaders()  # and not a byte of the body
    answer = connection.getresponse()
    assert (answer.status, json.loads(answer.read())) == first
    connection.close()
    token = uploaded(ingest_node, csv(2))
    assert ingest(ingest_node, "keyed", token, idempotency_key="a") == first
    assert len(ingest_node.records("keyed")) == 1
