"""Many who want the same: exactly one gets it, the others learn what stands in their way ("Done when" 5).

`ODF_TEST_FULL=1` runs 32 clients over 20 rounds.
"""

import os
import threading
from pathlib import Path

import pytest

from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.scenarios.world import NodeWorld, folder_of, served
from tests.scripted import deployed, published
from tests.scripted.deployed import Refused, Remote
from tests.scripted.folder import Folder

FULL = bool(os.environ.get("ODF_TEST_FULL"))
CLIENTS, ROUNDS = (32, 20) if FULL else (8, 3)


def complete_together(
    remote: Remote,
    folder: Folder,
    dataset_id: str,
    old_head: str | None,
    start: threading.Barrier,
    dialect: str,
) -> object:
    """Push up to the last message, wait for the others, complete; the refusal, None for the winner."""
    chain = folder.chain(tail=old_head)
    try:
        if dialect == "deployed":
            ws = remote.socket("push")
            deployed.offer(ws, chain, old_head)
            deployed.transfer(ws, chain, folder)
            start.wait()
            deployed.complete(ws)
        else:
            ws = published.connect(remote, "push")
            ws.send_json(
                {
                    "datasetId": dataset_id,
                    "currentHead": old_head,
                    "sizeEstimation": published.size_estimation(chain),
                }
            )
            published.reply(ws)
            ws.send_json({"newBlocks": published.batch([(name, data) for name, data, _ in chain])})
            published.reply(ws)
            start.wait()
            published.complete_without_objects(ws)
    except Refused as refused:
        return refused.reply
    return None


@pytest.mark.timeout(900)
@pytest.mark.parametrize("dialect", ["deployed", "published"])
def test_one_of_many_next_blocks_wins_each_round(
    multi_world: NodeWorld, foo: DatasetBuilder, at: str, tmp_path: Path, dialect: str
) -> None:
    person = multi_world.person()
    served(person, foo, tmp_path, at)
    remote, current = person.remote(at), foo
    replies: dict[int, object] = {}
    for number in range(ROUNDS):
        rivals = [current.fork().info(f"round {number}, client {client}") for client in range(CLIENTS)]
        folders = [folder_of(rival, tmp_path / f"{number}-{client}") for client, rival in enumerate(rivals)]
        start = threading.Barrier(CLIENTS)
        replies.clear()

        def race(client: int, folder: Folder, start: threading.Barrier, old_head: str) -> None:
            replies[client] = complete_together(remote, folder, str(foo.id), old_head, start, dialect)

        threads = [
            threading.Thread(target=race, args=(client, folders[client], start, current.head))
            for client in range(CLIENTS)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        winners = [client for client, reply in replies.items() if reply is None]
        assert len(winners) == 1, replies
        winner = rivals[winners[0]]
        assert remote.head() == winner.head
        for client, reply in replies.items():
            if client != winners[0]:
                assert_names_both_heads(reply, expected=current.head, actual=winner.head, dialect=dialect)
        current = winner


def assert_names_both_heads(reply: object, *, expected: str, actual: str, dialect: str) -> None:
    """The published dialect tells both; a close reason has room for the node's, the client knows its own."""
    text = str(reply)
    assert "head_moved" in text
    assert actual in text
    if dialect == "published":
        assert expected in text


def test_two_first_pushes_of_one_name(multi_world: NodeWorld, at: str, tmp_path: Path) -> None:
    """Different datasets under one name: the second to commit is told that the name is taken."""
    person = multi_world.person()
    remote = person.remote(at)
    outcomes = race_first_pushes(
        [(remote, root_dataset(f"{at} one")), (remote, root_dataset(f"{at} two"))], tmp_path
    )
    assert sorted(reply is None for reply in outcomes) == [False, True]
    assert "name_collision" in str(outcomes) or "NameCollision" in str(outcomes)


def test_one_dataset_under_two_accounts(multi_world: NodeWorld, at: str, tmp_path: Path) -> None:
    """An id belongs to one name: the second to commit is told that the dataset is stored elsewhere."""
    one, two = multi_world.person(), multi_world.person()
    dataset = root_dataset(at)
    outcomes = race_first_pushes([(one.remote(at), dataset), (two.remote(at), dataset)], tmp_path)
    assert sorted(reply is None for reply in outcomes) == [False, True]
    assert "ref_collision" in str(outcomes) or "RefCollision" in str(outcomes)


def race_first_pushes(pushes: list[tuple[Remote, DatasetBuilder]], path: Path) -> list[object]:
    """The refusals, in the order of the pushes; None for the one that won."""
    start = threading.Barrier(len(pushes))
    outcomes: list[object] = [None] * len(pushes)

    def run(number: int) -> None:
        remote, dataset = pushes[number]
        folder = folder_of(dataset, path / f"first-{number}")
        outcomes[number] = complete_together(remote, folder, str(dataset.id), None, start, "deployed")

    threads = [threading.Thread(target=run, args=(number,)) for number in range(len(pushes))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return outcomes
