"""Inputs as streams of UTF-8 without a byte-order mark, whatever encoding they come in."""

import codecs
import io
from pathlib import Path
from typing import BinaryIO

from odf_core.ingest.read.errors import InvalidReadOption, WrongInputEncoding
from odf_core.limits import MiB

_PIECE = MiB
# Marks of other encodings, the longer first, and what to call them in the manifest.
_FOREIGN_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_ARCHIVE_MARKS = ((b"\x1f\x8b", "gzip"), (b"PK\x03\x04", "zip"))


class Utf8Stream(io.RawIOBase):
    """The bytes of a file as UTF-8; `bytes_read` counts those of the file itself.

    In UTF-8 the bytes pass as they are, without a byte-order mark, and who reads them judges them
    (`check_utf8` finds the place); in other encodings they are transcoded, and `WrongInputEncoding` is
    raised where that fails. Closing it closes the file.
    """

    def __init__(self, path: Path, encoding: str, *, name: str) -> None:
        self._file: BinaryIO = path.open("rb", buffering=0)
        self._decoder = None if encoding == "utf-8" else codecs.getincrementaldecoder(encoding)()
        self._encoding = encoding
        self._name = name
        self._ready = b""
        self._ended = False
        self.bytes_read = 0
        self._skip_mark()

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._file.close()
        super().close()

    def readinto(self, buffer: bytearray) -> int:  # type: ignore[override]
        data = self.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)

    def read(self, size: int = -1) -> bytes:
        if size is None or size < 0:
            return self.readall()
        while not self._ready and not self._ended:
            self._fill(size)
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def _fill(self, size: int) -> None:
        piece = self._file.read(_PIECE if self._decoder else max(1, size))
        self._ended = not piece
        if self._decoder is None:
            self._ready = piece
        else:
            self._ready = self._decode(piece)
        self.bytes_read += len(piece)

    def _decode(self, piece: bytes) -> bytes:
        assert self._decoder is not None
        pending = len(self._decoder.getstate()[0])
        try:
            return self._decoder.decode(piece, final=self._ended).encode("utf-8")
        except UnicodeDecodeError as error:
            raise _fault(self._name, self._encoding, self.bytes_read - pending + error.start) from error
        except (
            UnicodeError
        ) as error:  # half of a surrogate pair, or bytes without the mark that tells their order
            raise _fault(self._name, self._encoding, self.bytes_read) from error

    def _skip_mark(self) -> None:
        head = self._file.read(4)
        try:
            refuse_compressed(head, name=self._name)
        except WrongInputEncoding:
            self._file.close()
            raise
        for mark, encoding in _FOREIGN_MARKS:
            if self._decoder is None and head.startswith(mark):
                self._file.close()
                raise WrongInputEncoding.at(
                    self._name,
                    f"it begins with the mark of {encoding}; set `encoding: {encoding}` in the read step.",
                    byte=0,
                )
        skipped = 3 if self._encoding == "utf-8" and head.startswith(codecs.BOM_UTF8) else 0
        self.bytes_read = skipped
        self._file.seek(skipped)


def encoding_of(option: str | None) -> str:
    """Python's name of the encoding of a read step (`utf8` by default); raises `InvalidReadOption`."""
    try:
        info = codecs.lookup(option or "utf8")
        is_text = getattr(info, "_is_text_encoding", True) and info.incrementaldecoder is not None
    except (LookupError, ValueError):
        is_text = False
    if not is_text:
        raise InvalidReadOption(
            f"The read step's encoding {option!r} is not known; use utf8 or a name such as latin-1, utf-16 "
            "or windows-1251.",
            objects=["encoding"],
        )
    return "utf-8" if info.name in ("utf-8", "utf-8-sig", "ascii") else info.name


def check_utf8(path: Path, *, name: str) -> None:
    """Raises `WrongInputEncoding` with the position of the first byte that is no UTF-8, if there is one."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    position = 0
    with path.open("rb") as file:
        refuse_compressed(file.peek(4), name=name)
        while True:
            piece = file.read(_PIECE)
            pending = len(decoder.getstate()[0])
            try:
                decoder.decode(piece, final=not piece)
            except UnicodeDecodeError as error:
                raise _fault(name, "utf-8", position - pending + error.start) from error
            if not piece:
                return
            position += len(piece)


def refuse_compressed(head: bytes, *, name: str) -> None:
    """Raises `WrongInputEncoding` where text is due and the first bytes are those of an archive."""
    for mark, kind in _ARCHIVE_MARKS:
        if head.startswith(mark):
            raise WrongInputEncoding.at(
                name,
                f"it is compressed by {kind}; unpack it first, or have a polling source do so by a "
                "`decompress` step of `prepare`.",
                byte=0,
            )


def _fault(name: str, encoding: str, byte: int) -> WrongInputEncoding:
    return WrongInputEncoding.at(
        name,
        f"what stands here is no {encoding}; set the `encoding` of the read step to that of the file, or "
        "mend the file.",
        byte=byte,
    )
