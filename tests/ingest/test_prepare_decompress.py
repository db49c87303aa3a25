"""Decompression of what strangers have compressed."""

import gzip
import io
import random
import stat
import struct
import zipfile

import pytest

from odf_core.errors import OdfError
from odf_core.ingest.errors import (
    ArchiveDamaged,
    ArchiveEntryNotFound,
    ArchiveUnsafe,
    InvalidPrepareStep,
    PreparedTooLarge,
)
from odf_core.ingest.fetch import FetchPolicy
from odf_core.ingest.prepare import PrepareContext, PrepareOptions, prepare
from odf_core.metadata.enums import CompressionFormat
from odf_core.metadata.sources import PrepStepDecompress

GZIP = PrepStepDecompress(format=CompressionFormat.GZIP)
ZIP = PrepStepDecompress(format=CompressionFormat.ZIP)
TEXT = b"".join(b"%d,%x\n" % (at, at * 7919) for at in range(20_000))


def sub(path):
    return PrepStepDecompress(format=CompressionFormat.ZIP, sub_path=path)


def run(tmp_path, steps, data, **options):
    source = tmp_path / "source"
    source.write_bytes(data)
    work = tmp_path / "work"
    work.mkdir(exist_ok=True)
    context = PrepareContext(workdir=work, policy=FetchPolicy.node(), options=PrepareOptions(**options))
    before = set(work.iterdir())
    try:
        return prepare(steps, source, context).read_bytes()
    except OdfError:
        assert set(work.iterdir()) == before, "a file is left over"
        raise
    finally:
        assert source.read_bytes() == data


def refused(tmp_path, step, data, error, words, **options):
    with pytest.raises(error, match=words):
        run(tmp_path, [step], data, **options)


def zipped(*entries, method=zipfile.ZIP_DEFLATED):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return out.getvalue()


def test_no_steps_leave_the_file_where_it_is(tmp_path):
    path = tmp_path / "a"
    path.touch()
    assert prepare((), path, PrepareContext(workdir=tmp_path, policy=FetchPolicy.node())) == path


@pytest.mark.parametrize("chunk", [1, 7, 1000, 262_144])
def test_gzip_of_one_and_several_members(tmp_path, chunk):
    text = TEXT[:5000] if chunk < 1000 else TEXT
    members = gzip.compress(text) + gzip.compress(b"") + gzip.compress(b"end")
    assert run(tmp_path, [GZIP], members, chunk_bytes=chunk) == text + b"end"
    assert run(tmp_path, [GZIP], members + bytes(1000), chunk_bytes=chunk) == text + b"end"
    with pytest.raises(ArchiveDamaged):
        run(tmp_path, [GZIP], members + b"\0\0x", chunk_bytes=chunk)
    with pytest.raises(ArchiveDamaged):
        run(tmp_path, [GZIP], members[:-1], chunk_bytes=chunk)


def test_gzip_of_nothing(tmp_path):
    assert run(tmp_path, [GZIP], gzip.compress(b"")) == b""
    refused(tmp_path, GZIP, b"", ArchiveDamaged, "it is empty")


@pytest.mark.parametrize("cut", [1, 2, 9, 10, 11, 500, -9, -8, -4, -1])
def test_truncated_gzip(tmp_path, cut):
    refused(tmp_path, GZIP, gzip.compress(TEXT)[:cut], ArchiveDamaged, "truncated")


def test_what_is_no_gzip_or_has_something_behind_it(tmp_path):
    good = gzip.compress(TEXT)
    refused(tmp_path, GZIP, b"a,b\n1,2\n", ArchiveDamaged, "as gzip: it does not begin like gzip")
    refused(tmp_path, GZIP, good + b"garbage", ArchiveDamaged, f"at compressed byte {len(good)}, other bytes")
    refused(tmp_path, GZIP, good + good[:5], ArchiveDamaged, "truncated")
    flipped = bytearray(good)
    flipped[-6] ^= 1
    refused(tmp_path, GZIP, bytes(flipped), ArchiveDamaged, "corrupt")


def test_bombs(tmp_path):
    bomb = gzip.compress(bytes(80 << 20), 9)
    refused(tmp_path, GZIP, bomb, PreparedTooLarge, "more than 500 times")
    refused(
        tmp_path,
        GZIP,
        bomb,
        PreparedTooLarge,
        "more than the limit of 1000000 bytes",
        max_expanded_bytes=10**6,
    )
    archive = zipped(("a.csv", bytes(80 << 20)))
    refused(tmp_path, ZIP, archive, PreparedTooLarge, "more than 500 times")
    refused(tmp_path, ZIP, archive, PreparedTooLarge, "limit of 1000000 bytes", max_expanded_bytes=10**6)


