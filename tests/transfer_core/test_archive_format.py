"""The archive of blocks as other programs see it (wire.md 3.3)."""

import gzip
import io
import tarfile

import pytest

from odf_core.identity import multibase_encode
from odf_core.limits import Limits
from odf_core.transfer import BlocksBatch, MediaType, iter_archive, read_archive, read_batch, write_archive
from odf_core.transfer.archive.headers import entry_size, write_header
from tests.transfer_core.values import HEAD, LIMITS, raw_blocks

SIZES = [0, 1, 511, 512, 513, 1024, 70_000]


def entries_by_tarfile(payload: bytes) -> list[tuple[tarfile.TarInfo, bytes]]:
    with tarfile.open(fileobj=io.BytesIO(payload), mode="r:*") as archive:
        return [(entry, archive.extractfile(entry).read()) for entry in archive.getmembers()]


@pytest.mark.parametrize("media_type", list(MediaType))
@pytest.mark.parametrize("size", SIZES)
def test_tarfile_reads_what_is_written(size, media_type):
    blocks = raw_blocks(3, size) if size else [(HEAD, b"")]
    found = entries_by_tarfile(write_archive(blocks, media_type))
    assert [(entry.name, data) for entry, data in found] == [(str(name), data) for name, data in blocks]
    assert all(entry.isreg() and entry.mtime == 0 and entry.uid == 0 for entry, _ in found)


def test_header_is_ustar_to_the_byte():
    header = write_header(HEAD, 0o1234)
    expected = tarfile.TarInfo(str(HEAD))
    expected.size, expected.mode = 0o1234, 0o644
    assert header == expected.tobuf(tarfile.USTAR_FORMAT)
    assert header[156:157] == b"0"
    assert header[257:265] == b"ustar\x0000"


def test_end_is_two_zero_blocks_without_padding_to_records():
    blocks = raw_blocks(2)
    plain = write_archive(blocks, MediaType.TAR)
    assert len(plain) == sum(entry_size(len(data)) for _, data in blocks) + 1024
    assert plain.endswith(bytes(1024))


def test_same_blocks_give_same_bytes_and_no_time():
    blocks = raw_blocks(500)
    packed = write_archive(blocks)
    assert packed == write_archive(iter(blocks)) == b"".join(iter_archive(blocks))
    assert packed[:2] == b"\x1f\x8b"
    assert packed[4:8] == bytes(4)
    assert gzip.decompress(packed) == write_archive(blocks, MediaType.TAR)


def test_blocks_are_taken_one_at_a_time():
    taken = 0

    def source():
        nonlocal taken
        for block in raw_blocks(4000, 600):
            taken += 1
            yield block

    pieces = iter_archive(source(), MediaType.TAR)
    next(pieces)
    assert 0 < taken < 4000


@pytest.mark.parametrize("media_type", list(MediaType))
@pytest.mark.parametrize("count", [0, 1, 3, 2000])
def test_reads_back_what_was_written(count, media_type):
    blocks = raw_blocks(count, 700)
    assert list(read_archive(write_archive(blocks, media_type), LIMITS, media_type)) == blocks


@pytest.mark.parametrize("style", [tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT])
@pytest.mark.parametrize("mode", ["w", "w:gz"])
def test_reads_what_tarfile_writes(style, mode):
    blocks = raw_blocks(5)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode=mode, format=style) as archive:
        for name, data in blocks:
            entry = tarfile.TarInfo(str(name))
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    media_type = MediaType.TAR_GZIP if mode == "w:gz" else MediaType.TAR
    # tarfile pads with zeros to records of 10240 bytes, which is fine behind the end mark.
    assert list(read_archive(buffer.getvalue(), LIMITS, media_type)) == blocks


def test_reads_headers_as_the_deployed_peer_writes_them():
    """GNU magic, blank numbers, typeflag NUL, blank owner (wire.md 3.3)."""
    (name, data), *_ = raw_blocks(1)
    header = bytearray(512)
    header[:69] = str(name).encode()
    header[124:136] = b"%011o\x00" % len(data)
    header[136:148] = b"00000000000\x00"
    header[257:265] = b"ustar  \x00"
    header[148:156] = b" " * 8
    header[148:156] = b"%06o\x00 " % sum(header)
    tar = bytes(header) + data + bytes(-len(data) % 512) + bytes(1024)
    assert list(read_archive(gzip.compress(tar, 6), LIMITS)) == [(name, data)]


def test_names_are_read_in_every_final_multibase():
    (name, data), *_ = raw_blocks(1)
    text = multibase_encode(name.to_bytes())
    base64url = "uFi" + _b64url(name.to_bytes())[2:]
    for spelling in (text, text.upper(), base64url):
        entry = tarfile.TarInfo(spelling)
        entry.size = len(data)
        tar = entry.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512) + bytes(1024)
        assert list(read_archive(tar, LIMITS, MediaType.TAR)) == [(name, data)]


def test_payload_may_be_a_view():
    blocks = raw_blocks(3)
    assert list(read_archive(memoryview(bytearray(write_archive(blocks))), LIMITS)) == blocks


def test_batch_holds_exactly_its_blocks():
    blocks = raw_blocks(3)
    assert list(read_batch(BlocksBatch(3, write_archive(blocks)), LIMITS)) == blocks
    plain = BlocksBatch(3, write_archive(blocks, MediaType.TAR), MediaType.TAR)
    assert list(read_batch(plain, Limits(archive_entries=3))) == blocks


def _b64url(data: bytes) -> str:
    import base64

    return base64.urlsafe_b64encode(data).decode().rstrip("=")
