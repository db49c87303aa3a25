"""Datasets of another node: whose they become, who sees them, and what happens when their source changes."""

from pathlib import Path
from typing import Any

import pytest

from app.mirrors.errors import MirrorTooLarge
from app.mirrors.progress import PullProgress
from odf_core.errors import OdfError
from odf_core.transfer import Visibility
from odf_core.transfer.client import Phase
from tests.app_base.publishing import publish
from tests.app_mirrors.mirroring import add_repo, head_of, mirror, push
from tests.app_transform.deriving import derivative, finished, get, wait
from tests.builders.dataset_builder import DatasetBuilder, derivative_dataset, describe, root_dataset
from tests.ingesting import IngestNode
from tests.running_node import RunningNode

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
    assert job["state"] == "done", job
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
    assert {item.key for item in second_node.node.context.store.list("staging/")} == {"staging/.keep"}


def test_too_much_at_once_is_refused_before_it_is_fetched() -> None:
    progress = PullProgress("first/alice/big", 1000)
    progress.phase(Phase.OBJECTS, count=1, size=1000)
    with pytest.raises(MirrorTooLarge, match=r"1001 new bytes"):
        progress.phase(Phase.OBJECTS, count=2, size=1001)


def _mirror_of(node: IngestNode, name: str) -> dict[str, Any]:
    """What the owner is told of it."""
    found: list[dict[str, Any]] = get(node, "/mirrors")[1]["mirrors"]
    return next(item for item in found if item["dataset"] == name)
