"""The same datasets over the Simple protocol and through the proxied mode; datasets of other makers."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odf_core.identity import DatasetId
from odf_core.metadata import Seed, read_block
from odf_core.transfer.client import (
    DatasetAddress,
    DatasetFolder,
    Http,
    HttpSource,
    SimplePull,
    TransferOptions,
    Updated,
    UpToDate,
)
from tests.builders.dataset_builder import DatasetBuilder, derivative_dataset, root_dataset, seed_only
from tests.scenarios.drivers import Driver
from tests.scenarios.speakers import SPEAKERS, Push, objects_of
from tests.scenarios.world import NodeWorld, assert_identical, folder_of, node_world, served
from tests.scripted.block_peek import peek
from tests.scripted.deployed import Remote
from tests.scripted.folder import Folder, physical_hash
from tests.scripted.http import request, transfer_headers, upload
from tests.services import Addresses
from tests.vectors import require_vectors


@pytest.fixture(scope="module")
def proxied_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    with node_world(services, s3_client, transfer={"mode": "proxied"}) as world:
        yield world


# -- Simple


def simple_pull(remote: Remote, folder: Path) -> UpToDate | Updated:
    """By our client."""
    with Http(TransferOptions(durable=False, parallelism=4)) as http:
        source = HttpSource(http, DatasetAddress.parse(remote.url), remote.token)
        local = DatasetFolder(folder)
        return SimplePull(source, local, lambda seed: local).run()


def scripted_simple_pull(remote: Remote, local: Folder) -> None:
    """`refs/head`, blocks one at a time back to what is there, then objects (wire.md 5); all verified."""
    head = remote.head()
    assert head is not None
    current, found = head, []
    while current is not None and not local.has_block(current):
        data = fetch(remote, f"blocks/{current}")
        assert physical_hash(data) == current
        found.append((current, data))
        current = peek(data).prev  # type: ignore[assignment]
    for _, data in found:
        for kind, object_hash, _ in peek(data).objects:
            place = {"DataSlice": "data", "Checkpoint": "checkpoints"}[kind]
            local.put_object(kind, object_hash, fetch(remote, f"{place}/{object_hash}"))
    for name, data in found:
        local.put_block(name, data)
    local.set_head(head)


def fetch(remote: Remote, place: str) -> bytes:
    status, headers, body = request("GET", f"{remote.url}/{place}", remote.headers())
    assert status == 200
    assert int(headers["content-length"]) == len(body)
    return body


@pytest.mark.parametrize("make", [root_dataset, seed_only, lambda name: derivative_dataset(name, "x")])
def test_simple_pull(world: NodeWorld, unique: str, at: str, tmp_path: Path, make: Any) -> None:
    """New, up to date, evolved; by both clients; private, with the token."""
    person, dataset = world.person(), make(unique)
    served(person, dataset, tmp_path, at)
    ours, theirs = tmp_path / "ours", Folder(tmp_path / "theirs")
    remote = person.remote(at)
    result = simple_pull(remote, ours)
    assert isinstance(result, Updated)
    assert result.num_blocks == len(dataset.blocks)
    scripted_simple_pull(remote, theirs)
    assert Folder(ours).files() == theirs.files() == dataset.files()
    assert isinstance(simple_pull(remote, ours), UpToDate)
    served(person, dataset.info("newer"), tmp_path, at)
    result = simple_pull(remote, ours)
    assert isinstance(result, Updated)
    assert result.num_blocks == 1
    scripted_simple_pull(remote, theirs)
    assert Folder(ours).files() == theirs.files() == dataset.files()


def test_simple_protocol_over_s3_layout(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The bucket holds the layout of the specification, as any web server could serve it (promise 4)."""
    person = multi_world.person()
    served(person, foo.add(4), tmp_path, at)
    assert multi_world.files(foo.id.multibase) == foo.files()
    info = multi_world.folder / foo.id.multibase / "info" / "alias"
    assert info.read_text() == f"{person.name}/{at}"


# -- Proxied


