"""Datasets of another node: whose they become, who sees them, and what happens when their source changes."""

import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from sqlalchemy import select

from app.context import NodeContext
from app.database import connect, create_engine
from app.datasets.admin import set_visibility
from app.jobs.model import JobInfo
from app.jobs.routes import status_of_job
from app.mirrors.errors import MirrorTooLarge
from app.mirrors.progress import PullProgress
from app.mirrors.pulling import PulledFolder
from app.mirrors.service import list_mirrors
from app.mirrors.tables import Repository
from app.ops.reindex import reindex
from app.settings import DatabaseSettings
from app.transfer.claims import ObjectTooLarge
from app.workers import worker_environment
from odf_core.errors import OdfError
from odf_core.identity import DatasetAlias, Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.transfer import Visibility
from odf_core.transfer.client import Phase
from tests.app_base.publishing import publish
from tests.app_mirrors.mirroring import add_repo, head_of, mirror, push
from tests.app_transform.deriving import derivative, finished, get, wait
from tests.builders.dataset_builder import DatasetBuilder, derivative_dataset, describe, root_dataset
from tests.cli.conftest import Odf, odf
from tests.ingesting import IngestNode
from tests.running_node import RunningNode, running_node
from tests.services import Addresses, fresh_database

__all__ = ["odf"]
FULL = bool(os.environ.get("ODF_TEST_FULL"))

QUERY = "SELECT event_time, city, population FROM t WHERE population > 3000"


@pytest.fixture(scope="module")
def source(shared_node: RunningNode, second_node: IngestNode) -> RunningNode:
    """The first node, which the second one knows as `first`, without a token."""
    add_repo(second_node.node, "first", f"odf+{shared_node.base_url}")
    return shared_node


def test_a_mirror_follows_its_source(source: RunningNode, second_node: IngestNode, tmp_path: Path) -> None:
    built = root_dataset("followed")
    push(source, built, tmp_path, "followed")
    status, found = mirror(second_node, f"{source.base_url}/alice/followed")
    assert status == 200, found
    assert found["result"] == "Updated"
    assert [(item["dataset"], item["source"]) for item in found["datasets"]] == [
        ("alice/followed", "first/alice/followed")
    ]
    assert head_of(second_node.node, "alice/followed") == built.head
    push(source, built.add(5).info("more"), tmp_path, "followed")
    wait(second_node, lambda: head_of(second_node.node, "alice/followed") == built.head)
    assert len(second_node.records("followed")) == 15
    status, again = mirror(second_node, built.id)  # the same one, asked for by its id
    assert (status, again["result"], again["datasets"][0]["dataset"]) == (200, "UpToDate", "alice/followed")
    status, found = second_node.post("/alice/followed/verification")
    assert (status, found["ok"]) == (200, True), found
    mine = _mirror_of(second_node, "alice/followed")
    assert (mine["source"], mine["visibility"], "error" in mine) == ("first/alice/followed", "public", False)


def test_nobody_commits_to_a_mirror(source: RunningNode, second_node: IngestNode, tmp_path: Path) -> None:
    built = root_dataset("closed")
    push(source, built, tmp_path, "closed")
    assert mirror(second_node, "first/alice/closed", name="sealed")[0] == 200
    built.info("from the side")
    with pytest.raises(OdfError, match=r"alice/sealed is a mirror of first/alice/closed"):
        push(second_node.node, built, tmp_path, "sealed", token=second_node.token)
    event = b'{"kind": "SetInfo", "description": "from the side"}'
    for path in ("metadata", "ingest"):
        status, answer = second_node.post(f"/alice/sealed/{path}", event)
        assert (status, answer["code"]) == (409, "dataset_is_mirror"), answer
    status, answer = second_node.post("/alice/sealed/pull")
    assert (status, answer["result"]) == (200, "UpToDate")


