"""Archives from a peer that must not be believed: each defect has its own error."""

import gzip
import tracemalloc
from dataclasses import replace

import pytest

from odf_core.limits import Limits
from odf_core.transfer import BlocksBatch, MediaType, read_archive, read_batch, write_archive
from odf_core.transfer.archive import ArchiveTooLarge, ArchiveTruncated
from odf_core.transfer.errors import BatchCountMismatch
from tests.transfer_core.bad_archives import BLOCKS, GOOD, TAR, BadArchive, compressed, tars
from tests.transfer_core.values import raw_blocks

SMALL = Limits(
    archive_compressed_bytes=2_000_000,
    archive_expanded_bytes=5_000_000,
    archive_entries=50,
    block_bytes=100_000,
)
TIGHT = replace(SMALL, archive_expanded_bytes=1_500_000)


@pytest.mark.parametrize("bad", tars(), ids=str)
def test_plain_tar(bad: BadArchive):
    with pytest.raises(bad.error) as raised:
        list(read_archive(bad.make(), SMALL, MediaType.TAR))
    assert raised.type is bad.error
    assert raised.value.message.endswith(".")


@pytest.mark.parametrize("bad", tars(), ids=str)
def test_compressed_tar(bad: BadArchive):
    with pytest.raises(bad.error) as raised:
        # Level 1 and an incompressible comment keep the ratio of these below that of a bomb.
        list(read_archive(gzip.compress(bad.make(), 1), replace(SMALL, archive_ratio=100_000)))
    assert raised.type is bad.error


@pytest.mark.parametrize("bad", compressed(), ids=str)
def test_compression(bad: BadArchive):
    limits = TIGHT if bad.defect == "expands beyond the limit" else SMALL
    with pytest.raises(bad.error) as raised:
        list(read_archive(bad.make(), limits))
    assert raised.type is bad.error


def test_every_truncation_is_an_error():
    for length in range(len(GOOD)):
        with pytest.raises(ArchiveTruncated):
            list(read_archive(GOOD[:length], SMALL))
    for length in range(0, len(TAR), 7):
        with pytest.raises(ArchiveTruncated):
            list(read_archive(TAR[:length], SMALL, MediaType.TAR))


def test_plain_tar_beyond_the_limit_is_not_even_begun():
    archive = read_archive(TAR, Limits(archive_expanded_bytes=len(TAR) - 1), MediaType.TAR)
    with pytest.raises(ArchiveTooLarge):
        next(archive)


def test_a_bomb_takes_no_memory():
    bomb = gzip.compress(TAR[:-1024] + bytes(100_000_000), 9)
    tracemalloc.start()
    try:
        with pytest.raises(ArchiveTooLarge):
            list(read_archive(bomb, replace(SMALL, archive_ratio=10_000)))
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12_000_000


@pytest.mark.parametrize("announced", [0, 2, 4, 2**32 - 1])
def test_batch_that_announces_another_count(announced):
    with pytest.raises(BatchCountMismatch):
        list(read_batch(BlocksBatch(announced, GOOD), SMALL))


def test_batch_with_more_entries_stops_before_them():
    found = []
    with pytest.raises(BatchCountMismatch):
        for entry in read_batch(BlocksBatch(2, write_archive(raw_blocks(40))), SMALL):
            found.append(entry)
    assert len(found) == 2
    assert found == BLOCKS[:2]
