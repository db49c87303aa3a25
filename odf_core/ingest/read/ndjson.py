"""One JSON object a line, as chunks of records."""

from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from odf_core.ingest.read.errors import InputLimitExceeded, MalformedInput, UnexpectedInputShape
from odf_core.ingest.read.json_columns import kind_of
from odf_core.ingest.read.options import ReadOptions
from odf_core.ingest.read.records import Record
from odf_core.ingest.read.text_stream import Utf8Stream, check_utf8
from odf_core.limits import MiB

_PIECE = MiB
_FAULTS = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


def exact_numbers(schema: Any | None) -> bool:
    """Whether a schema has decimals, for which the digits of numbers are to be kept."""
    return schema is not None and any(_has_decimal(field.type) for field in schema)


def _has_decimal(t: Any) -> bool:
    return pa.types.is_decimal(t) or any(_has_decimal(t.field(index).type) for index in range(t.num_fields))


class NdJsonSource:
    """The lines of a file as records; empty lines are passed over. `bytes_read` tells how far it is."""

    def __init__(
        self, path: Path, encoding: str, *, name: str, options: ReadOptions, exact: bool = False
    ) -> None:
        self._path, self._encoding, self._name = path, encoding, name
        self._longest = options.record_bytes
        self._decoder = msgspec.json.Decoder(float_hook=Decimal if exact else None)
        self._row = 0
        self.bytes_read = 0

    def chunks(self) -> Iterator[list[Record]]:
        """Lists of records of about a MiB of text.

        Raises `MalformedInput`, `UnexpectedInputShape`, `WrongInputEncoding`, `InputLimitExceeded`.
        """
        with Utf8Stream(self._path, self._encoding, name=self._name) as stream:
            for block in self._blocks(stream.read):
                self.bytes_read = stream.bytes_read
                records = self._records(block)
                if records:
                    yield records

    def _blocks(self, read: Callable[[int], bytes]) -> Iterator[bytes]:
        """Whole lines, the last with or without its end."""
        held: list[bytes] = []
        size = 0
        while piece := read(_PIECE):
            end = piece.rfind(b"\n") + 1
            if end:
                yield b"".join([*held, piece[:end]])
                held, size = [], 0
            held.append(piece[end:])
            size += len(piece) - end
            if size > self._longest:
                raise InputLimitExceeded.at(
                    self._name, f"a line is longer than {self._longest} bytes.", row=self._row + 1
                )
        if held:
            yield b"".join(held)

    def _records(self, block: bytes) -> list[Record]:
        try:
            records = self._decoder.decode_lines(block)
        except _FAULTS:
            records = self._one_by_one(block)
        if set(map(type, records)) - {dict}:
            self._refuse_other(records)
        self._row += len(records)
        return records

    def _one_by_one(self, block: bytes) -> list[Any]:
        """The records of a block in which a line is faulty, to tell which."""
        records: list[Any] = []
        for line in block.split(b"\n"):
            if not line.strip():
                continue
            try:
                records.append(self._decoder.decode(line))
            except _FAULTS as error:
                if self._encoding == "utf-8":
                    check_utf8(self._path, name=self._name)
                raise MalformedInput.at(
                    self._name,
                    f"the line is no JSON ({_reason(error)}); each line is to hold one object.",
                    row=self._row + len(records) + 1,
                ) from error
        return records

    def _refuse_other(self, records: list[Any]) -> None:
        index = next(i for i, record in enumerate(records) if type(record) is not dict)
        found = kind_of(records[index])
        advice = "; use the read step Json for a document that is one array" if found == "an array" else ""
        raise UnexpectedInputShape.at(
            self._name, f"{found} stands where an object is due{advice}.", row=self._row + index + 1
        )


def _reason(error: Exception) -> str:
    return "it is nested too deeply" if isinstance(error, RecursionError) else str(error).rstrip(".")
