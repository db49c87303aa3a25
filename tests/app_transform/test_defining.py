"""Manifests of derivative datasets: what is refused, what is pinned, and how it is asked for later."""

import json
from typing import Any

import pytest
from sqlalchemy import text

from app.context import NodeContext
from app.database import begin
from odf_core.engines.identity import spark_identity
from odf_core.metadata import SetTransform
from tests.app_transform.deriving import derivative, derive, finished, get, wait
from tests.ingesting import IngestNode, csv


@pytest.fixture(scope="module")
def node(ingest_node: IngestNode) -> IngestNode:
    """With `ground`, which has records, so that the engine is warm and queries are checked at once."""
    ingest_node.create("ground")
    assert ingest_node.ingest("ground", csv(*range(4)))[0] == 200
    return ingest_node


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("SELECT at AS event_time, nothing FROM t", "query_invalid"),
        ("SELECT at AS event_time, rand() AS r FROM t", "query_refused"),
        ("SELECT id FROM t", "invalid_query_result"),
        ("SELECT at AS event_time, offset FROM t", "invalid_query_result"),
        ("SELECT at AS event_time FROM parquet.`/etc/passwd`", "query_refused"),
    ],
)
def test_queries_are_checked_before_a_dataset_is_made(node: IngestNode, query: str, code: str) -> None:
    status, answer = node.post(
        "/datasets", derivative("refused", {"t": "ground"}, query, event_time="event_time")
    )
    assert (status, answer["code"]) == (400, code), answer
    assert "line" in answer["message"], answer
    assert get(node, "/alice/refused/refs/head")[0] == 404


def test_an_unknown_engine_and_unknown_inputs(node: IngestNode) -> None:
    body = derivative("refused", {"t": "ground"}, "SELECT 1", engine="abacus")
    status, answer = node.post("/datasets", body)
    assert (status, answer["code"]) == (400, "engine_not_installed")
    status, answer = node.post("/datasets", derivative("refused", {"t": "nowhere"}, "SELECT at FROM t"))
    assert (status, answer["code"]) == (400, "missing_inputs")


def test_the_engine_is_pinned(node: IngestNode) -> None:
    derive(node, "pinned", {"t": "ground"}, "SELECT at, id FROM t")
    events = [block.block.event for block in node.chain("pinned").key_blocks]
    (told,) = [event for event in events if isinstance(event, SetTransform)]
    assert (told.transform.engine, told.transform.version) == ("spark", spark_identity())


def test_datafusion_computes_too(node: IngestNode) -> None:
    body = derivative("small", {"t": "ground"}, "SELECT at, id FROM t WHERE id > 1", engine="datafusion")
    status, made = node.post("/datasets?visibility=Public", body)
    assert status == 201, made
    job = finished(node, made["job"])
    assert job["state"] == "done", job
    assert [item["id"] for item in node.records("small")] == [2, 3]


def test_what_cannot_be_computed_is_told_by_the_job(node: IngestNode) -> None:
    """A dataset without a schema lets every query pass; the first records tell."""
    node.create("empty")
    made = derive(node, "hopeful", {"t": "empty"}, "SELECT at, nothing FROM t")
    assert finished(node, made["job"])["result"]["result"] == "UpToDate"
    assert node.ingest("empty", csv(1))[0] == 200
    status, answer = node.post("/alice/hopeful/pull")
    assert (status, answer["code"]) == (400, "query_invalid"), answer


def test_a_lost_trigger_is_made_up_for(node: IngestNode) -> None:
    node.create("missed")
    made = derive(node, "behind", {"t": "missed"}, "SELECT at, id FROM t")
    assert finished(node, made["job"])["state"] == "done"

    async def lose(context: NodeContext) -> None:
        """As if nobody had noticed the commit."""
        async with begin(context.engine) as conn:
            await conn.execute(text("UPDATE derivation SET is_automatic = false"))

    async def find(context: NodeContext) -> None:
        async with begin(context.engine) as conn:
            await conn.execute(text("UPDATE derivation SET is_automatic = true"))

    node.node.run(lose)
    assert node.ingest("missed", csv(1, 2))[0] == 200
    assert node.records("behind") == []
    node.node.run(find)
    wait(node, lambda: [item["id"] for item in node.records("behind")] == [1, 2])


def test_a_schedule_evaluates_a_query(node: IngestNode) -> None:
    derive(node, "timed", {"t": "ground"}, "SELECT at, id FROM t")
    headers = {"content-type": "application/json", "accept": "application/json"}
    body = json.dumps({"cron": "* * * * *"}).encode()
    put = node.node.request("PUT", "/alice/timed/schedule", token=node.token, body=body, headers=headers)
    assert put.status == 200

    async def due(context: NodeContext) -> None:
        async with begin(context.engine) as conn:
            await conn.execute(text("UPDATE pull_schedule SET next_at = now() - interval '1 minute'"))

    async def kinds(context: NodeContext) -> Any:
        async with begin(context.engine) as conn:
            rows = await conn.execute(
                text("SELECT job.kind FROM job JOIN dataset d ON d.id = dataset_pk WHERE d.name = 'timed'")
            )
            return list(rows.scalars())

    before = len(node.node.run(kinds))
    node.node.run(due)
    found = wait(node, lambda: len(seen := node.node.run(kinds)) > before and seen)
    assert set(found) == {"transform"}
