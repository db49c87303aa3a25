"""Chains and archives that break the rules: told where blocks are told; nothing changes.

A refusal of the blocks comes while the client waits for message 4; the deployed server tells what it
cannot read under the phase before (wire.md 3.6).
"""

import gzip
import hashlib
import io
import os
import tarfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odf_core.metadata import DatasetKind
from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.scenarios.refusals import INITIAL, METADATA, Attempt
from tests.scenarios.speakers import Speaker, tar_of
from tests.scenarios.world import NodeWorld, node_world
from tests.services import Addresses

SMALL_LIMITS = {
    "archive_entries": 20,
    "archive_expanded_bytes": 4 << 20,
    "archive_compressed_bytes": 1 << 20,
    "block_bytes": 64 << 10,
    "archive_ratio": 50,
}


@pytest.fixture(scope="module")
def strict_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    """Limits small enough to be met by small messages."""
    with node_world(services, s3_client, limits=SMALL_LIMITS) as world:
        yield world


@pytest.fixture
def attempt(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> Attempt:
    return Attempt(multi_world, multi_world.person(), speaker, at, foo, tmp_path)


@pytest.fixture
def strict_attempt(
    strict_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> Attempt:
    return Attempt(strict_world, strict_world.person(), speaker, at, foo, tmp_path)


def entries_of(dataset: DatasetBuilder) -> list[tuple[str, bytes]]:
    return [(str(block.hash), block.data) for block in dataset.blocks]


def refuse(
    attempt: Attempt,
    code: str,
    blocks: list[tuple[str, bytes]] | None = None,
    *,
    phase: str = INITIAL,
    archive: bytes | None = None,
    planned: int | None = None,
    counted: int | None = None,
) -> None:
    """Push these entries in place of the good chain's, or this archive, and be refused for it."""
    push = attempt.push().connect()
    blocks = entries_of(attempt.good) if blocks is None else blocks
    count = len(blocks)
    push.offer(num_blocks=count if planned is None else planned)
    data = gzip.compress(tar_of(blocks)) if archive is None else archive
    with attempt.refused(code, phase):
        push.send_blocks(archive=data, num_blocks=count if counted is None else counted)


# -- Names and bytes


def test_bytes_that_do_not_match_their_name(attempt: Attempt) -> None:
    blocks = entries_of(attempt.good)
    blocks[2] = (blocks[2][0], blocks[2][1][:-1] + bytes([blocks[2][1][-1] ^ 1]))
    refuse(attempt, "block_hash_mismatch", blocks)


@pytest.mark.parametrize("name", ["README.md", "blocks/f1620" + "0" * 64, "f1620" + "0" * 63, "../x"])
def test_an_entry_that_is_no_hash(attempt: Attempt, name: str) -> None:
    blocks = entries_of(attempt.good)
    refuse(attempt, "archive_entry_name", [*blocks[:3], (name, blocks[3][1])])


def test_a_block_named_by_another_hash_function(attempt: Attempt) -> None:
    """sha2-256 is a known code, but no name of a block; 0x99 is no known code at all."""
    blocks = entries_of(attempt.good)
    sha2 = "f1220" + hashlib.sha256(blocks[3][1]).hexdigest()
    refuse(attempt, "unknown_hash_code", [*blocks[:3], (sha2, blocks[3][1])])


def test_a_block_named_by_an_unknown_hash_function(attempt: Attempt) -> None:
    blocks = entries_of(attempt.good)
    refuse(attempt, "archive_entry_name", [*blocks[:3], ("f9901" + "20" + "00" * 32, blocks[3][1])])


def test_a_block_that_is_no_block(attempt: Attempt) -> None:
    blocks = entries_of(attempt.good)
    for junk in (b"", b"no block", os.urandom(300)):
        name = "f1620" + hashlib.sha3_256(junk).hexdigest()
        refuse_again(attempt, "malformed_block", [*blocks[:3], (name, junk)])


def refuse_again(attempt: Attempt, code: str, blocks: list[tuple[str, bytes]]) -> None:
    """As `refuse`, for several in one test: the good chain may be there already."""
    push = attempt.push()
    push.head, push.chain = push.remote.head(), push.local.chain()
    push.ws = push.speaker.connect(push.remote, "push")
    push.offer(num_blocks=len(blocks))
    before = attempt.world.snapshot()
    with pytest.raises(Exception, match=code):
        push.send_blocks(archive=gzip.compress(tar_of(blocks)), num_blocks=len(blocks))
    attempt.world.settle()
    assert attempt.world.snapshot() == before


# -- Chain rules


def test_a_gap(attempt: Attempt) -> None:
    """A block in the middle is left out: sequence and link are broken."""
    blocks = entries_of(attempt.good)
    refuse(attempt, "prev_block_not_found", [*blocks[:2], blocks[3]], phase=METADATA)


def test_a_wrong_sequence_number(attempt: Attempt) -> None:
    bad = attempt.good.fork()
    bad.chain.info("counted wrong") if False else None
    block = bad.chain.make(bad.chain.last.block.event, sequence_number=7)
    blocks = entries_of(attempt.good)
    refuse(attempt, "sequence_broken", [*blocks, (str(block.hash), block.data)], phase=METADATA)


def test_two_seeds(attempt: Attempt) -> None:
    """A second Seed that links to the first, and a whole second chain behind the first."""
    bad = attempt.good.first(1)
    bad.chain.seed()
    refuse(attempt, "seed_on_nonempty_chain", entries_of(bad), phase=METADATA)


def test_two_chains_in_one_push(attempt: Attempt) -> None:
    other = root_dataset(f"{attempt.good.chain.name[:20]} other")
    both = entries_of(attempt.good) + entries_of(other)
    refuse(attempt, "second_seed", both, phase=METADATA)


def test_no_seed(attempt: Attempt) -> None:
    blocks = entries_of(attempt.good)
    refuse(attempt, "prev_block_not_found", blocks[1:], phase=METADATA)


def test_newest_first(attempt: Attempt) -> None:
    blocks = entries_of(attempt.good)
    refuse(attempt, "prev_block_not_found", blocks[::-1], phase=METADATA)


def test_time_that_runs_backwards(attempt: Attempt) -> None:
    bad = attempt.good.fork()
    bad.chain.blocks.append(
        bad.chain.make(bad.chain.blocks[1].block.event, system_time="2001-01-01T00:00:00Z")
    )
    refuse(attempt, "system_time_not_monotonic", entries_of(bad), phase=METADATA)


def test_data_before_a_schema(attempt: Attempt) -> None:
    bad = DatasetBuilder(attempt.good.chain.name)
    bad.chain.seed().polling_source()
    refuse(attempt, "invalid_event", entries_of(bad.add(10)), phase=METADATA)


def test_blocks_that_do_not_follow_the_head(attempt: Attempt) -> None:
    """The right head is claimed, but the blocks continue an older one."""
    attempt.push().run()
    fork = attempt.good.first(3).info("from an older block")
    push = attempt.push(fork)
    push.head = attempt.good.head
    push.chain = push.local.chain()[-1:]
    push.ws = push.speaker.connect(push.remote, "push")
    push.offer()
    attempt.good.info("the next one is fine")
    with attempt.refused("head_is_elsewhere", METADATA):
        push.send_blocks()


def test_a_whole_chain_where_new_blocks_are_due(attempt: Attempt) -> None:
    """Without force, in either dialect."""
    attempt.push().run()
    other = attempt.good.fork().add(3)
    push = attempt.push(other)
    push.head, push.chain = attempt.good.head, push.local.chain()
    push.ws = push.speaker.connect(push.remote, "push")
    push.offer()
    attempt.good.info("the next one is fine")
    with attempt.refused("second_seed", METADATA):
        push.send_blocks()


def test_another_dataset_by_force(attempt: Attempt) -> None:
    """SeedBlockOverwriteRestricted, for another id and for another kind (wire.md 3.5)."""
    if attempt.speaker.name == "published":
        pytest.skip("the published dialect has no force")
    attempt.push().run()
    other = root_dataset(f"{attempt.good.chain.name[:20]} other")
    other_kind = DatasetBuilder(attempt.good.chain.name)
    other_kind.chain.seed(DatasetKind.DERIVATIVE)
    for bad in (other, other_kind):
        push = attempt.push(bad, force=True).connect().offer()
        attempt.good.info(f"fine after {bad.head}")
        with attempt.refused("SeedBlockOverwriteRestricted", None):
            push.send_blocks()


# -- Archives


def archive(attempt: Attempt) -> bytes:
    return gzip.compress(tar_of(entries_of(attempt.good)))


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9])
def test_a_truncated_archive(attempt: Attempt, kept: float) -> None:
    whole = archive(attempt)
    refuse(attempt, "archive_truncated", archive=whole[: int(len(whole) * kept)])


