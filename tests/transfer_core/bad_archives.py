"""A corpus of archives, each named by its defect: plain tar bytes or compressed ones."""

import gzip
import io
import random
import tarfile
import zlib
from collections.abc import Callable
from dataclasses import dataclass

from odf_core.errors import OdfError
from odf_core.identity import ARROW0_SHA3_256, Multihash
from odf_core.transfer import write_archive
from odf_core.transfer.archive import (
    ArchiveCorrupt,
    ArchiveDuplicateEntry,
    ArchiveEntryName,
    ArchiveEntryTooLarge,
    ArchiveEntryType,
    ArchiveMultiMember,
    ArchiveRatio,
    ArchiveTooLarge,
    ArchiveTooManyEntries,
    ArchiveTrailingData,
    ArchiveTruncated,
)
from odf_core.transfer.errors import UnknownHashCode
from odf_core.transfer.model import MediaType
from tests.transfer_core.values import raw_blocks

BLOCKS = raw_blocks(3)
NAME, DATA = BLOCKS[0]
GOOD = write_archive(BLOCKS)
TAR = write_archive(BLOCKS, MediaType.TAR)
END = bytes(1024)


@dataclass(frozen=True)
class BadArchive:
    """`make` gives the payload; small limits of the test apply."""

    defect: str
    error: type[OdfError]
    make: Callable[[], bytes]

    def __str__(self) -> str:
        return self.defect


def entry(name: str = str(NAME), data: bytes = DATA, **fields: object) -> bytes:
    """One tar entry by another implementation, with any field made wrong."""
    info = tarfile.TarInfo(name)
    info.size = len(data)
    for field, value in fields.items():
        setattr(info, field, value)
    return info.tobuf(tarfile.USTAR_FORMAT) + data + bytes(-len(data) % 512)


def patched(offset: int, value: bytes, *, mend: bool = True) -> bytes:
    """A tar whose first header has other bytes at `offset`, with a right checksum unless told otherwise."""
    tar = bytearray(TAR)
    tar[offset : offset + len(value)] = value
    if mend:
        tar[148:156] = b" " * 8
        tar[148:156] = b"%06o\x00 " % sum(tar[:512])
    return bytes(tar)


