"""Writing block archives: tar, compressed with ISA-L's igzip, the same bytes for the same blocks.

wire.md 3.3 has the format, stack.md 5 why it is written here and not with `tarfile` and `gzip`.
"""

from collections.abc import Iterable, Iterator
from typing import Protocol

from isal import isal_zlib

from odf_core.identity import Multihash
from odf_core.transfer.archive.headers import END_MARK, padding, write_header
from odf_core.transfer.model import MediaType

_PIECE = 256 * 1024
# igzip: level 2 is as fast as 1 and a little smaller; its gzip header has a time of 0.
_LEVEL = 2
_GZIP_WBITS = 31


class _Encoder(Protocol):
    def compress(self, data: bytes, /) -> bytes: ...

    def flush(self, mode: int = ..., /) -> bytes: ...


class _Stored:
    """The encoder of a plain tar: what goes in comes out."""

    def compress(self, data: bytes, /) -> bytes:
        return data

    def flush(self, _mode: int = isal_zlib.Z_FINISH, /) -> bytes:
        return b""


class ArchiveWriter:
    """An archive that is fed block by block, oldest first, and handed out in pieces.

    `pending` counts the bytes of tar that went in since the last moment at which all output was out.
    """

    def __init__(self, media_type: MediaType = MediaType.TAR_GZIP) -> None:
        self._encoder = _new_encoder(media_type)
        self._parts: list[bytes] = []
        self._waiting = 0
        self.pending = 0

    def add(self, block_hash: Multihash, data: bytes) -> bytes:
        """Appends one entry; returns what can be sent already (often nothing)."""
        header, fill = write_header(block_hash, len(data)), padding(len(data))
        self._parts += (header, data, fill)
        size = len(header) + len(data) + len(fill)
        self._waiting += size
        self.pending += size
        return self._encode() if self._waiting >= _PIECE else b""

    def flush(self) -> bytes:
        """Everything that is still inside; costs a few bytes and some compression."""
        self.pending = 0
        return self._encode() + self._encoder.flush(isal_zlib.Z_SYNC_FLUSH)

    def finish(self) -> bytes:
        """Rest of the archive with its end mark. Nothing can be added afterwards."""
        self._parts.append(END_MARK)
        self.pending = 0
        return self._encode() + self._encoder.flush(isal_zlib.Z_FINISH)

    def _encode(self) -> bytes:
        data = b"".join(self._parts)
        self._parts.clear()
        self._waiting = 0
        return self._encoder.compress(data)


def iter_archive(
    blocks: Iterable[tuple[Multihash, bytes]], media_type: MediaType = MediaType.TAR_GZIP
) -> Iterator[bytes]:
    """Archive of `blocks` (oldest first) in pieces; takes them from the iterable one at a time."""
    writer = ArchiveWriter(media_type)
    for block_hash, data in blocks:
        if piece := writer.add(block_hash, data):
            yield piece
    yield writer.finish()


def write_archive(
    blocks: Iterable[tuple[Multihash, bytes]], media_type: MediaType = MediaType.TAR_GZIP
) -> bytes:
    """Archive of `blocks` (oldest first): one regular entry each, named by its hash, raw bytes within."""
    return b"".join(iter_archive(blocks, media_type))


def _new_encoder(media_type: MediaType) -> _Encoder:
    if media_type is MediaType.TAR:
        return _Stored()
    encoder: _Encoder = isal_zlib.compressobj(_LEVEL, isal_zlib.DEFLATED, _GZIP_WBITS)
    return encoder
