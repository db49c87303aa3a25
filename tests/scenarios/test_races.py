"""Many clients at one dataset, name or id at the same moment: one wins, the others are told how it stands.

ODF_TEST_FULL=1 runs 32 clients for 20 rounds.
"""

import os
import threading
from collections.abc import Callable
from pathlib import Path

from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.scenarios.drivers import DRIVERS, Driver, Refusal
from tests.scenarios.speakers import SPEAKERS, Push, Told, WireRefusal
from tests.scenarios.world import NodeWorld, Person, assert_identical, folder_of, served

FULL = bool(os.environ.get("ODF_TEST_FULL"))
CLIENTS, ROUNDS = (32, 20) if FULL else (8, 3)


def at_once(pushes: list[Push]) -> list[Told | None]:
    """Complete all of them at the same moment; None for who won."""
    start = threading.Barrier(len(pushes))
    told: list[Told | BaseException | None] = [None] * len(pushes)

    def complete(index: int, push: Push) -> None:
        start.wait()
        try:
            push.complete()
        except WireRefusal as refused:
            told[index] = refused.told
        except BaseException as error:
            told[index] = error

    run_threads([lambda item=item: complete(*item) for item in enumerate(pushes)])  # type: ignore[misc]
    results: list[Told | None] = []
    for result in told:
        if isinstance(result, BaseException):
            raise result
        results.append(result)
    return results


