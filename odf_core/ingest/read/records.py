"""Records, as Python objects by the chunk, into staged files."""

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any, TypeAlias

import pyarrow as pa

from odf_core.ingest.read.convert import Formats
from odf_core.ingest.read.errors import UnexpectedInputShape
from odf_core.ingest.read.json_columns import json_column
from odf_core.ingest.read.json_infer import infer_schema
from odf_core.ingest.read.options import ReadOptions, ReadProgress
from odf_core.ingest.read.places import Place
from odf_core.ingest.read.staged_types import physical_schema
from odf_core.ingest.read.staging import StagingWriter
from odf_core.ingest.values import StagedInput

Record: TypeAlias = dict[str, Any]


def stage_records(
    chunks: Iterable[list[Record]],
    schema: Any | None,
    formats: Formats,
    workdir: Path,
    options: ReadOptions,
    file: str,
    *,
    bytes_read: Callable[[], int],
    progress: ReadProgress | None,
) -> StagedInput | None:
    """Stages records by name: what a record lacks is null, what a declared schema lacks is left out.

    Without a schema it is inferred from the first `infer_rows` records; a later record with a column that
    they lack is refused rather than cut. None where there is neither a record nor a schema.
    """
    chunks = iter(chunks)
    inferred = schema is None
    if schema is None:
        head = _head(chunks, options, bytes_read)
        if not head:
            return None
        schema = infer_schema(head[: options.infer_rows], file, options.limits)
        if not len(schema):
            raise UnexpectedInputShape.at(file, "its records have no columns at all.", row=1)
        chunks = chain([head], chunks)
    builder = _Batches(schema, formats, file, strict=inferred, sample=options.infer_rows)
    with StagingWriter(workdir, schema, split_bytes=options.split_bytes) as writer:
        for chunk in chunks:
            writer.write(builder.batch(chunk, writer.num_records + 1))
            if progress is not None:
                progress(bytes_read(), writer.num_records)
        return writer.finish(has_read_schema=not inferred)


def _head(
    chunks: Iterator[list[Record]], options: ReadOptions, bytes_read: Callable[[], int]
) -> list[Record]:
    """The sample for inference, cut short where records are so long that it would not fit in memory."""
    head = list(next(chunks, []))
    start = bytes_read()
    while len(head) < options.infer_rows and bytes_read() - start < options.record_bytes:
        chunk = next(chunks, None)
        if chunk is None:
            break
        head.extend(chunk)
    return head


class _Batches:
    def __init__(self, schema: Any, formats: Formats, file: str, *, strict: bool, sample: int) -> None:
        self._schema = physical_schema(schema)
        self._names = frozenset(schema.names)
        self._formats = formats
        self._file = file
        self._strict = strict
        self._sample = sample

    def batch(self, records: list[Record], first_row: int) -> Any:
        if self._strict:
            self._refuse_new_columns(records, first_row)
        arrays = [
            json_column(
                [record.get(field.name) for record in records],
                field.type, self._formats, Place(self._file, field.name, first_row),
            )
            for field in self._schema
        ]  # fmt: skip
        return pa.RecordBatch.from_arrays(arrays, schema=self._schema)

    def _refuse_new_columns(self, records: list[Record], first_row: int) -> None:
        for row, record in enumerate(records, start=first_row):
            if not record.keys() <= self._names:
                raise UnexpectedInputShape.at(
                    self._file,
                    f"the first {self._sample} rows, from which the schema is inferred, lack this column; "
                    "declare a schema in the read step.",
                    row=row,
                    column=min(record.keys() - self._names),
                )