def of_tarfile(style: int, name: str, **fields: object) -> bytes:
    """Archives with extended headers, as tarfile writes them."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=style) as archive:
        info = tarfile.TarInfo(name)
        info.size = len(DATA)
        for field, value in fields.items():
            setattr(info, field, value)
        archive.addfile(info, io.BytesIO(DATA))
    return buffer.getvalue()


def _flipped(position: int) -> bytes:
    data = bytearray(GOOD)
    data[position] ^= 0xFF
    return bytes(data)


def tars() -> list[BadArchive]:
    """Defects of the tar itself; the tests compress them, too."""
    other = str(Multihash(ARROW0_SHA3_256, bytes(32)))
    return [
        BadArchive("no bytes", ArchiveTruncated, lambda: b""),
        BadArchive("ends within a header", ArchiveTruncated, lambda: TAR[:300]),
        BadArchive("ends within an entry", ArchiveTruncated, lambda: TAR[:520]),
        BadArchive("ends within padding", ArchiveTruncated, lambda: TAR[:1000]),
        BadArchive("without end mark", ArchiveTruncated, lambda: TAR[:-1024]),
        BadArchive("with half an end mark", ArchiveTruncated, lambda: TAR[:-512]),
        BadArchive("entry behind half an end mark", ArchiveTrailingData, lambda: TAR[:-512] + TAR),
        BadArchive("entry behind the end mark", ArchiveTrailingData, lambda: TAR + TAR),
        BadArchive("text behind the end mark", ArchiveTrailingData, lambda: TAR + b"more"),
        BadArchive("text behind much padding", ArchiveTrailingData, lambda: TAR + bytes(3_000_000) + b"x"),
        BadArchive("wrong checksum", ArchiveCorrupt, lambda: patched(0, b"g", mend=False)),
        BadArchive("checksum is no number", ArchiveCorrupt, lambda: patched(148, b"abcdefgh", mend=False)),
        BadArchive("checksum is blank", ArchiveCorrupt, lambda: patched(148, b" " * 8, mend=False)),
        BadArchive("size is no number", ArchiveCorrupt, lambda: patched(124, b"12x45678901\x00")),
        BadArchive("size is blank", ArchiveCorrupt, lambda: patched(124, b" " * 12)),
        BadArchive("size has digit 9", ArchiveCorrupt, lambda: patched(124, b"00000000090\x00")),
        BadArchive("size is negative", ArchiveCorrupt, lambda: patched(124, b"-0000000010\x00")),
        BadArchive("size in base 256", ArchiveCorrupt, lambda: patched(124, b"\x80" + bytes(10) + b"\x28")),
        BadArchive("size has underscores", ArchiveCorrupt, lambda: patched(124, b"0_000_00050\x00")),
        BadArchive("not a tar", ArchiveCorrupt, lambda: b"some text, but no archive".ljust(2048, b".")),
        BadArchive("link", ArchiveEntryType, lambda: entry(type=tarfile.SYMTYPE, linkname="a", size=0) + END),
        BadArchive("hard link", ArchiveEntryType, lambda: entry(type=tarfile.LNKTYPE) + END),
        BadArchive("folder", ArchiveEntryType, lambda: entry(type=tarfile.DIRTYPE) + END),
        BadArchive("device", ArchiveEntryType, lambda: entry(type=tarfile.CHRTYPE) + END),
        BadArchive("old contiguous file", ArchiveEntryType, lambda: entry(type=tarfile.CONTTYPE) + END),
        BadArchive("GNU sparse file", ArchiveEntryType, lambda: entry(type=tarfile.GNUTYPE_SPARSE) + END),
        BadArchive("GNU long name", ArchiveEntryType, lambda: of_tarfile(tarfile.GNU_FORMAT, "n" * 200)),
        BadArchive("pax long name", ArchiveEntryType, lambda: of_tarfile(tarfile.PAX_FORMAT, "n" * 200)),
        BadArchive(
            "pax time", ArchiveEntryType, lambda: of_tarfile(tarfile.PAX_FORMAT, str(NAME), mtime=1.5)
        ),
        BadArchive("global pax header", ArchiveEntryType, lambda: entry(type=tarfile.XGLTYPE) + END),
        BadArchive("name is no hash", ArchiveEntryName, lambda: entry("block-1") + END),
        BadArchive("name is empty", ArchiveEntryName, lambda: patched(0, bytes(100))),
        BadArchive("name in a folder", ArchiveEntryName, lambda: entry(f"blocks/{NAME}") + END),
        BadArchive("name with a dot", ArchiveEntryName, lambda: entry(f"./{NAME}") + END),
        BadArchive("name with an extension", ArchiveEntryName, lambda: entry(f"{NAME}.bin") + END),
        BadArchive("name climbs up", ArchiveEntryName, lambda: entry("../" * 10 + "etc/passwd") + END),
        BadArchive("name is cut", ArchiveEntryName, lambda: entry(str(NAME)[:-2]) + END),
        BadArchive("name is not ASCII", ArchiveEntryName, lambda: patched(0, "ÿ".encode())),
        BadArchive("name goes on behind NUL", ArchiveEntryName, lambda: patched(70, b"hidden")),
        BadArchive("name has a ustar prefix", ArchiveEntryName, lambda: patched(345, b"folder")),
        BadArchive("hash of another function", UnknownHashCode, lambda: entry(other) + END),
        BadArchive("same entry twice", ArchiveDuplicateEntry, lambda: entry() + entry() + END),
        BadArchive(
            "same hash in two spellings",
            ArchiveDuplicateEntry,
            lambda: entry() + entry(str(NAME).upper()) + END,
        ),
        BadArchive("declares a huge entry", ArchiveEntryTooLarge, lambda: patched(124, b"77777777777\x00")),
        BadArchive("entry beyond the limit", ArchiveEntryTooLarge, lambda: entry(data=bytes(100_001)) + END),
        BadArchive(
            "too many entries", ArchiveTooManyEntries, lambda: write_archive(raw_blocks(51), MediaType.TAR)
        ),
    ]


def compressed() -> list[BadArchive]:
    """Defects of the compression."""
    return [
        BadArchive("no bytes", ArchiveTruncated, lambda: b""),
        BadArchive("gzip header only", ArchiveTruncated, lambda: GOOD[:10]),
        BadArchive("gzip ends in the middle", ArchiveTruncated, lambda: GOOD[: len(GOOD) // 2]),
        BadArchive("gzip without its trailer", ArchiveTruncated, lambda: GOOD[:-8]),
        BadArchive("gzip without its last byte", ArchiveTruncated, lambda: GOOD[:-1]),
        BadArchive("wrong checksum of gzip", ArchiveCorrupt, lambda: _flipped(-8)),
        BadArchive("wrong length of gzip", ArchiveCorrupt, lambda: _flipped(-1)),
        BadArchive("no gzip", ArchiveCorrupt, lambda: TAR),
        BadArchive("zlib instead of gzip", ArchiveCorrupt, lambda: zlib.compress(TAR)),
        BadArchive("unknown compression method", ArchiveCorrupt, lambda: GOOD[:2] + b"\x07" + GOOD[3:]),
        BadArchive("a second member", ArchiveMultiMember, lambda: GOOD + GOOD),
        BadArchive("a second empty member", ArchiveMultiMember, lambda: GOOD + gzip.compress(b"")),
        BadArchive("archive in two members", ArchiveMultiMember, lambda: gzip.compress(TAR[:1024]) + GOOD),
        BadArchive("text behind gzip", ArchiveTrailingData, lambda: GOOD + b"x"),
        BadArchive("zeros behind gzip", ArchiveTrailingData, lambda: GOOD + bytes(512)),
        BadArchive("much behind gzip", ArchiveTrailingData, lambda: GOOD + bytes(600_000)),
        BadArchive("bomb in an entry", ArchiveEntryTooLarge, lambda: _bomb_entry()),
        BadArchive(
            "bomb behind the end mark", ArchiveRatio, lambda: gzip.compress(TAR + bytes(4_000_000), 9)
        ),
        BadArchive("expands beyond the limit", ArchiveTooLarge, lambda: _large_entries()),
        BadArchive("compressed beyond the limit", ArchiveTooLarge, lambda: GOOD + bytes(2_000_001)),
    ]


def _bomb_entry() -> bytes:
    return gzip.compress(entry(data=bytes(50_000_000)) + END, 9)


def _large_entries() -> bytes:
    """Entries of noise: large, but no bomb by its ratio."""
    return write_archive(
        [(Multihash.sha3_256(data), data) for data in map(random.Random(1).randbytes, [90_000] * 20)]
    )