def test_steps_are_chained_and_nothing_between_them_is_left(tmp_path):
    chain = gzip.compress(zipped(("a.csv.gz", gzip.compress(TEXT))))
    assert run(tmp_path, [GZIP, ZIP, GZIP], chain) == TEXT
    assert len(list((tmp_path / "work").iterdir())) == 1
    with pytest.raises(ArchiveDamaged):
        run(tmp_path, [GZIP, ZIP, GZIP, GZIP], chain)
    with pytest.raises(InvalidPrepareStep, match="17 prepare steps"):
        run(tmp_path, [GZIP] * 17, chain)


def test_the_entry_of_a_zip(tmp_path):
    archive = zipped(("docs/", b""), ("docs/readme.txt", b"hi"), ("data/a.csv", TEXT), ("data/[b].csv", b"b"))
    assert run(tmp_path, [ZIP], archive) == b"hi"
    assert run(tmp_path, [sub("data/a.csv")], archive) == TEXT
    assert run(tmp_path, [sub("data/[b].csv")], archive) == b"b"
    assert run(tmp_path, [sub("*/a.*")], archive) == TEXT
    refused(
        tmp_path,
        sub("*.csv"),
        archive,
        ArchiveEntryNotFound,
        r"several files .* 'data/a.csv', 'data/\[b\].csv'",
    )
    refused(
        tmp_path, sub("none"), archive, ArchiveEntryNotFound, "no file .* it has: 'docs/readme.txt', 'data"
    )
    refused(tmp_path, ZIP, zipped(("d/", b"")), ArchiveEntryNotFound, "no file in it")
    refused(tmp_path, ZIP, zipped(), ArchiveEntryNotFound, "no file in it")


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/passwd", "..\\a", "C:\\a", "\\a", "a/.."])
def test_a_zip_that_climbs_out_of_its_folder(tmp_path, name):
    archive = zipped(("good.csv", b"1"), (name, b"2"))
    refused(tmp_path, sub("good.csv"), archive, ArchiveUnsafe, "leads out of its folder")


def test_links_encrypted_entries_and_strange_methods(tmp_path):
    link = zipfile.ZipInfo("link.csv")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    refused(tmp_path, ZIP, zipped((link, b"/etc/passwd")), ArchiveUnsafe, "link or device")
    encrypted = bytearray(zipped(("a.csv", b"1")))
    encrypted[encrypted.index(b"PK\1\2") + 8] |= 1
    refused(tmp_path, ZIP, bytes(encrypted), ArchiveUnsafe, "encrypted")
    refused(tmp_path, ZIP, zipped(("a", TEXT), method=zipfile.ZIP_LZMA), ArchiveUnsafe, "method 14")


def test_broken_zips(tmp_path):
    good = zipped(("a.csv", TEXT))
    for data in (b"", b"a,b\n", good[: len(good) // 2], good[:-10], gzip.compress(TEXT)):
        refused(tmp_path, ZIP, data, ArchiveDamaged, "as a zip file")
    flipped = bytearray(good)
    flipped[len(good) // 2] ^= 255
    refused(tmp_path, ZIP, bytes(flipped), ArchiveDamaged, "as a zip file")


def test_a_zip_with_a_list_of_entries_too_long_for_memory(tmp_path):
    many = zipped(*((f"{at}", b"") for at in range(3000)))
    refused(tmp_path, ZIP, many, ArchiveDamaged, "list of entries", max_directory_bytes=100_000)
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 1, 1, 200 << 20, 0, 0)
    refused(tmp_path, ZIP, end, ArchiveDamaged, "as a zip file")


def test_damage_anywhere_is_a_sentence(tmp_path):
    """Neither a foreign exception nor a file left over, whatever byte is wrong."""
    dice = random.Random(7)
    samples = [(ZIP, zipped(("a.csv", TEXT[:2000]), ("b.csv", b"x"))), (GZIP, gzip.compress(TEXT[:2000]))]
    for step, good in samples:
        for _ in range(400):
            data = bytearray(good)
            for _ in range(dice.randint(1, 4)):
                data[dice.randrange(len(data))] = dice.randrange(256)
            try:
                run(tmp_path, [step], bytes(data[: dice.choice([len(data), dice.randrange(len(data))])]))
            except OdfError as error:
                assert error.message.endswith(".")
            for made in (tmp_path / "work").iterdir():
                made.unlink()
