"""An array of objects within a JSON document, streamed as chunks of records."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import ijson

from odf_core.ingest.read.errors import InputLimitExceeded, MalformedInput, UnexpectedInputShape
from odf_core.ingest.read.json_columns import kind_of
from odf_core.ingest.read.options import ReadOptions
from odf_core.ingest.read.records import Record
from odf_core.ingest.read.text_stream import Utf8Stream, check_utf8
from odf_core.limits import KiB, MiB

_PIECE = 256 * KiB
_CHUNK_BYTES = MiB
_CHUNK_ROWS = 8192
_KINDS = {
    "start_map": "an object",
    "start_array": "an array",
    "null": "null",
    "boolean": "a boolean",
    "string": "a string",
}


class JsonSource:
    """The objects of the array at `sub_path` (keys between dots; None is the root).

    Numbers with a point are `Decimal`, or floats if `floats` is set. A key that an object has twice has
    its last value. `bytes_read` tells how far it is.
    """

    def __init__(
        self,
        path: Path,
        encoding: str,
        sub_path: str | None,
        *,
        name: str,
        options: ReadOptions,
        floats: bool = False,
        advice: str = "set or mend the `subPath` of the read step",
    ) -> None:
        self._path, self._encoding, self._name = path, encoding, name
        self._prefix = sub_path or ""
        self._floats = floats
        self._advice = advice
        self._longest = options.record_bytes
        self.bytes_read = 0

    def chunks(self) -> Iterator[list[Record]]:
        """Lists of records; raises `MalformedInput`, `UnexpectedInputShape`, `WrongInputEncoding`."""
        array_start = self._require_array()
        item = f"{self._prefix}.item" if self._prefix else "item"
        row = 0
        with self._stream() as stream:
            records: list[Record] = []
            chunk_start = 0
            bounded = _Bounded(stream, self._longest, array_start, self._name)
            for value in self._values(bounded, item):
                row += 1
                bounded.restart(row)
                if type(value) is not dict:
                    raise UnexpectedInputShape.at(
                        self._name, f"{kind_of(value)} stands where an object is due.", row=row
                    )
                records.append(value)
                if len(records) >= _CHUNK_ROWS or stream.bytes_read - chunk_start >= _CHUNK_BYTES:
                    chunk_start = self.bytes_read = stream.bytes_read
                    yield records
                    records = []
            self.bytes_read = stream.bytes_read
            if records:
                yield records

    def find(self, *prefixes: str) -> tuple[str, str, Any] | None:
        """The first of the parser's events at one of the prefixes, as prefix, event and value.

        None where the document ends without one.
        """
        with self._stream() as stream:
            events = self._guarded(ijson.parse(stream, buf_size=_PIECE), None)
            found = next((event for event in events if event[0] in prefixes), None)
            self.bytes_read = stream.bytes_read
            return found

    def _require_array(self) -> int:
        """Checks what stands at the sub-path; returns how many bytes were read to see it."""
        found = self.find(self._prefix)
        where = f"at {self._prefix!r}" if self._prefix else "at the root"
        if found is None:
            raise UnexpectedInputShape.at(self._name, f"the document has nothing {where}; {self._advice}.")
        if found[1] != "start_array":
            advice = self._advice
            if found[1] == "start_map" and not self._prefix:
                advice = "set the `subPath` of the read step, or use NdJson for one object a line"
            raise UnexpectedInputShape.at(
                self._name,
                f"{_KINDS.get(found[1], 'a number')} stands {where}, where an array of objects is due; "
                f"{advice}.",
            )
        return self.bytes_read

    def _values(self, stream: "_Bounded", prefix: str) -> Iterator[Any]:
        return self._guarded(ijson.items(stream, prefix, use_float=self._floats, buf_size=_PIECE), 0)

    @contextmanager
    def _stream(self) -> Iterator[Utf8Stream]:
        with Utf8Stream(self._path, self._encoding, name=self._name) as stream:
            yield stream

    def _guarded(self, events: Iterator[Any], row: int | None) -> Iterator[Any]:
        """Turns the parser's complaints into sentences; `row` counts records where they are given."""
        while True:
            try:
                event = next(events, _END)
            except (ijson.JSONError, ValueError, OverflowError) as error:
                if self._encoding == "utf-8":
                    check_utf8(self._path, name=self._name)
                raise MalformedInput.at(
                    self._name, _sentence(error), row=None if row is None else row + 1
                ) from error
            if event is _END:
                return
            row = None if row is None else row + 1
            yield event


class _Bounded:
    """The stream for the parser of records, which builds one in memory before it gives it out."""

    def __init__(self, stream: Utf8Stream, longest: int, start: int, name: str) -> None:
        self._stream, self._longest, self._name = stream, longest, name
        self._start = start
        self._row = 0

    def restart(self, row: int) -> None:
        """A record has been given out: the next one begins about here."""
        self._start, self._row = max(self._start, self._stream.bytes_read), row

    def read(self, size: int) -> bytes:
        if self._stream.bytes_read - self._start > self._longest:
            raise InputLimitExceeded.at(
                self._name,
                f"a record, or what follows the last one, is longer than {self._longest} bytes.",
                row=self._row + 1,
            )
        return self._stream.read(size)


_END = object()


def _sentence(error: Exception) -> str:
    text = str(error.args[0] if error.args else error)
    first = text.removeprefix("b'").splitlines()[0].split("\\n")[0].strip() if text else type(error).__name__
    if "premature EOF" in first or "Incomplete" in first:
        return "the document ends before it is complete; it is cut off."
    return f"the document is no JSON ({first.rstrip('.')})."
