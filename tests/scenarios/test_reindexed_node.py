"""The index can be lost ("Done when" 7): on an empty database a reindex brings a whole node back.

A node serves several datasets; then its database is thrown away and made anew from the bucket.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from app.context import NodeContext
from app.database import connect
from app.datasets.service import list_datasets
from app.ops.findings import FindingKind, ReindexReport
from app.ops.reindex import reindex
from tests.builders.dataset_builder import DatasetBuilder, derivative_dataset, root_dataset, seed_only
from tests.running_node import running_node, settings_for
from tests.scenarios.drivers import DRIVERS
from tests.scenarios.world import NodeWorld, Person, folder_of, node_world, on_chain, served
from tests.scripted.folder import Folder
from tests.scripted.http import request
from tests.services import Addresses, fresh_database


@pytest.fixture
def old_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    with node_world(services, s3_client) as world:
        yield world


@contextmanager
def born_again(
    world: NodeWorld, services: Addresses, *, rehash: bool = False
) -> Iterator[tuple[NodeWorld, ReindexReport]]:
    """A node on the same bucket and an empty database, and what the reindex said."""
    with fresh_database(services) as database_url:
        settings = settings_for(database_url, world.bucket, transfer={"close_wait_seconds": 0.5})
        with running_node(settings) as node:
            fresh = NodeWorld(node, database_url, world.bucket, world.s3)
            report = node.run(lambda context: work(context, rehash=rehash))
            yield fresh, report


async def work(context: NodeContext, *, rehash: bool) -> ReindexReport:
    return await reindex(context.store, context.engine, rehash=rehash)


def told(world: NodeWorld) -> dict[str, tuple[str, ...]]:
    """What the index says of each dataset that matters to others."""

    async def ask(context: NodeContext) -> dict[str, tuple[str, ...]]:
        async with connect(context.engine) as conn:
            return {
                str(item.id): (
                    item.owner_name,
                    item.owner_did,
                    item.name,
                    item.visibility,
                    item.kind,
                    str(item.head),
                )
                for item in await list_datasets(conn)
            }

    return world.node.run(ask)


def test_a_node_comes_back(old_world: NodeWorld, services: Addresses, unique: str, tmp_path: Path) -> None:
    """Heads, owners, names, visibility; pulls in every way; pushes go on; abandoned blocks by their hash."""
    alice, bob = old_world.person("alice"), old_world.person("bob")
    forced = root_dataset(f"{unique[:24]} f").add(6)
    compacted = forced.compacted()
    datasets: list[tuple[Person, str, DatasetBuilder, dict[str, Any]]] = [
        (alice, "private", root_dataset(f"{unique[:24]} a").add(5), {}),
        (alice, "public", root_dataset(f"{unique[:24]} b"), {"visibility": "Public"}),
        (bob, "Derived", derivative_dataset(f"{unique[:24]} c", "x"), {}),
        (bob, "empty", seed_only(f"{unique[:24]} d"), {"visibility": "Public"}),
        (bob, "forced", forced, {}),
        (bob, "forced", compacted, {"force": True}),
    ]
    for person, name, dataset, options in datasets:
        served(person, dataset, tmp_path, name, **options)
    del datasets[4]
    before = told(old_world)
    assert len(before) == 5
    with born_again(old_world, services) as (world, report):
        assert told(world) == before
        assert report.findings == []
        assert (report.datasets, sorted(report.accounts_created)) == (5, ["alice", "bob"])
        for owner, name, dataset, options in datasets:
            person = world.person(owner.name)
            for driver in DRIVERS:
                local = tmp_path / "pulled" / name / driver.name
                assert driver.pull(person.remote(name), local, dataset.id).new_head == dataset.head
                assert on_chain(Folder(local).files(), local / "x") == dataset.files()
            seen = person.anonymous().remote(name).head()
            assert seen == (dataset.head if options.get("visibility") else None)
            dataset.info("and life goes on")
            served(person, dataset, tmp_path / "again", name)
        remote = world.person("bob").remote("forced")
        status, _, body = request("GET", f"{remote.url}/blocks/{forced.head}", remote.headers())
        assert (status, body) == (200, forced.blocks[-1].data)
        again = world.node.run(lambda context: work(context, rehash=True))
        assert (again.findings, again.datasets) == ([], 5)


def test_no_half_made_push_comes_to_life(
    old_world: NodeWorld, services: Addresses, foo: DatasetBuilder, tmp_path: Path
) -> None:
    """Blocks and objects whose head never moved: after a first push that failed, and a later one."""
    from tests.scenarios.speakers import SPEAKERS, Push

    alice = old_world.person("alice")
    served(alice, foo, tmp_path, "foo")
    losing = folder_of(foo.fork().add(4), tmp_path / "losing")
    push = Push(SPEAKERS[0], alice.remote("foo"), str(foo.id), losing).uploaded()
    served(alice, foo.info("faster"), tmp_path, "foo")
    with pytest.raises(Exception, match="head_moved"):
        push.complete()
    old_world.settle()
    before = told(old_world)
    with born_again(old_world, services) as (world, report):
        assert told(world) == before
        kinds = {finding.kind for finding in report.findings}
        assert kinds <= {FindingKind.STRAY_FILE, FindingKind.HEAD_MISSING}
        person = world.person("alice")
        local = tmp_path / "pulled"
        assert DRIVERS[0].pull(person.remote("foo"), local, foo.id).num_blocks == 5


def lost_block(folder: Path, dataset: DatasetBuilder) -> str:
    name = str(dataset.blocks[1].hash)
    (folder / "blocks" / name).unlink()
    return name


def altered_block(folder: Path, dataset: DatasetBuilder) -> str:
    name = str(dataset.blocks[2].hash)
    flip(folder / "blocks" / name)
    return name


def cut_block(folder: Path, dataset: DatasetBuilder) -> str:
    name = dataset.head
    path = folder / "blocks" / name
    path.write_bytes(path.read_bytes()[:50])
    return name


def lost_object(folder: Path, dataset: DatasetBuilder) -> str:
    path = next((folder / "data").iterdir())
    path.unlink()
    return path.name


def altered_object(folder: Path, dataset: DatasetBuilder) -> str:
    path = next((folder / "data").iterdir())
    flip(path)
    return path.name


def cut_object(folder: Path, dataset: DatasetBuilder) -> str:
    path = next((folder / "checkpoints").iterdir())
    path.write_bytes(b"short")
    return path.name


def head_of_nothing(folder: Path, dataset: DatasetBuilder) -> str:
    name = "f1620" + "ab" * 32
    (folder / "refs" / "head").write_text(name)
    return name


def head_that_is_none(folder: Path, dataset: DatasetBuilder) -> str:
    (folder / "refs" / "head").write_text("nowhere")
    return ""


def lost_head(folder: Path, dataset: DatasetBuilder) -> str:
    (folder / "refs" / "head").unlink()
    return ""


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 0xFF
    path.write_bytes(bytes(data))


DAMAGES: tuple[tuple[Callable[[Path, DatasetBuilder], str], FindingKind, bool], ...] = (
    (lost_block, FindingKind.BLOCK_MISSING, False),
    (altered_block, FindingKind.BLOCK_DAMAGED, False),
    (cut_block, FindingKind.BLOCK_DAMAGED, False),
    (lost_object, FindingKind.OBJECT_MISSING, True),
    (altered_object, FindingKind.OBJECT_DAMAGED, True),
    (cut_object, FindingKind.OBJECT_DAMAGED, True),
    (head_of_nothing, FindingKind.BLOCK_MISSING, False),
    (head_that_is_none, FindingKind.HEAD_DAMAGED, False),
    (lost_head, FindingKind.HEAD_MISSING, False),
)


def test_damage_is_named(services: Addresses, unique: str, tmp_path: Path, s3_client: Any) -> None:
    """One dataset for each kind of damage, and one that is well: each finding names what it is about.

    The bucket is written to beneath its server, hence a server of its own that reads every listing anew.
    """
    from tests.scenarios.world import embedded_world

    with embedded_world(tmp_path / "services") as world:
        alice = world.person("alice")
        named: dict[str, tuple[str, FindingKind, bool]] = {}
        well = root_dataset(unique)
        served(alice, well, tmp_path, "well")
        for number, (damage, kind, is_usable) in enumerate(DAMAGES):
            dataset = root_dataset(f"{unique[:28]} {number}")
            served(alice, dataset, tmp_path, f"damaged-{number}")
            name = damage(world.folder / dataset.id.multibase, dataset)
            named[str(dataset.id)] = (name, kind, is_usable)
        world.rows("SELECT 1")
        forget_index(world)
        report = world.node.run(lambda context: work(context, rehash=True))
        found = told(world)
        assert found[str(well.id)][-1] == well.head
        assert {finding.dataset_id for finding in report.findings} == set(named)
        for finding in report.findings:
            name, kind, is_usable = named[finding.dataset_id]
            assert finding.kind is kind, finding
            assert name in f"{finding.message} {finding.objects}", finding
            assert (finding.dataset_id in found) == is_usable
        # What is damaged is not served as if it were well; the rest of the same dataset is.
        remote = world.person("alice").remote("damaged-3")
        lost = named[str(root_dataset(f"{unique[:28]} 3").id)][0]
        assert request("GET", f"{remote.url}/data/{lost}", remote.headers())[0] == 404
        assert request("GET", f"{remote.url}/refs/head", remote.headers())[0] == 200


def forget_index(world: NodeWorld) -> None:
    """Throw away everything that a reindex makes again; accounts stay."""
    import psycopg

    with psycopg.connect(world.database_url.replace("+psycopg", "")) as connection:
        connection.execute("TRUNCATE dataset, ref, block, stored_object CASCADE")
