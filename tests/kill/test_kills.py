"""SIGKILL of a real node at random moments of pushes ("Done when" 5, promise 2 of the design).

After each restart every acknowledged head is there, each dataset that was touched is pulled whole and
verified, and the interrupted push can be repeated. `ODF_TEST_KILLS` is the number of kills (200 for the
closing note), `ODF_TEST_SEED` repeats the moments of a run.
"""

import os
import random
import shutil
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from odf_core.storage import DatasetStore, DirectoryStore
from odf_core.verify import verify_integrity
from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.kill.kill_node import KillableNode
from tests.scenarios.drivers import DRIVERS, Driver
from tests.scenarios.world import on_chain, wait_until
from tests.scripted.deployed import Remote
from tests.scripted.folder import Folder
from tests.scripted.websocket import RawWebSocket

KILLS = int(os.environ.get("ODF_TEST_KILLS", "3"))
SEED = int(os.environ.get("ODF_TEST_SEED") or random.SystemRandom().randrange(1 << 32))
LONGEST_LIFE_SECONDS = 0.8
PUSHERS = 2
BLOCKS_OF_A_DATASET = 40

pytestmark = [pytest.mark.long, pytest.mark.timeout(120 + 15 * KILLS)]


@dataclass
class Publisher:
    """Pushes one dataset after another, block by block, until the node is gone."""

    name: str
    token: str
    node: KillableNode
    folder: Path
    acknowledged: DatasetBuilder | None = None
    attempted: DatasetBuilder | None = None
    datasets: int = 0
    pushes: int = 0
    unforeseen: list[BaseException] = field(default_factory=list)

    @property
    def remote(self) -> Remote:
        url = f"{self.node.base_url}/{self.name}/dataset-{self.datasets}"
        return Remote(url, self.token, timeout=20)

    def publish(self, driver: Driver, stop: threading.Event) -> None:
        """Until the node is killed; `attempted` is what was not acknowledged, None where nothing is open."""
        while not stop.is_set():
            if self.attempted is None:
                self.attempted = self.next_state()
            try:
                self.push(driver)
            except Exception as error:
                if stop.wait(20):  # the kill that made it fail is under way
                    return
                self.unforeseen.append(error)
                return

    def push(self, driver: Driver) -> None:
        """Push what is open, and note that it was acknowledged."""
        assert self.attempted is not None
        local = self.attempted.write(self.folder / f"{self.name}-{self.datasets}")
        outcome = driver.push(self.remote, local, self.attempted.id)
        assert outcome.new_head == self.attempted.head
        self.acknowledged, self.attempted = self.attempted, None
        self.pushes += 1

    def next_state(self) -> DatasetBuilder:
        """Some blocks more, or the first ones of another dataset."""
        known = self.acknowledged
        if known is None or len(known.blocks) > BLOCKS_OF_A_DATASET:
            self.datasets += 1
            self.acknowledged = None
            return root_dataset(f"{self.name} {self.datasets}")
        number = len(known.blocks)
        return known.fork().info(f"block {number}") if number % 3 == 0 else known.fork().add(3 + number % 5)

    def head(self) -> DatasetBuilder | None:
        """The state that the node is in: acknowledged, or attempted and committed without a word."""
        head = self.remote.head()
        states = [state for state in (self.acknowledged, self.attempted) if state is not None]
        found = next((state for state in states if state.head == head), None)
        if found is None:
            assert head is None, f"{head} was never pushed"
            assert self.acknowledged is None, f"{self.acknowledged.head} was acknowledged and is lost"
        return found

    def check(self, driver: Driver) -> None:
        """After a restart: nothing lost, nothing half-made, and life goes on."""
        state = self.head()
        if state is not None:
            self.check_whole(driver, state)
            if state is self.attempted:
                self.acknowledged, self.attempted = state, None
        if self.attempted is not None:
            self.push(driver)

    def check_whole(self, driver: Driver, state: DatasetBuilder) -> None:
        """Pulled from scratch it is what was pushed, and is verified; the bucket says the same."""
        pulled = self.folder / "pulled"
        driver.pull(self.remote, pulled, state.id)
        report = verify_integrity(DatasetStore(DirectoryStore(pulled), ""))
        assert report.ok, report.findings
        assert report.summary.whole_chain
        assert Folder(pulled).files() == state.files()
        shutil.rmtree(pulled)
        bucket = self.node.bucket / state.id.multibase
        head = bucket / "refs" / "head"
        wait_until(lambda: head.exists() and head.read_text() == state.head, "the bucket's head is behind")
        files = on_chain(Folder(bucket).files(), self.folder / "bucket")
        shutil.rmtree(self.folder / "bucket")
        assert files == state.files()


def test_kills_at_random_moments(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        print(f"\n{KILLS} kills, ODF_TEST_SEED={SEED}")
    chance = random.Random(SEED)
    with KillableNode(tmp_path) as node:
        publishers = [
            Publisher(name, node.token_of(name), node, tmp_path)
            for name in (f"publisher{number}" for number in range(PUSHERS))
        ]
        while node.kills < KILLS:
            drivers = chance.sample(DRIVERS, PUSHERS)
            one_life(node, publishers, drivers, chance.uniform(0, LONGEST_LIFE_SECONDS))
            node.start()
            for publisher, driver in zip(publishers, chance.sample(DRIVERS, PUSHERS), strict=True):
                publisher.check(driver)
        staged = [path.name for path in (node.bucket / "staging").iterdir() if path.name != ".keep"]
        with capsys.disabled():
            pushes = sum(publisher.pushes for publisher in publishers)
            print(f"{node.kills} kills, {pushes} pushes acknowledged, {len(staged)} uploads left to be swept")
    assert all(publisher.pushes for publisher in publishers)


def one_life(node: KillableNode, publishers: list[Publisher], drivers: list[Driver], seconds: float) -> None:
    """All publish at once; after so many seconds the node is killed."""
    stop = threading.Event()
    threads = [
        threading.Thread(target=publisher.publish, args=(driver, stop))
        for publisher, driver in zip(publishers, drivers, strict=True)
    ]
    for thread in threads:
        thread.start()
    threading.Event().wait(seconds)
    node.kill()
    stop.set()
    for thread in threads:
        thread.join()
    RawWebSocket.close_all()
    for publisher in publishers:
        assert not publisher.unforeseen, publisher.unforeseen