def test_an_input_on_another_node_is_mirrored_first(
    source: RunningNode, second_node: IngestNode, tmp_path: Path
) -> None:
    built = root_dataset("remote")
    push(source, built, tmp_path, "remote")
    manifest = derivative("local", {"t": str(built.id)}, QUERY, engine="datafusion", event_time="event_time")
    status, made = second_node.post("/datasets?visibility=Public", manifest)
    assert status == 201, made
    job = finished(second_node, made["job"])
    assert job["state"] == "done", job["error"]
    assert len(second_node.records("local")) == 6
    push(source, built.add(10), tmp_path, "remote")
    wait(second_node, lambda: len(second_node.records("local")) == 14)
    graph = get(second_node, "/alice/local/lineage")[1]
    assert [(item["alias"], item.get("mirrorOf")) for item in graph["datasets"]] == [
        ("alice/local", None),
        ("alice/remote", "first/alice/remote"),
    ]


def test_an_input_that_is_nowhere(source: RunningNode, second_node: IngestNode) -> None:
    nowhere = root_dataset("nowhere").id
    manifest = derivative("orphan", {"t": str(nowhere)}, QUERY, engine="datafusion")
    status, answer = second_node.post("/datasets", manifest)
    assert (status, answer["code"]) == (400, "missing_inputs"), answer
    status, answer = mirror(second_node, nowhere)
    assert (status, answer["code"]) == (404, "mirror_source_not_found"), answer


def test_only_what_an_operator_has_registered(source: RunningNode, second_node: IngestNode) -> None:
    for other in ("http://127.0.0.1:9/alice/x", "elsewhere/alice/x", f"{source.base_url}/alice/../x"):
        status, answer = mirror(second_node, other)
        assert (status, answer["code"]) == (400, "repository_not_registered"), answer
    status, answer = mirror(second_node, "file:///etc")
    assert status == 400, answer


def test_what_needs_a_token_is_for_those_who_may_use_it(
    source: RunningNode, second_node: IngestNode, tmp_path: Path
) -> None:
    node, built = second_node.node, root_dataset("secret")
    push(source, built, tmp_path, "secret", visibility=Visibility.PRIVATE)
    bob = node.token_of("bob")
    add_repo(node, "inside", f"odf+{source.base_url}", token=source.token_of("alice"), accounts=["alice"])
    status, answer = mirror(second_node, "inside/alice/secret", token=bob)
    assert (status, answer["code"]) == (404, "mirror_source_not_found"), answer
    status, answer = mirror(second_node, "inside/alice/secret")
    assert status == 200, answer
    assert head_of(node, "alice/secret", second_node.token) == built.head
    assert head_of(node, "alice/secret", bob) is None
    status, answer = mirror(second_node, built.id, token=bob)
    assert (status, answer["code"]) == (409, "mirror_taken"), answer
    closing = root_dataset("closing")
    push(source, closing, tmp_path, "closing")
    assert mirror(second_node, "inside/alice/closing")[0] == 200
    assert head_of(node, "alice/closing", bob) == closing.head
    name = DatasetAlias.parse("alice/closing")
    source.run(lambda context: set_visibility(context, name, "private"))
    wait(second_node, lambda: head_of(node, "alice/closing", bob) is None)
    assert head_of(node, "alice/closing", second_node.token) == closing.head


def test_a_source_that_was_replaced(source: RunningNode, second_node: IngestNode, tmp_path: Path) -> None:
    built = root_dataset("reset").add(5)
    push(source, built, tmp_path / "long", "reset")
    assert mirror(second_node, "first/alice/reset")[0] == 200
    other = built.first(3).add(7)
    push(source, other, tmp_path / "other", "reset", force=True)
    status, answer = mirror(second_node, "first/alice/reset")
    assert (status, answer["code"]) == (409, "mirror_diverged"), answer
    assert head_of(second_node.node, "alice/reset") == built.head
    told = wait(
        second_node, lambda: _mirror_of(second_node, "alice/reset").get("error")
    )  # a poll says so too
    assert told["code"] == "mirror_diverged"
    bob = second_node.node.token_of("bob")
    status, answer = mirror(second_node, "first/alice/reset", force=True, token=bob)
    assert (status, answer["code"]) == (403, "dataset_forbidden"), answer
    status, answer = mirror(second_node, "first/alice/reset", force=True)
    assert (status, answer["result"]) == (200, "Updated"), answer
    assert head_of(second_node.node, "alice/reset") == other.head