def test_a_tar_cut_off_inside(attempt: Attempt) -> None:
    whole = tar_of(entries_of(attempt.good))
    refuse(attempt, "archive_truncated", archive=gzip.compress(whole[:700]))


@pytest.mark.parametrize(
    "junk",
    [b"", b"not gzip at all" * 10, gzip.compress(b"not tar at all" * 100, mtime=0)],
    ids=["empty", "no-gzip", "no-tar"],
)
def test_an_archive_that_is_none(attempt: Attempt, junk: bytes) -> None:
    code = "archive_truncated" if not junk else "archive_corrupt"
    refuse(attempt, code, archive=junk)


def test_duplicated_entries(attempt: Attempt) -> None:
    blocks = entries_of(attempt.good)
    refuse(attempt, "archive_duplicate_entry", [*blocks, blocks[-1]])


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.DIRTYPE, tarfile.CHRTYPE])
def test_entries_that_are_no_files(attempt: Attempt, kind: bytes) -> None:
    buffer = io.BytesIO(tar_of(entries_of(attempt.good)))
    with tarfile.open(fileobj=buffer, mode="a") as opened:
        entry = tarfile.TarInfo("f1620" + "0" * 64)
        entry.type, entry.linkname = kind, "/etc/passwd"
        opened.addfile(entry)
    refuse(attempt, "archive_entry_type", archive=gzip.compress(buffer.getvalue()), planned=5, counted=5)


