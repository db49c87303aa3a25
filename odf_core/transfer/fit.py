"""Prefixes of an interval that fit one message, so that plan and batch agree (wire.md 2, 3.3, 5).

A deployed peer reads frames of at most 16 MiB, messages of at most 64 MiB; a chain whose archive
needs more is answered (or pushed) in older prefixes, one session after the other. The plan is told
before the batch, so the prefix has to be settled first: `fit_prefix` does it by sizes alone and
errs on the safe side; where it says that not everything fits, `fit_archive` makes the archive and
finds out how much does.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from odf_core.identity import Multihash
from odf_core.limits import MiB
from odf_core.transfer.archive import ArchiveBlockTooLarge, ArchiveWriter
from odf_core.transfer.archive.headers import END_MARK, entry_size
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.model import BlocksBatch, MediaType

ONE_FRAME_BYTES = 16 * MiB
"""Largest message that a deployed peer reads in one frame (the default of its library)."""

FRAGMENTED_BYTES = 64 * MiB
"""Largest message that a deployed peer reads in several frames."""

# Everything of the message but its payload, brackets and counts of ten digits included.
_ENVELOPE = 256
# gzip's header, trailer and the last empty block.
_GZIP_ENDS = 64


@dataclass(frozen=True, slots=True)
class FittedBatch:
    """A batch of the oldest blocks of an interval; `is_whole` if those were all."""

    batch: BlocksBatch
    is_whole: bool

    @property
    def num_blocks(self) -> int:
        """Blocks in the batch: what the plan has to announce."""
        return self.batch.num_blocks


def fit_prefix(block_sizes: Sequence[int], dialect: Dialect, max_message_bytes: int) -> int:
    """How many of the oldest blocks certainly fit a message, whatever is in them.

    The blocks are taken as incompressible, their bytes as the longest in writing; so the answer is
    often too small (then `fit_archive` knows better) and never too large. It may be 0.
    """
    room = max_message_bytes - _ENVELOPE
    raw = len(END_MARK)
    for count, size in enumerate(block_sizes):
        raw += entry_size(size)
        if dialect.payload_bound(_worst(raw, dialect.archive_media_type)) > room:
            return count
    return len(block_sizes)


def fit_archive(
    blocks: Iterable[tuple[Multihash, bytes]], dialect: Dialect, max_message_bytes: int
) -> FittedBatch:
    """The batch of as many of `blocks` (oldest first) as fit a message of `max_message_bytes`.

    Takes no more blocks from the iterable than it needs. Raises ArchiveBlockTooLarge if not even the
    first one fits. What fits without counting is the very archive of `write_archive`.
    """
    room = max_message_bytes - _ENVELOPE
    writer = ArchiveWriter(dialect.archive_media_type)
    pieces: list[bytes] = []
    written = 0

    def keep(piece: bytes) -> None:
        nonlocal written
        pieces.append(piece)
        written += dialect.payload_size(piece)

    def fits(size: int) -> bool:
        pending = writer.pending + entry_size(size) + len(END_MARK)
        return written + dialect.payload_bound(_worst(pending, dialect.archive_media_type)) <= room

    count = 0
    is_whole = True
    for block_hash, data in blocks:
        if not fits(len(data)):
            # What is pending may be far smaller than feared.
            keep(writer.flush())
            if not fits(len(data)):
                is_whole = False
                break
        keep(writer.add(block_hash, data))
        count += 1
    if not count and not is_whole:
        raise ArchiveBlockTooLarge(
            f"Block {block_hash} of {len(data)} bytes does not fit a message of {max_message_bytes} bytes.",
            objects=[block_hash],
        )
    keep(writer.finish())
    batch = BlocksBatch(count, b"".join(pieces), dialect.archive_media_type)
    return FittedBatch(batch, is_whole)


def _worst(raw: int, media_type: MediaType) -> int:
    """The most bytes that `raw` bytes of tar become: deflate stores what it cannot compress."""
    if media_type is MediaType.TAR:
        return raw
    return raw + raw // 1024 + _GZIP_ENDS