def test_inputs_come_along_and_names_make_way(
    source: RunningNode, second_node: IngestNode, tmp_path: Path
) -> None:
    ground, built = root_dataset("ground"), derivative_dataset("above", "ground")
    push(source, ground, tmp_path, "ground")
    push(source, built, tmp_path, "above")
    namesake = DatasetBuilder("another ground")
    namesake.chain.seed()
    push(second_node.node, namesake, tmp_path / "namesake", "ground", token=second_node.token)
    status, found = mirror(second_node, "first/alice/above", recursive=True)
    assert status == 200, found
    assert [item["dataset"] for item in found["datasets"]] == ["alice/ground-2", "alice/above"]
    status, answer = mirror(second_node, "first/alice/above", name="again")
    assert (status, answer["datasets"][0]["dataset"]) == (200, "alice/above")
    assert head_of(second_node.node, "alice/again") is None


def test_what_a_push_is_refused_for(source: RunningNode, second_node: IngestNode) -> None:
    built = DatasetBuilder("lying")
    built.chain.seed().polling_source().schema()
    built.slice(0, 10)
    content = next(iter(built.chain.objects.values()))
    built.chain.add_data(data_slice=describe(content, 0, 12))
    publish(source, built.chain, "alice/lying")  # into the bucket, past the admission of the first node
    status, answer = mirror(second_node, "first/alice/lying")
    assert status == 422, answer
    assert head_of(second_node.node, "alice/lying") is None
    assert {item.key for item in second_node.node.context.store.list("staging/")} == set()


def test_a_repository_that_is_read_only(source: RunningNode, second_node: IngestNode, tmp_path: Path) -> None:
    built = root_dataset("plain")
    push(source, built, tmp_path, "plain")
    add_repo(second_node.node, "plain", source.base_url)  # without odf+: the Simple protocol
    status, found = mirror(second_node, "plain/alice/plain")
    assert status == 200, found
    push(source, built.add(3), tmp_path, "plain")
    wait(second_node, lambda: head_of(second_node.node, "alice/plain") == built.head)


def test_an_object_that_no_push_may_have(tmp_path: Path) -> None:
    folder = PulledFolder(tmp_path, Limits(object_bytes=1000), ())
    ref = ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(b""), 1001)
    with pytest.raises(ObjectTooLarge, match=r"1000 bytes"):
        folder.has_object(ref)


def test_too_much_at_once_is_refused_before_it_is_fetched() -> None:
    progress = PullProgress("first/alice/big", 1000)
    progress.phase(Phase.OBJECTS, count=1, size=1000)
    with pytest.raises(MirrorTooLarge, match=r"1001 new bytes"):
        progress.phase(Phase.OBJECTS, count=2, size=1001)


def test_how_far_a_pull_is_stands_at_its_job() -> None:
    progress = PullProgress("first/alice/big", 1000)
    progress.phase(Phase.OBJECTS, count=3, size=900)
    progress.done()
    progress.moved(300)
    so_far: dict[str, Any] = {"datasets": [], "progress": progress.to_values()}
    now = datetime.now(UTC)
    job = JobInfo(uuid4(), "mirror", None, uuid4(), {}, "running", 1, so_far, None, now, now, None)
    told = status_of_job(job).model_dump(by_alias=True)["progress"]
    assert told == {
        "source": "first/alice/big",
        "phase": "objects",
        "count": 3,
        "countDone": 1,
        "bytes": 900,
        "bytesDone": 300,
    }
    assert status_of_job(replace(job, finished_at=now)).progress is None