@pytest.mark.parametrize(("planned", "counted"), [(4, 3), (3, 4), (5, 5), (3, 3)])
def test_counts_that_disagree(attempt: Attempt, planned: int, counted: int) -> None:
    """Of the plan, of the batch, of the entries: all three must agree (wire-published.md, decisions)."""
    refuse(attempt, "batch_count_mismatch", planned=planned, counted=counted)


def test_a_bomb_by_ratio(strict_attempt: Attempt) -> None:
    """Zeros, compressed a thousand times."""
    name = "f1620" + hashlib.sha3_256(bytes(3 << 20)).hexdigest()
    bomb = gzip.compress(tar_of([(name, bytes(3 << 20))]), 9)
    assert len(bomb) < 8192
    refuse(strict_attempt, "archive_entry_too_large", archive=bomb, planned=1, counted=1)
    blocks = [(f"f1620{number:064x}", bytes(60 << 10)) for number in range(20)]
    told = refusal_code(strict_attempt, gzip.compress(tar_of(blocks), 9), len(blocks))
    assert told in ("archive_ratio", "block_hash_mismatch"), told


def refusal_code(attempt: Attempt, data: bytes, count: int) -> str:
    push = attempt.push()
    push.head, push.chain = push.remote.head(), push.local.chain()
    push.ws = push.speaker.connect(push.remote, "push")
    push.offer(num_blocks=count)
    with pytest.raises(Exception) as refused:
        push.send_blocks(archive=data, num_blocks=count)
    return str(refused.value.told.code)  # type: ignore[attr-defined]


def test_a_bomb_of_padding(strict_attempt: Attempt) -> None:
    """The blocks are right; megabytes of zeros follow them."""
    data = gzip.compress(tar_of(entries_of(strict_attempt.good)) + bytes(8 << 20), 9)
    refuse(strict_attempt, "archive_ratio", archive=data)


def test_too_many_entries(strict_attempt: Attempt) -> None:
    """More than the limit: told by the plan already, and by an archive that hides them behind the plan."""
    push = strict_attempt.push().connect()
    with strict_attempt.refused("too_many_blocks", INITIAL):
        push.offer(num_blocks=21)


def test_too_many_entries_in_the_archive(strict_attempt: Attempt) -> None:
    blocks = entries_of(strict_attempt.good)
    more = [(f"f1620{number:064x}", b"x") for number in range(30)]
    data = gzip.compress(tar_of(blocks + more))
    told = refusal_code(strict_attempt, data, 4)
    assert told in ("batch_count_mismatch", "archive_too_many_entries"), told
    strict_attempt.push().run()


def test_a_block_over_the_limit(strict_attempt: Attempt) -> None:
    big = os.urandom(70 << 10)
    name = "f1620" + hashlib.sha3_256(big).hexdigest()
    blocks = [*entries_of(strict_attempt.good), (name, big)]
    refuse(strict_attempt, "archive_entry_too_large", blocks)


def test_an_archive_over_the_limit(strict_attempt: Attempt) -> None:
    data = gzip.compress(os.urandom(1 << 20) + bytes(100))
    refuse(strict_attempt, "message_too_large", archive=data)


# -- Where it is told


def test_the_node_takes_no_more_after_a_refusal(attempt: Attempt) -> None:
    """A refused session does not go on: what the client says next meets silence and the end."""
    push = attempt.push().connect().offer(num_blocks=3)
    with attempt.refused("batch_count_mismatch", INITIAL):
        push.send_blocks(num_blocks=2)
    with pytest.raises(Exception):  # noqa: B017
        for _ in range(3):
            push.ws.send_json({})
            push.ws.receive()
