"""Chains whose metadata do not fit a message: served in parts or in fragments, taken in several pushes.

A node may answer with an older part of the interval, plan and batch agreeing; the client ends on it and
its next pull goes on (wire.md 5).
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odf_core.transfer.client import push as client_push
from tests.builders.dataset_builder import DatasetBuilder
from tests.scenarios.drivers import OURS, SCRIPTED, Driver, OurDriver
from tests.scenarios.speakers import Speaker
from tests.scenarios.world import NodeWorld, assert_identical, node_world, served
from tests.scripted.folder import Folder
from tests.scripted.websocket import RawWebSocket
from tests.services import Addresses

FRAME_BYTES = 16 * 1024
NUM_INFOS = 60


@pytest.fixture(scope="module")
def parting_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    """One frame per message, and a small one."""
    settings = {"max_frame_bytes": FRAME_BYTES, "fragment_messages": False}
    with node_world(services, s3_client, transfer=settings) as world:
        yield world


@pytest.fixture(scope="module")
def fragmenting_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    """Messages as long as they need to be, in small frames."""
    with node_world(services, s3_client, transfer={"max_frame_bytes": FRAME_BYTES}) as world:
        yield world


@pytest.fixture
def long(foo: DatasetBuilder) -> DatasetBuilder:
    """Blocks that hardly compress, then some data at the end."""
    import hashlib

    for number in range(NUM_INFOS):
        text = "".join(hashlib.sha512(f"{number} {part}".encode()).hexdigest() for part in range(3))
        foo.info(text)
    return foo.add(7)


@pytest.mark.parametrize("driver", SCRIPTED, ids=[driver.name for driver in SCRIPTED])
def test_a_client_ends_on_the_part_and_goes_on(
    parting_world: NodeWorld, driver: Driver, long: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    person = parting_world.person()
    served(person, long, tmp_path, at)
    local = tmp_path / "client"
    names = [str(block.hash) for block in long.blocks]
    known, pulls = 0, 0
    while known < len(names):
        outcome = driver.pull(person.remote(at), local, long.id)
        assert outcome.num_blocks > 0
        known += outcome.num_blocks
        assert outcome.new_head == names[known - 1]
        pulls += 1
    assert pulls > 2
    assert not driver.pull(person.remote(at), local, long.id).updated
    assert_identical(person, long.id, local)


@pytest.mark.parametrize("driver", OURS, ids=[driver.name for driver in OURS])
def test_our_client_pulls_all_parts_in_one_go(
    parting_world: NodeWorld, driver: OurDriver, long: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    person = parting_world.person()
    served(person, long, tmp_path, at)
    local = tmp_path / "client"
    outcome = driver.pull(person.remote(at), local, long.id)
    assert (outcome.num_blocks, outcome.new_head) == (len(long.blocks), long.head)
    assert_identical(person, long.id, local)


def test_plan_and_batch_agree(
    parting_world: NodeWorld, speaker: Speaker, long: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """And every frame keeps its bound."""
    person = parting_world.person()
    served(person, long, tmp_path, at)
    ws = speaker.connect(person.remote(at), "pull")
    speaker.send_pull(ws, str(long.id), None)
    planned = speaker.read_plan(ws)
    assert 0 < planned < len(long.blocks)
    ws.send_json({})
    sizes = frame_sizes(ws)
    blocks = speaker.read_blocks(ws)
    assert [name for name, _ in blocks] == [str(block.hash) for block in long.blocks[:planned]]
    assert len(sizes) == 1
    assert max(sizes) <= FRAME_BYTES


def test_a_long_message_in_fragments(
    fragmenting_world: NodeWorld, speaker: Speaker, long: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    person = fragmenting_world.person()
    served(person, long, tmp_path, at)
    ws = speaker.connect(person.remote(at), "pull")
    speaker.send_pull(ws, str(long.id), None)
    assert speaker.read_plan(ws) == len(long.blocks)
    ws.send_json({})
    sizes = frame_sizes(ws)
    assert len(speaker.read_blocks(ws)) == len(long.blocks)
    assert len(sizes) > 1
    assert max(sizes) <= FRAME_BYTES


def frame_sizes(ws: RawWebSocket) -> list[int]:
    """Sizes of the frames of the next message, noted while it is read."""
    sizes: list[int] = []
    read = ws._frame

    def noting() -> tuple[int, bool, bytes]:
        opcode, fin, payload = read()
        sizes.append(len(payload))
        return opcode, fin, payload

    ws._frame = noting  # type: ignore[method-assign]
    return sizes


@pytest.mark.parametrize("driver", OURS, ids=[driver.name for driver in OURS])
def test_fragments_for_our_client(
    fragmenting_world: NodeWorld, driver: OurDriver, long: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    person = fragmenting_world.person()
    served(person, long, tmp_path, at)
    outcome = driver.pull(person.remote(at), tmp_path / "client", long.id)
    assert outcome.num_blocks == len(long.blocks)
    assert_identical(person, long.id, tmp_path / "client")


@pytest.mark.parametrize("driver", OURS, ids=[driver.name for driver in OURS])
def test_our_client_pushes_in_parts(
    multi_world: NodeWorld,
    driver: OurDriver,
    long: DatasetBuilder,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Each part is a push of its own, its head visible before the next."""
    monkeypatch.setattr(client_push, "FRAGMENTED_BYTES", FRAME_BYTES)
    person = multi_world.person()
    local = long.write(tmp_path / "client")
    outcome = driver.push(person.remote(at), local, long.id)
    assert (outcome.old_head, outcome.new_head) == (None, long.head)
    assert outcome.num_blocks == len(long.blocks)
    assert_identical(person, long.id, local)
    pushes = multi_world.rows(
        f"SELECT count(*) FROM push_session WHERE dataset_id = '{long.id.multibase}' AND outcome = 'done'"
    )
    assert pushes[0][0] > 2
    assert Folder(local).files() == long.files()