@pytest.fixture
def operator(odf: Odf, second_node: IngestNode, monkeypatch: pytest.MonkeyPatch) -> Odf:
    """Commands with the settings of the second node."""
    for name, value in worker_environment(second_node.node.settings).items():
        if name.startswith("ODF_"):
            monkeypatch.setenv(name, value)
    return odf


def test_repositories_and_mirrors(
    operator: Odf, source: RunningNode, second_node: IngestNode, services: Addresses, tmp_path: Path
) -> None:
    url, token = f"odf+{source.base_url}/", source.token_of("alice")
    made = operator("admin", "repo", "add", "named", url, "--token", token, "--for", "alice", "-o", "json")
    assert made.code == 0, made.err
    assert operator("admin", "repo", "add", "named", "https://elsewhere.example").code == 6
    assert operator("admin", "repo", "add", "second", url, "--for", "nobody").code == 4
    listed = operator("admin", "repo", "list", "-o", "json")
    assert listed.json[-1] == {"name": "named", "url": url, "hasToken": True, "accounts": ["alice"]}
    assert token not in made.text + made.err + listed.text
    assert token in second_node.node.run(_tokens)

    built = root_dataset("by hand")
    push(source, built, tmp_path, "by-hand")
    added = operator("admin", "mirror", "add", "named/alice/by-hand", "--account", "alice", "-o", "json")
    assert added.code == 0, added.err
    assert added.json["datasets"][0]["newHead"] == built.head
    missing = operator("admin", "mirror", "add", "named/alice/nothing", "--account", "alice", "-o", "json")
    assert (missing.code, missing.error["code"]) == (4, "mirror_source_not_found")
    rows = {row["name"]: row for row in operator("admin", "mirror", "list", "-o", "json").json}
    mine = rows["alice/by-hand"]
    assert (mine["source"], mine["blocks"]) == ("named/alice/by-hand", 4)

    with fresh_database(services) as url:  # the index is lost, and made again from the bucket
        assert "named/alice/by-hand" in second_node.node.run(lambda node: _reindexed(node, url))
    built.info("later")
    assert operator("admin", "mirror", "stop", "alice/by-hand").code == 0
    push(second_node.node, built, tmp_path, "by-hand", token=second_node.token)
    assert head_of(second_node.node, "alice/by-hand") == built.head

    assert operator("admin", "repo", "remove", "named").code == 0
    assert token not in second_node.worker.log.read_text()


async def _reindexed(node: NodeContext, url: str) -> list[str | None]:
    """What another database says of mirrors that was made from the node's bucket."""
    engine = create_engine(DatabaseSettings.model_validate({"url": url}))
    try:
        await reindex(node.store, engine)
        async with connect(engine) as conn:
            return [item.dataset.mirror_of for item in await list_mirrors(conn, None)]
    finally:
        await engine.dispose()


async def _tokens(node: NodeContext) -> list[str | None]:
    async with connect(node.engine) as conn:
        return list((await conn.execute(select(Repository.token))).scalars())


@pytest.mark.skipif(not FULL, reason="waits for a job's next attempt; set ODF_TEST_FULL")
def test_a_source_that_does_not_answer_yet(
    source: RunningNode, second_node: IngestNode, tmp_path: Path
) -> None:
    built = root_dataset("late")
    push(source, built, tmp_path, "late")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    add_repo(second_node.node, "later", f"odf+http://127.0.0.1:{port}")
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(mirror, second_node, "later/alice/late")
        wait(second_node, lambda: "job_put_off" in second_node.worker.tell())
        http = source.settings.http.model_copy(update={"port": port})
        with running_node(source.settings.model_copy(update={"http": http})):
            status, found = asked.result(120)
    assert (status, found["result"]) == (200, "Updated"), found
    assert head_of(second_node.node, "alice/late") == built.head


def _mirror_of(node: IngestNode, name: str) -> dict[str, Any]:
    """What the owner is told of it."""
    found: list[dict[str, Any]] = get(node, "/mirrors")[1]["mirrors"]
    return next(item for item in found if item["dataset"] == name)
