"""CSV as a stream of batches of strings."""

import io
import re
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from odf_core.ingest.read.csv_escapes import EscapesWrittenOut, has_escapes
from odf_core.ingest.read.csv_options import CsvOptions
from odf_core.ingest.read.errors import InputLimitExceeded, MalformedInput
from odf_core.ingest.read.options import ReadOptions
from odf_core.ingest.read.text_stream import Utf8Stream, check_utf8
from odf_core.limits import KiB

_TAIL = 64 * KiB
_SHOWN = 80
# How pyarrow words its complaint about a record of another width than the first.
_RAGGED = re.compile(r"Row #(\d+): Expected (\d+) columns, got (\d+): (.*)", re.DOTALL)


@dataclass(slots=True)
class CsvSource:
    """A CSV file: its width, the texts of its first record, and its batches of strings, read from the start.

    Quoted values may hold line ends. A record of another width than the first is an error.
    """

    path: Path
    name: str
    options: CsvOptions
    bounds: ReadOptions
    first: list[str] = field(init=False)
    bytes_read: int = field(init=False, default=0)
    _escaped: bool = field(init=False)

    def __post_init__(self) -> None:
        self._escaped = has_escapes(self.path, self.options)
        self.first = self._first_record()

    @property
    def empty(self) -> bool:
        """Whether there is no record at all, not even a header."""
        return not self.first

    def batches(self) -> Generator[Any, None, None]:
        """Record batches of string columns f0, f1, ..., the header among the rows; nulls are made.

        Raises `MalformedInput`, `WrongInputEncoding`.
        """
        if self.empty:
            return
        with self._open() as (source, stream), self._faults():
            reader = self._reader(stream, width=len(self.first))
            last = None
            for batch in reader:
                self.bytes_read = source.bytes_read
                if len(batch):
                    last = batch
                    yield batch
            self._check_end(stream.tail, last)

    def _first_record(self) -> list[str]:
        with self._open() as (_, stream), self._faults():
            try:
                reader = self._reader(stream, width=0)
            except pa.ArrowInvalid:
                if not stream.tail.strip(b"\r\n") and not stream.read(1):
                    return []
                raise
            width = len(reader.schema)
        if width > self.bounds.limits.slice_columns:
            raise InputLimitExceeded.at(
                self.name, f"{width} columns are more than {self.bounds.limits.slice_columns}.", row=1
            )
        with self._open() as (_, stream), self._faults():
            reader = self._reader(stream, width=width, nulls=False)
            batch = next(batch for batch in reader if len(batch))
            return [column[0].as_py() for column in batch.columns]

    @contextmanager
    def _open(self) -> Iterator[tuple[Utf8Stream, "_Tailed"]]:
        source = Utf8Stream(self.path, self.options.encoding, name=self.name)
        stream: io.RawIOBase = source
        if self._escaped:
            stream = EscapesWrittenOut(source, self.options, name=self.name, longest=self.bounds.block_bytes)
        with stream:
            yield source, _Tailed(stream)

    def _reader(self, stream: "_Tailed", *, width: int, nulls: bool = True) -> Any:
        options = self.options
        return pa_csv.open_csv(
            stream,
            read_options=pa_csv.ReadOptions(
                use_threads=False, block_size=self.bounds.block_bytes, autogenerate_column_names=True
            ),
            parse_options=pa_csv.ParseOptions(
                delimiter=options.separator,
                quote_char=options.quote or False,
                escape_char=False,
                newlines_in_values=options.quote is not None,
            ),
            convert_options=pa_csv.ConvertOptions(
                column_types={f"f{index}": pa.string() for index in range(width)},
                strings_can_be_null=nulls,
                null_values=list(options.nulls),
            ),
        )

    @contextmanager
    def _faults(self) -> Iterator[None]:
        """pyarrow's complaints as sentences about a row or a byte."""
        try:
            yield
        except pa.ArrowInvalid as error:
            if self.options.encoding == "utf-8":
                check_utf8(self.path, name=self.name)
            raise self._fault(str(error)) from error

    def _fault(self, text: str) -> MalformedInput:
        ragged = _RAGGED.search(text)
        if ragged is not None:
            row, expected, actual, record = ragged.groups()
            return MalformedInput.at(
                self.name,
                f"it has {actual} values where {expected} are due ({record[:_SHOWN]!r}); mend the row, or "
                f"quote values that hold the separator {self.options.separator!r}.",
                row=int(row) - int(self.options.header),
            )
        if "straddl" in text or "Empty CSV" in text:
            return MalformedInput.at(
                self.name,
                f"a record does not end within {self.bounds.block_bytes} bytes, or not before the file does; "
                "a quote that is opened may never be closed.",
            )
        return MalformedInput.at(self.name, f"it is no CSV that can be read: {text.splitlines()[0]}")

    def _check_end(self, tail: bytes, last: Any) -> None:
        """Refuses a file that ends within a quoted value, which the parser takes for its end."""
        if self.options.quote is None or last is None:
            return
        value = last.column(last.num_columns - 1)[-1].as_py() or ""
        quote = self.options.quote
        opened = (quote + value.replace(quote, quote * 2)).encode()
        closed = tuple(opened + quote.encode() + end for end in (b"", b"\n", b"\r\n", b"\r"))
        before = tail[: -len(opened)][-1:]
        starts_field = before in (b"", b"\n", b"\r", self.options.separator.encode())
        if tail.endswith(opened) and starts_field and not tail.endswith(closed):
            raise MalformedInput.at(
                self.name,
                "it ends within a quoted value; the file is cut off, or a quote is missing.",
            )


class _Tailed(io.RawIOBase):
    """A stream that gives as many bytes as are asked for while there are any, and remembers the last.

    The parser makes a block of each answer, and a block without a whole record is none to it.
    """

    def __init__(self, stream: io.RawIOBase) -> None:
        self._stream = stream
        self.tail = b""

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        pieces = [self._stream.read(size) or b""]
        left = size - len(pieces[0])
        while left > 0 and pieces[-1]:
            pieces.append(self._stream.read(left) or b"")
            left -= len(pieces[-1])
        data = b"".join(pieces)
        self.tail = data[-_TAIL:] if len(data) >= _TAIL else (self.tail + data)[-_TAIL:]
        return data
