"""Postgres or S3 gone for some seconds in the middle: really killed, and started again by their supervisor.

A typed error on its channel, or success where the node could wait; nothing changed by what failed, and
the next push succeeds. ODF_TEST_LONG=1 makes the outages ten seconds long.
"""

import json
import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException
from pathlib import Path

import pytest

from app.embedded import supervisor
from app.embedded.processes import command_line
from tests.builders.dataset_builder import DatasetBuilder
from tests.scenarios.drivers import OURS
from tests.scenarios.refusals import COMPLETE, INITIAL
from tests.scenarios.speakers import SPEAKERS, Push, Speaker, WireRefusal, objects_of
from tests.scenarios.world import (
    NodeWorld,
    assert_identical,
    embedded_world,
    folder_of,
    served,
    wait_until,
)
from tests.scripted.http import download, request, upload
from tests.scripted.websocket import Closed, HandshakeRefused

OUTAGE_SECONDS = 10.0 if os.environ.get("ODF_TEST_LONG") else 2.0
DEPLOYED, PUBLISHED = SPEAKERS


@pytest.fixture(scope="module")
def fragile_world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[NodeWorld]:
    """A node whose services may die."""
    with (
        pytest.MonkeyPatch.context() as patch,
        embedded_world(tmp_path_factory.mktemp("services"), through_s3=True, durable=True) as world,
    ):
        patch.setattr(supervisor, "RESTART_SECONDS", (OUTAGE_SECONDS,))
        patch.setattr(supervisor, "MOST_EXITS", 1000)
        yield world


def kill(world: NodeWorld, name: str) -> int:
    """SIGKILL a service, and wait until the processes that it leaves behind have noticed; its pid."""
    assert world.services is not None
    pid = world.services.pids()[name]
    backends = "SELECT pid FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
    pids = {pid, *(backend for (backend,) in (world.rows(backends) if name == "postgres" else []))}
    os.kill(pid, signal.SIGKILL)
    wait_until(lambda: not any(map(command_line, pids)), f"{name} does not die")
    return pid


@contextmanager
def gone(world: NodeWorld, name: str) -> Iterator[None]:
    """While the block runs a service is away, afterwards it is back."""
    wait_until(lambda: healthy(world), "the services did not start")
    kill(world, name)
    wait_until(lambda: not healthy(world), f"nobody notices that {name} is gone")
    yield
    wait_until(lambda: healthy(world), f"{name} does not come back", patience=60)


def healthy(world: NodeWorld) -> bool:
    return world.services is not None and world.services.is_healthy()


@pytest.mark.parametrize(
    ("speaker", "phase"), [(PUBLISHED, INITIAL), (DEPLOYED, COMPLETE)], ids=["published", "deployed"]
)
def test_postgres_gone_in_a_push(
    fragile_world: NodeWorld,
    speaker: Speaker,
    phase: str,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
) -> None:
    """At the request, and at the end."""
    person = fragile_world.person()
    served(person, foo, tmp_path, at)
    before = fragile_world.snapshot()
    local = folder_of(foo.info("while the database is away").add(3), tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local)
    push.connect() if phase == INITIAL else push.uploaded()
    with gone(fragile_world, "postgres"):
        with pytest.raises(WireRefusal) as refused:
            push.offer() if phase == INITIAL else push.complete()
        told = refused.value.told
        assert told.code == "database_unavailable"
        if speaker is DEPLOYED:
            assert (told.channel, told.phase) == ("close", phase)
        with pytest.raises(HandshakeRefused) as denied:
            speaker.connect(person.remote(at), "push")
        assert denied.value.status == 503
        status, headers, body = request("GET", f"{person.remote(at).url}/refs/head")
        assert (status, json.loads(body)["code"]) == (503, "database_unavailable")
        assert headers["retry-after"]
        assert request("GET", f"{fragile_world.node.base_url}/health/ready")[0] == 503
        assert request("GET", f"{fragile_world.node.base_url}/health/live")[0] == 200
    assert fragile_world.snapshot() == before
    Push(speaker, person.remote(at), str(foo.id), local).run()
    assert_identical(person, foo.id, local.root)


