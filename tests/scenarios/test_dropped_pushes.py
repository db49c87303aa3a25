"""Clients that drop the connection without a Close, at every point of a push ("Done when" 4).

Nothing is left: no dataset to see, no session, no staged upload; and the next push succeeds.
"""

import asyncio
import threading
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from app.transfer.admission import Admission
from app.transfer.landing import land
from odf_core.storage import sweep
from tests.builders.dataset_builder import DatasetBuilder
from tests.scenarios.drivers import Driver
from tests.scenarios.speakers import SPEAKERS, Push, Speaker, tar_of
from tests.scenarios.world import NodeWorld, assert_identical, folder_of, served, wait_until
from tests.scripted.http import request
from tests.scripted.websocket import TEXT, RawWebSocket


def after_handshake(push: Push) -> None:
    push.connect()


def after_the_offer(push: Push) -> None:
    push.connect()
    push.speaker.send_offer(push.ws, push.dataset_id, push.chain, push.head)


def after_it_was_accepted(push: Push) -> None:
    push.connect().offer()


def within_the_blocks(push: Push) -> None:
    """Half a frame: its head promises more than ever comes."""
    push.connect().offer()
    push.ws.sock.sendall(RawWebSocket.frame_head(TEXT, 100_000) + b'{"new_blocks":{"num_blocks":4,')


def after_the_blocks(push: Push) -> None:
    push.connect().offer()
    archive = tar_of((name, data) for name, data, _ in push.chain)
    push.speaker.send_blocks(push.ws, archive, len(push.chain))


def after_they_were_taken(push: Push) -> None:
    push.prepare()


def with_urls_in_hand(push: Push) -> None:
    push.prepare().negotiate()


def between_uploads(push: Push) -> None:
    push.prepare()
    push.upload(push.negotiate()[:1])


def within_an_upload(push: Push) -> None:
    """The connection of the upload breaks off, too."""
    push.prepare()
    strategy = next(item for item in push.negotiate() if item.url is not None)
    assert strategy.url is not None
    length = {"Content-Length": str(len(push.content(strategy.item)))}
    with pytest.raises((TimeoutError, ConnectionError)):
        request("PUT", strategy.url["url"], length, b"not all", timeout=0.3)


def after_all_uploads(push: Push) -> None:
    push.prepare()
    push.upload(push.negotiate())


def after_saying_so(push: Push) -> None:
    push.uploaded()


PHASES: tuple[Callable[[Push], None], ...] = (
    after_handshake,
    after_the_offer,
    after_it_was_accepted,
    within_the_blocks,
    after_the_blocks,
    after_they_were_taken,
    with_urls_in_hand,
    between_uploads,
    within_an_upload,
    after_all_uploads,
    after_saying_so,
)


@pytest.mark.parametrize("phase", PHASES, ids=[phase.__name__ for phase in PHASES])
def test_a_dropped_first_push(
    multi_world: NodeWorld,
    speaker: Speaker,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
    phase: Callable[[Push], None],
) -> None:
    person = multi_world.person()
    before = multi_world.snapshot()
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local)
    phase(push)
    push.ws.drop()
    multi_world.settle()
    assert multi_world.snapshot() == before
    assert person.remote(at).head() is None
    Push(speaker, person.remote(at), str(foo.id), local).run()
    assert_identical(person, foo.id, local.root)
    multi_world.settle()


@pytest.mark.parametrize("phase", [within_the_blocks, between_uploads, after_saying_so])
def test_a_dropped_later_push(
    multi_world: NodeWorld,
    driver: Driver,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
    phase: Callable[[Push], None],
) -> None:
    """The dataset stays at the head that it had; each client then pushes what was broken off."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    multi_world.settle()
    old_head, before = foo.head, multi_world.snapshot()
    local = folder_of(foo.info("more").add(5), tmp_path / "client")
    push = Push(SPEAKERS[0], person.remote(at), str(foo.id), local)
    phase(push)
    push.ws.drop()
    multi_world.settle()
    assert multi_world.snapshot() == before
    assert driver.push(person.remote(at), local.root, foo.id).old_head == old_head
    assert_identical(person, foo.id, local.root)


def test_dropped_while_the_node_checks(
    multi_world: NodeWorld,
    speaker: Speaker,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Before the commit has begun, the work ends with the connection."""
    person = multi_world.person()
    checking, go_on = threading.Event(), threading.Event()

    complete = Admission.complete

    async def slow(admission: Admission) -> None:
        checking.set()
        while not go_on.is_set():
            await asyncio.sleep(0.01)
        await complete(admission)

    monkeypatch.setattr(Admission, "complete", slow)
    before = multi_world.snapshot()
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).uploaded()
    push.ws.send_json({})
    assert checking.wait(10)
    push.ws.drop()
    try:
        multi_world.settle()
    finally:
        go_on.set()
    assert multi_world.snapshot() == before
    monkeypatch.undo()
    Push(speaker, person.remote(at), str(foo.id), local).run()
    assert_identical(person, foo.id, local.root)


def test_dropped_while_the_node_commits(
    multi_world: NodeWorld,
    speaker: Speaker,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A commit that has begun runs to its end: all of the dataset is there, and the bucket agrees."""
    person = multi_world.person()
    committing, go_on = threading.Event(), threading.Event()

    async def slow(*arguments: object, **options: object) -> None:
        committing.set()
        while not go_on.is_set():
            await asyncio.sleep(0.01)
        await land(*arguments, **options)  # type: ignore[arg-type]

    monkeypatch.setattr("app.transfer.push.land", slow)
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).uploaded()
    push.ws.send_json({})
    assert committing.wait(10)
    push.ws.drop()
    go_on.set()
    multi_world.settle()
    assert person.remote(at).head() == foo.head
    assert_identical(person, foo.id, local.root)


@pytest.mark.parametrize("delay", [0.0, 0.003, 0.01, 0.03, 0.1])
def test_dropped_some_time_after_the_end(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path, delay: float
) -> None:
    """Whenever it is: the dataset is there as a whole or not at all, and a repeated push makes it so."""
    person = multi_world.person()
    local = folder_of(foo, tmp_path / "client")
    push = Push(SPEAKERS[0], person.remote(at), str(foo.id), local).uploaded()
    push.ws.send_json({})
    threading.Event().wait(delay)
    push.ws.drop()
    multi_world.settle()
    head = person.remote(at).head()
    assert head in (None, foo.head)
    if head is None:
        Push(SPEAKERS[0], person.remote(at), str(foo.id), local).run()
    assert_identical(person, foo.id, local.root)


def test_a_dropped_pull_leaves_no_session(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """At each of its points."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    for steps in range(4):
        ws = speaker.connect(person.remote(at), "pull")
        if steps > 0:
            speaker.send_pull(ws, str(foo.id), None)
        if steps > 1:
            speaker.read_plan(ws)
            ws.send_json({})
        if steps > 2:
            speaker.read_blocks(ws)
        ws.drop()
    wait_until(lambda: multi_world.sessions() == 0, "sessions are still open")


def test_an_upload_after_the_end_changes_nothing(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The URLs outlive their session: what comes then stays where nobody reads it, until it is swept."""
    person = multi_world.person()
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).prepare()
    urls = push.negotiate()
    push.ws.drop()
    multi_world.settle()
    before = multi_world.snapshot()
    push.upload(urls)
    assert len(multi_world.staged()) == 2
    assert multi_world.snapshot() == before
    sweep(multi_world.node.context.store, timedelta(0))
    assert multi_world.staged() == []
