"""SIGKILL of the whole node at random moments of pushes (promise 2 of the house).

After each restart: every acknowledged head is there, the dataset passes verification, the interrupted push
can be repeated. `ODF_TEST_KILLS=200` runs as many kills as that; the seed is printed and can be given as
`ODF_TEST_SEED`. The client is the scripted one, which shares no code with the node.
"""

import os
import random
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from odf_core.storage import DatasetStore, DirectoryStore
from odf_core.verify import verify_integrity
from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.kill.node_process import NodeProcess
from tests.scripted.deployed import Remote, pull, push
from tests.scripted.folder import Folder
from tests.scripted.websocket import RawWebSocket

KILLS = int(os.environ.get("ODF_TEST_KILLS", "6"))
SEED = int(os.environ.get("ODF_TEST_SEED", str(random.randrange(1 << 30))))
BLOCKS_BEFORE_A_NEW_DATASET = 8


@pytest.fixture
def node(tmp_path: Path) -> Iterator[NodeProcess]:
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    process = NodeProcess(tmp_path / "node", port)
    process.start()
    yield process
    process.stop()


@dataclass
class Published:
    """A dataset that is pushed again and again; `acknowledged` is the head of the last good push."""

    name: str
    source: DatasetBuilder
    folder: Folder
    copy: Folder
    acknowledged: str | None = None
    moves: int = field(default=0)

    def grow(self) -> None:
        """Something new to push: a slice with a checkpoint, or the whole dataset at first."""
        if self.moves:
            self.source.add(5)
        self.moves += 1
        self.source.write(self.folder.root)


def new_dataset(number: int, root: Path) -> Published:
    name = f"killed-{number}"
    return Published(name, root_dataset(name), Folder(root / name), Folder(root / f"{name}-copy"))


@pytest.mark.timeout(60 + 30 * KILLS)
def test_what_was_acknowledged_survives_any_kill(node: NodeProcess, tmp_path: Path) -> None:
    print(f"seed {SEED}, {KILLS} kills")
    dice = random.Random(SEED)
    node.admin("account", "create", "alice")
    token = node.admin("token", "create", "alice")
    datasets = [new_dataset(0, tmp_path)]
    usual = 0.5
    interrupted = 0
    for number in range(KILLS):
        if datasets[-1].moves >= BLOCKS_BEFORE_A_NEW_DATASET:
            datasets.append(new_dataset(len(datasets), tmp_path))
        current = datasets[-1]
        current.grow()
        interrupted += not push_and_kill(node, current, token, dice.uniform(0, 1.3 * usual))
        node.start()
        check(node, current, token)
        usual = 0.7 * usual + 0.3 * repeat(node, current, token)
        assert current.acknowledged == current.source.head, f"kill {number}"
    for dataset in datasets:
        verify(node, dataset, token)
    print(f"{interrupted} of {KILLS} pushes were interrupted, {len(datasets)} datasets")


def remote(node: NodeProcess, dataset: Published, token: str) -> Remote:
    return Remote(f"{node.address}/alice/{dataset.name}", token)


def push_and_kill(node: NodeProcess, dataset: Published, token: str, after: float) -> bool:
    """Push in one thread and kill the node `after` seconds; whether the push was acknowledged first."""
    ends: list[str] = []

    def work() -> None:
        try:
            push(remote(node, dataset, token), dataset.folder)
            ends.append("acknowledged")
        except Exception as error:
            ends.append(type(error).__name__)

    thread = threading.Thread(target=work)
    thread.start()
    time.sleep(after)
    node.kill()
    thread.join()
    RawWebSocket.close_all()
    if ends == ["acknowledged"]:
        dataset.acknowledged = dataset.source.head
    return ends == ["acknowledged"]


def check(node: NodeProcess, dataset: Published, token: str) -> None:
    """The head is the acknowledged one, or that of the push that nobody was told of."""
    head = remote(node, dataset, token).head()
    assert head in (dataset.acknowledged, dataset.source.head), (head, dataset.acknowledged)
    if head is not None:
        verify(node, dataset, token)


def repeat(node: NodeProcess, dataset: Published, token: str) -> float:
    """The interrupted push goes through; returns how long it took, for the next random moment."""
    started = time.monotonic()
    push(remote(node, dataset, token), dataset.folder)
    RawWebSocket.close_all()
    dataset.acknowledged = remote(node, dataset, token).head()
    return time.monotonic() - started


def verify(node: NodeProcess, dataset: Published, token: str) -> None:
    """Pull what is new, and hold the whole copy against every rule and hash."""
    pull(remote(node, dataset, token), dataset.copy)
    RawWebSocket.close_all()
    store = DatasetStore(DirectoryStore(dataset.copy.root))
    report = verify_integrity(store)
    assert not report.findings, report.findings
