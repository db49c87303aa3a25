"""Gzip as a stream of members, with an eye on where it ends and how much comes out."""

from collections.abc import Iterator
from typing import cast

from isal import isal_zlib

_GZIP, _ZLIB = 31, 15
_ISAL_ERROR = cast("type[Exception]", isal_zlib.error)  # its stub calls it an instance
_MAGIC = b"\x1f\x8b"


class GzipBroken(ValueError):
    """What is wrong with the stream, as the end of a sentence; the caller knows whose stream it is."""


class Inflater:
    """Decompresses gzip (one member or several, zeros as padding after the last) or one zlib stream."""

    def __init__(self, *, gzip: bool = True, chunk_bytes: int) -> None:
        self._window = _GZIP if gzip else _ZLIB
        self._gzip = gzip
        self._chunk_bytes = chunk_bytes
        self._stream = isal_zlib.decompressobj(self._window)
        self._begun = False  # the current member has got bytes
        self._padding = False
        self.taken = 0
        self.given = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """What `data` decompresses to, in pieces of at most the chunk size. Raises `GzipBroken`."""
        while data:
            if self._stream.eof or self._padding:
                data = self._next_member(data)
                continue
            if self._gzip and not self._begun and not _MAGIC.startswith(data[:2]):
                raise GzipBroken("it does not begin like gzip")
            self._begun = True
            try:
                piece = self._stream.decompress(data, self._chunk_bytes)
            except _ISAL_ERROR as error:
                raise GzipBroken(f"it is corrupt near compressed byte {self.taken}: {error}") from error
            rest = self._stream.unused_data if self._stream.eof else self._stream.unconsumed_tail
            self.taken += len(data) - len(rest)
            if not piece and len(rest) == len(data) and not self._stream.eof:
                raise GzipBroken(f"it is corrupt near compressed byte {self.taken}")
            data = rest
            if piece:
                self.given += len(piece)
                yield piece
        yield from self._left_inside()

    def finish(self) -> None:
        """Raises `GzipBroken` where the stream ends before its end."""
        if not self._begun:
            raise GzipBroken("it is empty")
        if not self._stream.eof:
            raise GzipBroken(f"it is truncated: after {self.taken} compressed bytes the end is missing")

    def _left_inside(self) -> Iterator[bytes]:
        """Output that the decompressor still holds although it has taken all of its input."""
        while self._begun and not self._stream.eof:
            try:
                piece = self._stream.decompress(b"", self._chunk_bytes)
            except _ISAL_ERROR as error:
                raise GzipBroken(f"it is corrupt near compressed byte {self.taken}: {error}") from error
            if not piece:
                return
            self.given += len(piece)
            yield piece

    def _next_member(self, data: bytes) -> bytes:
        """What follows the end of a member: another one, or zeros up to the end."""
        stripped = data.lstrip(b"\0")
        if not stripped:
            self._padding = True
        elif self._padding or not self._gzip or len(stripped) < len(data) or not _MAGIC.startswith(data[:2]):
            raise GzipBroken(f"after its end, at compressed byte {self.taken}, other bytes follow")
        else:
            self._stream = isal_zlib.decompressobj(self._window)
            return data
        self.taken += len(data)
        return b""
