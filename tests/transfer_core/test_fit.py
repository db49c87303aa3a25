"""Prefixes that fit one message, so that plan and batch agree (wire.md 3.3, 5)."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odf_core.identity import Multihash
from odf_core.transfer import (
    DIALECTS,
    FRAGMENTED_BYTES,
    ONE_FRAME_BYTES,
    fit_archive,
    fit_prefix,
    messages,
    read_batch,
    write_archive,
)
from odf_core.transfer.archive import ArchiveBlockTooLarge
from tests.transfer_core.values import LIMITS, raw_blocks

MiB = 1024 * 1024
EACH_DIALECT = pytest.mark.parametrize("dialect", DIALECTS, ids=lambda dialect: dialect.name)


def noisy_blocks(count: int, size: int) -> list[tuple[Multihash, bytes]]:
    """Blocks that do not compress."""
    noise = random.Random(count)
    return [(Multihash.sha3_256(data), data) for data in (noise.randbytes(size) for _ in range(count))]


def message_size(dialect, fitted) -> int:
    return dialect.encode(messages.PULL_METADATA_RESPONSE, fitted.batch).size


def test_sizes_are_those_of_the_deployed_peers_library():
    assert (16 * MiB, 64 * MiB) == (ONE_FRAME_BYTES, FRAGMENTED_BYTES)


@EACH_DIALECT
def test_a_short_chain_is_whole_and_byte_for_byte_the_usual_archive(dialect):
    blocks = raw_blocks(500, 600)
    fitted = fit_archive(blocks, dialect, ONE_FRAME_BYTES)
    assert (fitted.num_blocks, fitted.is_whole) == (500, True)
    assert fitted.batch.payload == write_archive(blocks, dialect.archive_media_type)
    assert fit_prefix([600] * 500, dialect, ONE_FRAME_BYTES) == 500


@EACH_DIALECT
@pytest.mark.parametrize("make", [raw_blocks, noisy_blocks])
@pytest.mark.parametrize("room", [100_000, MiB])
def test_a_long_chain_is_cut_close_below_the_frame(dialect, make, room):
    blocks = make(3000, 900)
    fitted = fit_archive(blocks, dialect, room)
    assert list(read_batch(fitted.batch, LIMITS)) == blocks[: fitted.num_blocks]
    assert message_size(dialect, fitted) <= room
    if not fitted.is_whole:
        assert fitted.num_blocks < 3000
        assert message_size(dialect, fitted) > 0.85 * room
    assert fit_prefix([900] * 3000, dialect, room) <= fitted.num_blocks


@EACH_DIALECT
def test_prefixes_follow_each_other_to_the_end(dialect):
    rest = noisy_blocks(1000, 700)
    whole, parts = list(rest), []
    while rest:
        fitted = fit_archive(rest, dialect, 200_000)
        assert fitted.num_blocks > 0
        parts += list(read_batch(fitted.batch, LIMITS))
        rest = rest[fitted.num_blocks :]
        assert fitted.is_whole == (not rest)
    assert parts == whole


@EACH_DIALECT
def test_no_more_blocks_are_taken_than_needed(dialect):
    taken = 0

    def source():
        nonlocal taken
        for block in noisy_blocks(2000, 900):
            taken += 1
            yield block

    fitted = fit_archive(source(), dialect, 100_000)
    assert taken == fitted.num_blocks + 1


@EACH_DIALECT
def test_a_block_that_never_fits_is_an_error(dialect):
    (name, data), *_ = noisy_blocks(1, 50_000)
    with pytest.raises(ArchiveBlockTooLarge) as raised:
        fit_archive([(name, data)], dialect, 10_000)
    assert raised.value.objects == (str(name),)
    assert fit_prefix([len(data)], dialect, 10_000) == 0


@EACH_DIALECT
def test_a_block_that_fits_compressed_only_is_taken(dialect):
    data = bytes(20_000)
    fitted = fit_archive([(Multihash.sha3_256(data), data)], dialect, 90_000)
    assert fitted.is_whole


@EACH_DIALECT
def test_nothing_to_fit(dialect):
    fitted = fit_archive([], dialect, 10_000)
    assert (fitted.num_blocks, fitted.is_whole) == (0, True)
    assert fit_prefix([], dialect, 10_000) == 0


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.integers(1, 6000), st.booleans()), min_size=1, max_size=60),
    st.integers(40_000, 120_000),
    st.sampled_from(DIALECTS),
)
def test_a_fitted_message_never_exceeds_its_room(shapes, room, dialect):
    noise = random.Random(len(shapes))
    blocks = []
    for number, (size, noisy) in enumerate(shapes):
        data = noise.randbytes(size) if noisy else number.to_bytes(4, "big") * (size // 4 + 1)
        blocks.append((Multihash.sha3_256(data), data))
    blocks = list(dict(blocks).items())
    fitted = fit_archive(blocks, dialect, room)
    assert message_size(dialect, fitted) <= room
    assert list(read_batch(fitted.batch, LIMITS)) == blocks[: fitted.num_blocks]
    assert fit_prefix([len(data) for _, data in blocks], dialect, room) <= fitted.num_blocks
