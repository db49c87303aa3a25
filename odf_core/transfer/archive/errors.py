"""Errors of block archives: each defect that a foreign archive can have, by its own name."""

from typing import ClassVar

from odf_core.errors import InvalidInput, LimitExceeded


class ArchiveCorrupt(InvalidInput):
    """The bytes are no gzip stream, or a tar header in them does not hold."""

    code: ClassVar[str] = "archive_corrupt"


class ArchiveTruncated(InvalidInput):
    """The archive ends before its end mark."""

    code: ClassVar[str] = "archive_truncated"


class ArchiveTrailingData(InvalidInput):
    """Something follows the end of the archive."""

    code: ClassVar[str] = "archive_trailing_data"


class ArchiveMultiMember(InvalidInput):
    """A second gzip member follows the first one."""

    code: ClassVar[str] = "archive_multi_member"


class ArchiveEntryType(InvalidInput):
    """An entry is not a regular file: a link, a folder, an extended header …"""

    code: ClassVar[str] = "archive_entry_type"


class ArchiveEntryName(InvalidInput):
    """An entry's name is not a multihash."""

    code: ClassVar[str] = "archive_entry_name"


class ArchiveDuplicateEntry(InvalidInput):
    """Two entries have the same name."""

    code: ClassVar[str] = "archive_duplicate_entry"


class ArchiveTooLarge(LimitExceeded):
    """The archive is larger than allowed, as it came or after decompression."""

    code: ClassVar[str] = "archive_too_large"


class ArchiveEntryTooLarge(LimitExceeded):
    """An entry declares more bytes than a block may have."""

    code: ClassVar[str] = "archive_entry_too_large"


class ArchiveTooManyEntries(LimitExceeded):
    """The archive has more entries than are read."""

    code: ClassVar[str] = "archive_too_many_entries"


class ArchiveRatio(LimitExceeded):
    """The archive expands suspiciously: a bomb."""

    code: ClassVar[str] = "archive_ratio"


class ArchiveBlockTooLarge(LimitExceeded):
    """A single block of ours does not fit the largest message that the peer reads."""

    code: ClassVar[str] = "archive_block_too_large"