def test_proxied(
    proxied_world: NodeWorld, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Every byte through the node, in both directions, by every client."""
    person = proxied_world.person()
    local = foo.add(3).write(tmp_path / "client")
    assert driver.push(person.remote(at), local, foo.id).num_blocks == 5
    assert_identical(person, foo.id, local)
    assert driver.pull(person.remote(at), tmp_path / "other", foo.id).num_blocks == 5
    assert Folder(tmp_path / "other").files() == foo.files()
    proxied_world.settle()


def test_proxied_urls(proxied_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path) -> None:
    """Addresses of the Simple protocol with the caller's own headers, no expiry (wire.md 4)."""
    person = proxied_world.person()
    remote = person.remote(at)
    push = Push(SPEAKERS[0], remote, str(foo.id), folder_of(foo, tmp_path / "client")).prepare()
    strategies = push.negotiate()
    for strategy in strategies:
        assert strategy.url is not None
        place = {"DataSlice": "data", "Checkpoint": "checkpoints"}[strategy.item[0]]
        assert strategy.url["url"] == f"{remote.url}/{place}/{strategy.item[1]}"
        assert strategy.url["expires_at"] is None
        headers = transfer_headers(strategy.url)
        assert headers["x-odf-smtp-version"] == "1"
        assert headers["authorization"] == f"Bearer {person.token}"
    slice_url = next(item for item in strategies if item.item[0] == "DataSlice")
    assert slice_url.url is not None
    content = push.content(slice_url.item)
    assert upload(slice_url.url, bytes(len(content))) == 422, "the hash is checked at once"
    headers = transfer_headers(slice_url.url)
    for wrong in ({"authorization": "Bearer nobody"}, {"x-odf-upload-session": "0" * 32}):
        changed = headers | wrong | {"Content-Length": str(len(content))}
        assert request("PUT", slice_url.url["url"], changed, content)[0] in (401, 404)
    assert proxied_world.staged() == []
    push.upload(strategies)
    push.speaker.send_uploaded(push.ws)
    push.complete()
    assert_identical(person, foo.id, push.local.root)
    # The session is over, and with it its uploads.
    proxied_world.settle()
    assert upload(slice_url.url, content) == 404


def test_anonymous_proxied_downloads_have_the_version_only(
    proxied_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    person = proxied_world.person()
    served(person, foo, tmp_path, at, visibility="Public")
    deployed = SPEAKERS[0]
    ws = deployed.connect(person.anonymous().remote(at), "pull")
    deployed.send_pull(ws, str(foo.id), None)
    deployed.read_plan(ws)
    ws.send_json({})
    deployed.read_blocks(ws)
    deployed.send_pull_objects(ws, objects_of(folder_of(foo, tmp_path / "all").chain()))
    for strategy in deployed.read_downloads(ws):
        assert strategy.url is not None
        assert transfer_headers(strategy.url) == {"x-odf-smtp-version": "1"}
    ws.send_close(1000)


# -- Other makers and versions


@pytest.mark.parametrize("version", [2, 3])
def test_both_manifest_versions(
    multi_world: NodeWorld, driver: Driver, unique: str, at: str, tmp_path: Path, version: int
) -> None:
    """Bytes are never re-made: pushed, stored, pulled and served as they are."""
    person = multi_world.person()
    dataset = root_dataset(unique, version=version).info("more")
    assert {block.version for block in dataset.blocks} == {version}
    local = dataset.write(tmp_path / "client")
    driver.push(person.remote(at), local, dataset.id)
    driver.pull(person.remote(at), tmp_path / "other", dataset.id)
    assert Folder(tmp_path / "other").files() == dataset.files()
    for block in dataset.blocks:
        assert fetch(person.remote(at), f"blocks/{block.hash}") == block.data


def test_versions_mixed_in_one_chain(
    multi_world: NodeWorld, driver: Driver, unique: str, at: str, tmp_path: Path
) -> None:
    person = multi_world.person()
    dataset = root_dataset(unique, version=2)
    served(person, dataset, tmp_path, at)
    dataset.chain.version = 3
    dataset.info("by a later writer").add(4)
    local = dataset.write(tmp_path / "client")
    assert driver.push(person.remote(at), local, dataset.id).num_blocks == 2
    driver.pull(person.remote(at), tmp_path / "other", dataset.id)
    assert Folder(tmp_path / "other").files() == dataset.files()


def test_a_dataset_made_by_the_deployed_implementation(
    multi_world: NodeWorld, driver: Driver, tmp_path: Path
) -> None:
    """Its slice and its hashes are kamu's own."""
    made = Folder(require_vectors("datasets/city-population"))
    local = Folder(tmp_path / "client")
    for block_hash, data, facts in made.chain():
        local.put_block(block_hash, data)
        for kind, object_hash, _ in facts.objects:
            local.put_object(kind, object_hash, made.object_path(kind, object_hash).read_bytes())
    head = made.head()
    assert head is not None
    local.set_head(head)
    seed = read_block(made.chain()[0][1]).block.event
    assert isinstance(seed, Seed)
    person = multi_world.person()
    remote = person.remote(f"city-{driver.name}")
    if any(remote_id == seed.dataset_id for remote_id in stored_ids(multi_world)):
        delete_all(multi_world, seed.dataset_id)
    outcome = driver.push(remote, local.root, seed.dataset_id)
    assert (outcome.num_blocks, outcome.new_head) == (6, head)
    assert driver.pull(remote, tmp_path / "other", seed.dataset_id).num_blocks == 6
    assert Folder(tmp_path / "other").files() == local.files()
    assert multi_world.files(seed.dataset_id.multibase) == local.files()
    simple = simple_pull(remote, tmp_path / "simple")
    assert isinstance(simple, Updated)
    assert Folder(tmp_path / "simple").files() == local.files()


def stored_ids(world: NodeWorld) -> list[DatasetId]:
    return [DatasetId.parse(f"did:odf:{row[0]}") for row in world.rows("SELECT dataset_id FROM dataset")]


def delete_all(world: NodeWorld, dataset_id: DatasetId) -> None:
    """An id is stored once on a node, and each driver pushes this dataset."""
    from app.datasets.admin import delete_dataset, list_all_datasets

    for found in world.node.run(list_all_datasets):
        if found.id == dataset_id:
            world.node.run(lambda context, alias=found.alias: delete_dataset(context, alias))  # type: ignore[misc]
