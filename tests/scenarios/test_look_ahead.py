"""A push is examined while it is still being uploaded; before its end nothing of that shows."""

import threading
from collections import Counter
from pathlib import Path

import pytest

from app.transfer.examination import Examined, Examiner, Pending
from odf_core.errors import OdfError
from tests.builders.dataset_builder import DatasetBuilder
from tests.scenarios.speakers import Push, Speaker
from tests.scenarios.world import NodeWorld, assert_identical, folder_of, wait_until
from tests.scripted.http import upload


class Watch:
    """Counts what the node has examined, by hash, and what it found wrong."""

    def __init__(self) -> None:
        self.passed: Counter[str] = Counter()
        self.failed: Counter[str] = Counter()
        self._lock = threading.Lock()
        self._examine = Examiner.examine

    def examine(self, examiner: Examiner, item: Pending) -> Examined:
        try:
            examined = self._examine(examiner, item)
        except OdfError:
            with self._lock:
                self.failed[str(item.ref.hash)] += 1
            raise
        with self._lock:
            self.passed[str(item.ref.hash)] += 1
        return examined


@pytest.fixture
def watch(monkeypatch: pytest.MonkeyPatch) -> Watch:
    watching = Watch()
    monkeypatch.setattr(Examiner, "examine", lambda examiner, item: watching.examine(examiner, item))
    return watching


@pytest.fixture(params=["multi_world", "private_world"])
def world(request: pytest.FixtureRequest) -> NodeWorld:
    """A bucket behind S3, where a claim is a copy, and one that the node has beneath it."""
    found: NodeWorld = request.getfixturevalue(request.param)
    return found


def test_objects_are_examined_once_and_before_the_end(
    world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path, watch: Watch
) -> None:
    person = world.person()
    local = folder_of(foo, tmp_path / "client")
    before = world.snapshot()
    push = Push(speaker, person.remote(at), str(foo.id), local).prepare()
    strategies = push.negotiate()
    push.upload(strategies)
    hashes = {strategy.item[1] for strategy in strategies}
    wait_until(lambda: set(watch.passed) == hashes, "the node waits for the end of the push")
    assert world.snapshot() == before
    push.speaker.send_uploaded(push.ws)
    push.complete()
    assert set(watch.passed.values()) == {1}
    assert not watch.failed
    assert_identical(person, foo.id, local.root)
    world.settle()


def test_an_upload_that_was_wrong_at_first_may_be_repeated(
    world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path, watch: Watch
) -> None:
    """Only what is there at the end counts."""
    person = world.person()
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).prepare()
    strategies = push.negotiate()
    first = strategies[0]
    assert upload(first.address, bytes(len(push.content(first.item)))) == 200
    wait_until(lambda: watch.failed[first.item[1]] > 0, "the node does not look at what has arrived")
    push.upload(strategies)
    push.speaker.send_uploaded(push.ws)
    push.complete()
    assert watch.passed[first.item[1]] == 1
    assert_identical(person, foo.id, local.root)
    world.settle()


def test_what_was_examined_is_what_is_kept(
    world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path, watch: Watch
) -> None:
    """Whoever still holds an upload address cannot change what the node has looked at."""
    person = world.person()
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).prepare()
    strategies = push.negotiate()
    push.upload(strategies)
    wait_until(lambda: len(watch.passed) == len(strategies), "the node waits for the end of the push")
    for strategy in strategies:
        assert upload(strategy.address, bytes(len(push.content(strategy.item)))) == 200
    push.speaker.send_uploaded(push.ws)
    push.complete()
    assert world.files(foo.id.multibase) == foo.files()
    world.settle()


def test_dropped_after_everything_was_examined(
    world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path, watch: Watch
) -> None:
    """Nothing is left: no dataset, no object, no claim."""
    person = world.person()
    local = folder_of(foo, tmp_path / "client")
    before = world.snapshot()
    push = Push(speaker, person.remote(at), str(foo.id), local).prepare()
    strategies = push.negotiate()
    push.upload(strategies)
    wait_until(lambda: len(watch.passed) == len(strategies), "the node waits for the end of the push")
    push.ws.drop()
    world.settle()
    assert world.snapshot() == before
    Push(speaker, person.remote(at), str(foo.id), local).run()
    assert_identical(person, foo.id, local.root)
