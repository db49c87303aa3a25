"""Archives of blocks, as they travel in one message: written here, read from peers with bounds."""

from odf_core.transfer.archive.errors import (
    ArchiveBlockTooLarge,
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
from odf_core.transfer.archive.reader import read_archive, read_batch
from odf_core.transfer.archive.writer import ArchiveWriter, iter_archive, write_archive

__all__ = [
    "write_archive",
    "iter_archive",
    "ArchiveWriter",
    "read_archive",
    "read_batch",
    "ArchiveBlockTooLarge",
    "ArchiveCorrupt",
    "ArchiveDuplicateEntry",
    "ArchiveEntryName",
    "ArchiveEntryTooLarge",
    "ArchiveEntryType",
    "ArchiveMultiMember",
    "ArchiveRatio",
    "ArchiveTooLarge",
    "ArchiveTooManyEntries",
    "ArchiveTrailingData",
    "ArchiveTruncated",
]