def run_threads(works: list[Callable[[], None]]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def winner_of(results: list[Told | None]) -> int:
    (winner,) = [index for index, told in enumerate(results) if told is None]
    return winner


def test_different_next_blocks(multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path) -> None:
    """Exactly one wins each round; the others get a conflict that names both heads."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    current = foo
    for round_number in range(ROUNDS):
        candidates = [current.fork().info(f"round {round_number}, client {n}") for n in range(CLIENTS)]
        pushes = [
            Push(
                SPEAKERS[number % 2],
                person.remote(at),
                str(foo.id),
                folder_of(candidate, tmp_path / f"{round_number}-{number}"),
            ).uploaded()
            for number, candidate in enumerate(candidates)
        ]
        results = at_once(pushes)
        winner = candidates[winner_of(results)]
        assert person.remote(at).head() == winner.head
        for push, told in zip(pushes, results, strict=True):
            if told is not None:
                assert_conflict(push, told, current.head, winner.head)
        current = winner
    assert multi_world.files(foo.id.multibase)["refs/head"].decode() == current.head
    (blocks,) = multi_world.rows(
        "SELECT count(*) FROM block b JOIN dataset d ON d.id = b.dataset_pk"
        f" WHERE b.is_current AND d.dataset_id = '{foo.id.multibase}'"
    )
    assert blocks == (4 + ROUNDS,)


def assert_conflict(push: Push, told: Told, started_from: str, winner: str) -> None:
    assert told.code == "head_moved"
    if push.speaker.name == "published":
        facts = told.body["extras"]
        assert (facts["expectedHead"], facts["actualHead"]) == (started_from, winner)
    else:  # 123 bytes: the code and the node's head; what it started from the client knows
        assert (told.channel, told.message) == ("close", winner)


def test_with_data_of_their_own(multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path) -> None:
    """Each client brings other records; what the losers brought is on nobody's chain."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    candidates = [foo.fork().add(5 + number) for number in range(4)]
    pushes = [
        Push(SPEAKERS[n % 2], person.remote(at), str(foo.id), folder_of(item, tmp_path / str(n))).uploaded()
        for n, item in enumerate(candidates)
    ]
    winner = candidates[winner_of(at_once(pushes))]
    outcome = DRIVERS[0].pull(person.remote(at), tmp_path / "pulled", foo.id)
    assert (outcome.new_head, outcome.num_blocks) == (winner.head, 5)


def test_our_clients_against_each_other(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """All four clients with a block each, from the handshake on; losers say why."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    candidates = [foo.fork().info(driver.name) for driver in DRIVERS]
    outcomes: dict[str, str] = {}
    start = threading.Barrier(len(DRIVERS))

    def push(driver: Driver, candidate: DatasetBuilder) -> None:
        folder = candidate.write(tmp_path / driver.name)
        start.wait()
        try:
            outcomes[driver.name] = driver.push(person.remote(at), folder, foo.id).new_head or ""
        except Refusal as refusal:
            outcomes[driver.name] = refusal.what

    pairs = list(zip(DRIVERS, candidates, strict=True))
    run_threads([lambda pair=pair: push(*pair) for pair in pairs])  # type: ignore[misc]
    head = person.remote(at).head()
    assert [candidate.head for candidate in candidates if outcomes[candidate_name(candidate)] == head]
    losers = [what for what in outcomes.values() if what != head]
    assert len(losers) == len(DRIVERS) - 1
    assert set(losers) <= {"head_moved", "Internal", "diverged"}, outcomes


def candidate_name(candidate: DatasetBuilder) -> str:
    event = candidate.blocks[-1].block.event
    return str(getattr(event, "description", ""))


def test_two_first_pushes_of_one_name(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Different datasets, one account and name: the loser hears of a name collision."""
    person = multi_world.person()
    other = root_dataset(f"{foo.chain.name[:20]} other")
    for speakers in (SPEAKERS, SPEAKERS[::-1]):
        name = f"{at}-{speakers[0].name}"
        mine, theirs = (
            root_dataset(f"{dataset.chain.name[:14]} {speakers[0].name}{number}")
            for number, dataset in enumerate((foo, other))
        )
        pushes = [
            Push(speaker, person.remote(name), str(item.id), folder_of(item, tmp_path / item.head)).uploaded()
            for speaker, item in zip(speakers, (mine, theirs), strict=True)
        ]
        results = at_once(pushes)
        winner = (mine, theirs)[winner_of(results)]
        (loser,) = [told for told in results if told is not None]
        assert loser.code == "name_collision"
        assert person.remote(name).head() == winner.head
        assert_identical(person, winner.id, tmp_path / winner.head)


def test_two_first_pushes_of_one_dataset(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The same dataset, name and head, twice at once: one of them creates it."""
    person = multi_world.person()
    local = folder_of(foo, tmp_path / "client")
    pushes = [Push(speaker, person.remote(at), str(foo.id), local).uploaded() for speaker in SPEAKERS]
    results = at_once(pushes)
    winner_of(results)
    (loser,) = [told for told in results if told is not None]
    assert loser.code in ("ref_collision", "head_moved")
    assert_identical(person, foo.id, local.root)


def test_two_accounts_and_one_dataset(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The id belongs to who commits first; the other hears of a ref collision and has nothing."""
    people: list[Person] = [multi_world.person(), multi_world.person()]
    local = folder_of(foo, tmp_path / "client")
    pushes = [
        Push(speaker, person.remote(at), str(foo.id), local).uploaded()
        for speaker, person in zip(SPEAKERS, people, strict=True)
    ]
    results = at_once(pushes)
    winner = winner_of(results)
    (loser,) = [told for told in results if told is not None]
    assert loser.code == "ref_collision"
    assert people[winner].remote(at).head() == foo.head
    assert people[1 - winner].remote(at).head() is None
    alias = (tmp_path / "alias", multi_world.folder / foo.id.multibase / "info" / "alias")[1].read_text()
    assert alias == f"{people[winner].name}/{at}"


def test_pulls_while_it_is_pushed(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """Whoever reads at any moment sees a whole dataset (promise 2)."""
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    states = [foo]
    for number in range(6):
        states.append(states[-1].fork().add(3 + number))
    heads = {state.head: state for state in states}
    done = threading.Event()
    failures: list[BaseException] = []

    def pull_for_ever(driver: Driver) -> None:
        number = 0
        try:
            while not done.is_set():
                number += 1
                folder = tmp_path / f"{driver.name}-{number}"
                outcome = driver.pull(person.remote(at), folder, foo.id)
                state = heads[outcome.new_head or ""]
                assert outcome.num_blocks == len(state.blocks)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=pull_for_ever, args=(driver,)) for driver in DRIVERS]
    for thread in threads:
        thread.start()
    for state in states[1:]:
        served(person, state, tmp_path, at)
    done.set()
    for thread in threads:
        thread.join()
    assert not failures, failures
