"""What deployed clients do and a server has to bear (wire.md 2, 3.5, 3.7; "Done when" 4).

A client that never answers pings and says nothing for a long time, duplicates, questions about
progress, objects asked for in parts and again.
"""

import os
import threading
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.builders.dataset_builder import DatasetBuilder
from tests.scenarios.drivers import Driver, ScriptedDeployed
from tests.scenarios.speakers import SPEAKERS, Push, Speaker, Strategy, objects_of
from tests.scenarios.world import NodeWorld, Person, assert_identical, folder_of, node_world, served
from tests.scripted.deployed import negotiate, object_file, ok
from tests.scripted.http import download, upload
from tests.scripted.websocket import RawWebSocket
from tests.services import Addresses

SILENCE_SECONDS = 90.0 if os.environ.get("ODF_TEST_LONG") else 5.0
QUESTION_SECONDS = 0.2


@pytest.fixture(scope="module")
def asking_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    """A node that asks for progress all the time."""
    settings = {"progress_interval_seconds": QUESTION_SECONDS}
    with node_world(services, s3_client, transfer=settings) as world:
        yield world


def test_a_silent_client_finishes(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """No ping, no idle timeout: three pulls and a push fall silent, each at another point, and go on."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    config = multi_world.node.server.config
    assert (config.ws_ping_interval, config.ws_ping_timeout) == (None, None)
    remote, items = person.remote(at), objects_of(folder_of(foo, tmp_path / "all").chain())
    deployed, published = SPEAKERS
    asked, planned, packed = deployed.connect(remote, "pull"), published.connect(remote, "pull"), None
    packed = deployed.connect(remote, "pull")
    for speaker, ws in ((published, planned), (deployed, packed)):
        speaker.send_pull(ws, str(foo.id), None)
        assert speaker.read_plan(ws) == 4
    packed.send_json({})
    assert len(deployed.read_blocks(packed)) == 4
    newer = foo.fork().add(3)
    push = Push(published, remote, str(foo.id), folder_of(newer, tmp_path / "newer")).prepare()
    urls = push.negotiate()

    stay_silent([asked, planned, packed, push.ws])

    deployed.send_pull(asked, str(foo.id), None)
    assert deployed.read_plan(asked) == 4
    planned.send_json({})
    assert len(published.read_blocks(planned)) == 4
    deployed.send_pull_objects(packed, items)
    for strategy in deployed.read_downloads(packed):
        assert len(download(strategy.address)) == strategy.item[2]
    for ws in (asked, planned, packed):
        ws.send_close(1000, "Client pull flow succeeded")
    push.upload(urls).complete()
    assert remote.head() == newer.head


def stay_silent(sockets: list[RawWebSocket]) -> None:
    """Say nothing; whatever the node says meanwhile, a Ping above all, is a failure."""
    heard: list[object] = []

    def listen(ws: RawWebSocket) -> None:
        patience = ws.sock.gettimeout()
        ws.sock.settimeout(SILENCE_SECONDS)
        try:
            heard.append(ws.receive())
        except TimeoutError:
            ws.sock.settimeout(patience)
        except Exception as error:
            heard.append(error)

    threads = [threading.Thread(target=listen, args=(ws,)) for ws in sockets]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not heard


def test_one_object_put_twice_at_once(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """A checkpoint that several blocks carry is listed several times (wire.md 3.5): one upload is asked
    for, and a client that sends an object twice at once spoils nothing.

    S3 answers 200 to both. rclone's rename takes away what is there first, so that of two that end within
    the same microseconds one is now and then answered 500, while the other one's bytes are in place.
    """
    person = multi_world.person()
    foo.add(5, with_checkpoint=False).add(5, with_checkpoint=False)
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).prepare()
    listed = objects_of(push.chain)
    assert len(listed) == 6
    assert len(set(listed)) == 4
    strategies = push.negotiate(listed)
    assert len(strategies) == 6
    assert len([strategy for strategy in strategies if strategy.url is not None]) == 4
    statuses: dict[str, list[int]] = defaultdict(list)

    def put(strategy: Strategy) -> None:
        statuses[strategy.item[1]].append(upload(strategy.address, push.content(strategy.item)))

    threads = [
        threading.Thread(target=put, args=(strategy,))
        for strategy in strategies
        if strategy.url is not None
        for _ in range(2)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(statuses) == 4
    for both in statuses.values():
        assert len(both) == 2
        assert 200 in both
        assert set(both) <= {200, 500}
    speaker.send_uploaded(push.ws)
    push.complete()
    assert_identical(person, foo.id, local.root)


def test_progress_is_asked_for_during_slow_uploads(
    asking_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """`{}` comes while uploads run, is answered with `Running`, and ends with `Complete`."""
    deployed = SPEAKERS[0]
    person = asking_world.person()
    push = Push(deployed, person.remote(at), str(foo.id), folder_of(foo, tmp_path / "client")).prepare()
    strategies = push.negotiate()
    for count, strategy in enumerate(strategies):
        for _ in range(2):
            assert push.ws.receive_json() == {}
            push.ws.send_json({"details": {"Running": {"uploaded_objects_count": count}}})
        push.upload([strategy])
    push.ws.send_json({"details": "Complete"})
    push.ws.send_json({})
    # A question that crossed `Complete` looks like the confirmation; the head tells them apart.
    while person.remote(at).head() is None:
        assert push.ws.receive_json() == {}
    assert person.remote(at).head() == foo.head


def test_unanswered_questions_do_no_harm(
    asking_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """A client that reads nothing while it uploads finds all questions before its confirmation."""
    person = asking_world.person()
    push = Push(SPEAKERS[0], person.remote(at), str(foo.id), folder_of(foo, tmp_path / "client")).prepare()
    strategies = push.negotiate()
    threading.Event().wait(3 * QUESTION_SECONDS)
    push.upload(strategies)
    push.ws.send_json({"details": "Complete"})
    push.ws.send_json({})
    replies = [push.ws.receive_json() for _ in range(2)]
    while person.remote(at).head() is None:
        replies.append(push.ws.receive_json())
    assert all(reply == {} for reply in replies)
    assert person.remote(at).head() == foo.head


def test_questions_reach_our_client(
    asking_world: NodeWorld, driver: Driver, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Each client pushes to a node that asks all the time."""
    person = asking_world.person()
    local = foo.add(10).write(tmp_path / "client")
    assert driver.push(person.remote(at), local, foo.id).new_head == foo.head
    assert_identical(person, foo.id, local)


def test_objects_in_truncated_requests(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Steps 5 to 9 repeat while `is_truncated` is true (wire.md 3.5)."""
    person = multi_world.person()
    foo.add(5).add(6)
    local = folder_of(foo, tmp_path / "client")
    push = Push(SPEAKERS[0], person.remote(at), str(foo.id), local).prepare()
    items = objects_of(push.chain)
    for index, item in enumerate(items):
        strategies = negotiate(push.ws, [item], is_truncated=index < len(items) - 1)
        assert [s["object_file"] for s in strategies] == [object_file(item)]
        assert upload(strategies[0]["upload_to"], push.content(item)) == 200
        push.ws.send_json({"details": "Complete"})
    push.complete()
    assert_identical(person, foo.id, local.root)


def test_objects_asked_for_again_and_again(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """A puller may ask for new URLs on the same socket as often as it likes; all of them are good."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    items = objects_of(folder_of(foo, tmp_path / "all").chain())
    ws = speaker.connect(person.remote(at), "pull")
    speaker.send_pull(ws, str(foo.id), None)
    speaker.read_plan(ws)
    ws.send_json({})
    speaker.read_blocks(ws)
    urls = []
    for asked in (items, items[:1], items, items[1:], items + items):
        speaker.send_pull_objects(ws, asked)
        answered = speaker.read_downloads(ws)
        assert [strategy.item[:2] for strategy in answered] == [item[:2] for item in asked]
        urls += [strategy.address for strategy in answered]
    assert {len(download(url)) for url in urls} == {item[2] for item in items}
    ws.send_close(1000)


def test_stop_at_ends_the_interval(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """`stop_at` is the inclusive head of the interval (wire.md 3.4)."""
    person = multi_world.person()
    middle = foo.head
    foo.info("newer").add(5)
    served(person, foo, tmp_path, at)
    names = [str(block.hash) for block in foo.blocks]
    for begin_after, stop_at, expected in (
        (None, middle, names[:4]),
        (names[1], middle, names[2:4]),
        (names[3], names[3], []),
        (names[4], None, names[5:]),
    ):
        ws = speaker.connect(person.remote(at), "pull")
        speaker.send_pull(ws, str(foo.id), begin_after, stop_at)
        assert speaker.read_plan(ws) == len(expected)
        if expected:
            ws.send_json({})
            assert [name for name, _ in speaker.read_blocks(ws)] == expected
        ws.send_close(1000)


def test_old_clients_read_the_answer_to_the_blocks(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Unknown fields are ignored on input, optional ones may be left out (wire.md 3.1, 7.2)."""
    person = multi_world.person()
    local = folder_of(foo, tmp_path / "client")
    remote = person.remote(at)
    ws = remote.socket("push")
    numbers = {"num_blocks": 4, "num_objects": 2, "num_records": 10}
    plan = numbers | {"bytes_in_raw_blocks": 1, "bytes_in_raw_objects": 2, "later": "field"}
    request = {"transfer_plan": plan, "force_update_if_diverged": False, "unknown": [1]}
    ws.send_json(request | {"visibility_for_created_dataset": "private"})
    assert ok(ws.expect()) == {}
    push = Push(SPEAKERS[0], remote, str(foo.id), local, ws=ws, chain=local.chain())
    push.send_blocks().upload(push.negotiate())
    ws.send_json({"details": "Complete"})
    push.complete()
    assert remote.head() == foo.head


def test_many_sessions_one_after_another(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Every block pushed in a session of its own gives the dataset that one session would give."""
    person = multi_world.person()
    foo.info("a").add(3).info("b")
    for count in range(1, len(foo.blocks) + 1):
        part = foo.first(count)
        local = part.write(tmp_path / f"part-{count}")
        assert ScriptedDeployed().push(person.remote(at), local, foo.id).num_blocks == 1
    assert person.world.files(foo.id.multibase) == foo.files()


def test_nothing_is_left_open(multi_world: NodeWorld, asking_world: NodeWorld) -> None:
    """After all of the above."""
    RawWebSocket.close_all()
    for world in (multi_world, asking_world):
        world.settle()


def test_names_in_any_case(multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path) -> None:
    """Names compare without case (wire.md 1.1), also between the sessions of one dataset."""
    person: Person = multi_world.person()
    served(person, foo, tmp_path, at)
    foo.info("pushed under another spelling")
    local = foo.write(tmp_path / "client")
    assert ScriptedDeployed().push(person.remote(at.upper()), local, foo.id).num_blocks == 1
    assert person.remote(at).head() == foo.head
