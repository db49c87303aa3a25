"""Escapes in quoted CSV values, written out as doubled quotes.

An escape character has a meaning within quoted values only, where it stands for the sign behind it; the
parser below knows doubled quotes alone (and would read an escape outside of quotes as well).
"""

import io
import re
from pathlib import Path

from odf_core.ingest.read.csv_options import CsvOptions
from odf_core.ingest.read.errors import MalformedInput
from odf_core.ingest.read.text_stream import Utf8Stream
from odf_core.limits import MiB

_PIECE = MiB


def has_escapes(path: Path, options: CsvOptions) -> bool:
    """Whether the file has the escape character at all; other encodings than UTF-8 are taken to."""
    if options.escape is None:
        return False
    if options.encoding != "utf-8":
        return True
    sign = options.escape.encode()
    with path.open("rb") as file:
        return any(sign in piece for piece in iter(lambda: file.read(4 * MiB), b""))


class EscapesWrittenOut(io.RawIOBase):
    """A UTF-8 stream with the escapes of quoted values written out; bounded by the longest record."""

    def __init__(self, source: Utf8Stream, options: CsvOptions, *, name: str, longest: int) -> None:
        assert options.quote is not None and options.escape is not None
        quote, escape, separator = (
            sign.encode() for sign in (options.quote, options.escape, options.separator)
        )
        q, e, s = re.escape(quote), re.escape(escape), re.escape(separator)
        # A quoted value: a quote at the start of a field, then no signs, doubled quotes and escapes, a quote.
        inside = b"".join((rb"(?:[^", q, e, rb"]+|", q, q, rb"|", e, rb"[\s\S])*+"))
        self._quoted = re.compile(b"".join((rb"(?<![^", s, rb"\r\n])", q, rb"(", inside, rb")(", q, rb")?")))
        self._escaped = re.compile(e + rb"([\s\S])")
        self._quote, self._escape = quote, escape
        self._ends = (separator, b"\n", b"\r")
        self._source, self._name, self._longest = source, name, longest
        self._rest = b""
        self._ready = b""
        self._ended = False

    def readable(self) -> bool:
        return True

    def close(self) -> None:
        self._source.close()
        super().close()

    def read(self, size: int = -1) -> bytes:
        if size is None or size < 0:
            return self.readall()
        while not self._ready and not self._ended:
            self._fill()
        data, self._ready = self._ready[:size], self._ready[size:]
        return data

    def _fill(self) -> None:
        piece = self._source.read(_PIECE)
        self._ended = not piece
        self._ready, self._rest = self._written_out(self._rest + piece)
        if len(self._rest) > self._longest:
            raise MalformedInput.at(
                self._name, f"a quoted value does not end within {self._longest} bytes; a quote is missing."
            )

    def _written_out(self, block: bytes) -> tuple[bytes, bytes]:
        """What is certain of a block, and the rest: its last field, which may go on in the next block."""
        pieces: list[bytes] = []
        position = after = start = 0
        for match in self._quoted.finditer(block):
            start, after = match.span()
            if not self._ended and (match[2] is None or after == len(block)):
                return b"".join([*pieces, block[position:start]]), block[start:]
            if self._escape in match[1]:
                pieces += [block[position:start], self._quote, self._doubled(match[1]), match[2] or b""]
                position = after
        end = len(block) if self._ended else self._field_start(block, after, start)
        if end < position:  # a sign behind the last quote: unusual, and right either way
            end = position
        return b"".join([*pieces, block[position:end]]), block[end:]

    def _field_start(self, block: bytes, after: int, quoted_start: int) -> int:
        """Where the block's last field begins; `after` is the end of the last quoted value."""
        found = max(block.rfind(end, after) for end in self._ends)
        return found + 1 if found >= 0 else quoted_start

    def _doubled(self, value: bytes) -> bytes:
        quote = self._quote
        return self._escaped.sub(lambda match: quote * 2 if match[1] == quote else match[1], value)
