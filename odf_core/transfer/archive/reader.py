"""Reading block archives from a peer: every bound is applied before memory is taken.

Errors come while the archive is read, so a caller that must not act on half an archive collects the
entries first. An entry's bytes are *not* compared with its name here: `metadata.read_block` does.
"""

from collections.abc import Iterator
from typing import cast

from isal import igzip_lib

from odf_core.identity import Multihash
from odf_core.limits import Limits, MiB
from odf_core.transfer.archive.errors import (
    ArchiveCorrupt,
    ArchiveDuplicateEntry,
    ArchiveEntryTooLarge,
    ArchiveMultiMember,
    ArchiveRatio,
    ArchiveTooLarge,
    ArchiveTooManyEntries,
    ArchiveTrailingData,
    ArchiveTruncated,
)
from odf_core.transfer.archive.headers import BLOCK, ZEROS, read_header
from odf_core.transfer.errors import BatchCountMismatch
from odf_core.transfer.model import BlocksBatch, MediaType, Payload

_INPUT_PIECE = 256 * 1024
_OUTPUT_PIECE = 1 * MiB
_RATIO_FROM = 1 * MiB
# The library's stub types its exception class as an instance.
_ISAL_ERROR = cast("type[Exception]", igzip_lib.IsalError)
_GZIP_MAGIC = b"\x1f\x8b"


def read_archive(
    payload: Payload, limits: Limits, media_type: MediaType = MediaType.TAR_GZIP
) -> Iterator[tuple[Multihash, bytes]]:
    """Entries of an archive of blocks in their order.

    Raises the leaves of `archive.errors` and UnknownHashCode; the archive must be one gzip member (or
    plain tar), complete, with regular entries only, no two of one name, and nothing behind its end.
    """
    tape = _Tape(_pieces(payload, limits, media_type))
    seen: set[Multihash] = set()
    while (header := tape.take(BLOCK)) != ZEROS:
        block_hash, size = read_header(header)
        if size > limits.block_bytes:
            raise ArchiveEntryTooLarge(
                f"Block {block_hash} declares {size} bytes; at most {limits.block_bytes} are read.",
                objects=[block_hash],
            )
        if len(seen) >= limits.archive_entries:
            raise ArchiveTooManyEntries(
                f"The archive has more than {limits.archive_entries} entries; send the blocks in parts."
            )
        if block_hash in seen:
            raise ArchiveDuplicateEntry(
                f"Block {block_hash} is in the archive more than once.", objects=[block_hash]
            )
        seen.add(block_hash)
        data = tape.take(size)
        tape.take(-size % BLOCK)
        yield block_hash, data
    if tape.take(BLOCK) != ZEROS:
        raise ArchiveTrailingData("The archive goes on behind its end mark.")
    tape.expect_zeros_to_end()


def read_batch(batch: BlocksBatch, limits: Limits) -> Iterator[tuple[Multihash, bytes]]:
    """Entries of a batch; raises BatchCountMismatch unless there are `batch.num_blocks` of them."""
    count = 0
    for count, entry in enumerate(read_archive(batch.payload, limits, batch.media_type), start=1):
        if count > batch.num_blocks:
            raise _miscounted(batch, f"more than {batch.num_blocks}")
        yield entry
    if count != batch.num_blocks:
        raise _miscounted(batch, str(count))


def _miscounted(batch: BlocksBatch, found: str) -> BatchCountMismatch:
    return BatchCountMismatch(
        f"The batch announces {batch.num_blocks} blocks, but its archive holds {found}.",
        extras={"num_blocks": batch.num_blocks},
    )


class _Tape:
    """A sequence of pieces, read by counts of bytes."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._piece = b""
        self._at = 0

    def take(self, size: int) -> bytes:
        """Exactly `size` bytes; ArchiveTruncated if there are fewer."""
        end = self._at + size
        if end <= len(self._piece):
            taken = self._piece[self._at : end]
            self._at = end
            return taken
        parts = [self._piece[self._at :]]
        missing = size - len(parts[0])
        while missing > 0:
            self._piece = next(self._pieces, b"")
            if not self._piece:
                raise ArchiveTruncated("The archive ends before its end mark.")
            self._at = min(missing, len(self._piece))
            parts.append(self._piece[: self._at])
            missing -= self._at
        return b"".join(parts)

    def expect_zeros_to_end(self) -> None:
        """Reads on to the end, where only the zeros of padding may stand."""
        rest = self._piece[self._at :]
        while True:
            if rest.strip(b"\x00"):
                raise ArchiveTrailingData("Something other than zeros follows the end mark of the archive.")
            rest = next(self._pieces, b"")
            if not rest:
                return


def _pieces(payload: Payload, limits: Limits, media_type: MediaType) -> Iterator[bytes]:
    if media_type is MediaType.TAR:
        return _plain(memoryview(payload), limits)
    return _inflate(memoryview(payload), limits)


def _plain(payload: memoryview, limits: Limits) -> Iterator[bytes]:
    if len(payload) > limits.archive_expanded_bytes:
        raise ArchiveTooLarge(
            f"The archive has {len(payload)} bytes; at most {limits.archive_expanded_bytes} are read."
        )
    for start in range(0, len(payload), _OUTPUT_PIECE):
        yield bytes(payload[start : start + _OUTPUT_PIECE])


def _inflate(payload: memoryview, limits: Limits) -> Iterator[bytes]:
    if len(payload) > limits.archive_compressed_bytes:
        raise ArchiveTooLarge(
            f"The archive has {len(payload)} bytes; at most {limits.archive_compressed_bytes} are read."
        )
    stream = igzip_lib.IgzipDecompressor(flag=igzip_lib.DECOMP_GZIP)
    position = expanded = 0
    while not stream.eof:
        feed = b""
        if stream.needs_input:
            feed = bytes(payload[position : position + _INPUT_PIECE])
            position += len(feed)
            if not feed:
                raise ArchiveTruncated("The compressed archive ends before its end.")
        try:
            piece = stream.decompress(feed, _OUTPUT_PIECE)
        except _ISAL_ERROR as error:
            raise ArchiveCorrupt(f"The archive is no valid gzip stream ({error}).") from error
        if not (feed or piece or stream.needs_input or stream.eof):
            raise ArchiveCorrupt("The compressed archive does not come to an end.")
        expanded += len(piece)
        _check_expansion(expanded, len(payload), limits)
        if piece:
            yield piece
    _refuse_rest(bytes(stream.unused_data) or bytes(payload[position : position + 2]))


def _check_expansion(expanded: int, compressed: int, limits: Limits) -> None:
    if expanded > limits.archive_expanded_bytes:
        raise ArchiveTooLarge(f"The archive expands to more than {limits.archive_expanded_bytes} bytes.")
    if expanded > _RATIO_FROM and expanded > limits.archive_ratio * compressed:
        raise ArchiveRatio(f"The archive expands more than {limits.archive_ratio} times.")


def _refuse_rest(rest: bytes) -> None:
    if rest.startswith(_GZIP_MAGIC):
        raise ArchiveMultiMember("A second gzip member follows the archive.")
    if rest:
        raise ArchiveTrailingData("Something follows the compressed archive.")