def test_postgres_gone_in_a_commit(
    fragile_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Blocks lie in the bucket already, the head does not move; nobody sees anything of it."""
    from app.transfer import landing

    person = fragile_world.person()
    served(person, foo, tmp_path, at)
    old_head, index = foo.head, fragile_world.snapshot()["index"]
    local = folder_of(foo.info("while the database is away"), tmp_path / "client")
    push = Push(DEPLOYED, person.remote(at), str(foo.id), local).uploaded()
    with gone_at(fragile_world, monkeypatch, landing, "commit_blocks"):
        with pytest.raises(WireRefusal) as refused:
            push.complete()
        assert refused.value.told.code in ("database_unavailable", "commit_outcome_unknown")
    assert person.remote(at).head() == old_head
    assert fragile_world.snapshot()["index"] == index
    assert fragile_world.files(foo.id.multibase)["refs/head"].decode() == old_head
    Push(DEPLOYED, person.remote(at), str(foo.id), local).run()
    assert_identical(person, foo.id, local.root)


@contextmanager
def gone_at(world: NodeWorld, monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> Iterator[None]:
    """Postgres dies at the moment when the node calls this function."""
    real = getattr(module, name)
    killed: list[int] = []

    async def call(*arguments: object, **options: object) -> object:
        killed.append(kill(world, "postgres"))
        return await real(*arguments, **options)

    monkeypatch.setattr(module, name, call)
    yield
    monkeypatch.undo()
    services = world.services
    assert services is not None and killed
    wait_until(lambda: not healthy(world) or killed[0] not in services.pids().values(), "nobody notices")
    wait_until(lambda: healthy(world), "Postgres does not come back", patience=60)


def test_postgres_gone_in_a_pull(
    fragile_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    person = fragile_world.person()
    served(person, foo, tmp_path, at)
    ws = DEPLOYED.connect(person.remote(at), "pull")
    with gone(fragile_world, "postgres"):
        DEPLOYED.send_pull(ws, str(foo.id), None)
        with pytest.raises(WireRefusal) as refused:
            DEPLOYED.read_plan(ws)
        told = refused.value.told
        assert (told.code, told.channel, told.phase) == ("database_unavailable", "text", INITIAL)
        # Our client waits as long as the answer says, and gets through.
        local = tmp_path / "client"
        assert OURS[0].pull(person.remote(at), local, foo.id).num_blocks == 4
    assert_identical(person, foo.id, local)


def test_a_token_asked_about_while_postgres_is_gone(fragile_world: NodeWorld) -> None:
    """A deployed client fails at any status but 200, 400 and 401 (wire.md 6.2), so the node waits; who
    asks for JSON learns at once how it is."""
    person = fragile_world.person()
    url = f"{fragile_world.node.base_url}/platform/token/validate"
    good, bad = {"Authorization": f"Bearer {person.token}"}, {"Authorization": "Bearer ka_wrong"}
    with gone(fragile_world, "postgres"):
        status, _, body = request("GET", url, {**good, "Accept": "application/json"})
        assert (status, json.loads(body)["code"]) == (503, "database_unavailable")
        assert request("GET", url, bad)[0] == 401
        assert request("GET", url, good)[::2] == (200, b"")
    assert fragile_world.services is not None and fragile_world.services.is_healthy()


def test_s3_gone_between_uploads(
    fragile_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The upload fails or waits; sent again, the same session ends well."""
    person = fragile_world.person()
    local = folder_of(foo, tmp_path / "client")
    push = Push(DEPLOYED, person.remote(at), str(foo.id), local).prepare()
    first, second = push.negotiate()
    push.upload([first])
    with (
        gone(fragile_world, "rclone"),
        suppress(OSError, HTTPException),
    ):  # refused, or reset when the server died
        assert upload(second.address, push.content(second.item)) in (200, 500, 503)
    push.upload([second])
    push.speaker.send_uploaded(push.ws)
    push.complete()
    assert_identical(person, foo.id, local.root)


@pytest.mark.parametrize("speaker", SPEAKERS, ids=[speaker.name for speaker in SPEAKERS])
def test_s3_gone_at_the_end_of_a_push(
    fragile_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The node waits a little; either it got through or it says that the store is away."""
    person = fragile_world.person()
    served(person, foo, tmp_path, at)
    old_head = foo.head
    local = folder_of(foo.info("while the store is away").add(4), tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).uploaded()
    with gone(fragile_world, "rclone"):
        try:
            push.complete()
        except WireRefusal as refused:
            assert refused.told.code == "store_unavailable"
            assert person.remote(at).head() == old_head
        except Closed as closed:
            raise AssertionError("the node said nothing") from closed
        else:
            assert person.remote(at).head() == foo.head
    if person.remote(at).head() == old_head:
        Push(speaker, person.remote(at), str(foo.id), local).run()
    assert person.remote(at).head() == foo.head
    assert_identical(person, foo.id, local.root)


def test_s3_gone_in_a_pull(fragile_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path) -> None:
    """Blocks come without the store; objects, by new URLs or the old ones, when it is back."""
    person = fragile_world.person()
    served(person, foo, tmp_path, at)
    items = objects_of(folder_of(foo, tmp_path / "all").chain())
    ws = DEPLOYED.connect(person.remote(at), "pull")
    with gone(fragile_world, "rclone"):
        DEPLOYED.send_pull(ws, str(foo.id), None)
        assert DEPLOYED.read_plan(ws) == 4
        ws.send_json({})
        assert len(DEPLOYED.read_blocks(ws)) == 4
        DEPLOYED.send_pull_objects(ws, items)
        strategies = DEPLOYED.read_downloads(ws)
        # The Simple protocol has to read the store itself.
        status, _, _ = request("GET", f"{person.remote(at).url}/data/{items[0][1]}")
        assert status in (404, 503)
    for strategy in strategies:
        assert len(download(strategy.address)) == strategy.item[2]
    ws.send_close(1000)
    local = tmp_path / "client"
    assert OURS[1].pull(person.remote(at), local, foo.id).num_blocks == 4
    assert_identical(person, foo.id, local)
