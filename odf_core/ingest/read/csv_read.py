"""The Csv read step: strings into typed columns, and those into staged files (data.md 3.2)."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa

from odf_core.ingest.read.ahead import one_ahead
from odf_core.ingest.read.columns import require_unique
from odf_core.ingest.read.convert import convert_texts
from odf_core.ingest.read.csv_infer import infer_column
from odf_core.ingest.read.csv_options import CsvOptions
from odf_core.ingest.read.csv_source import CsvSource
from odf_core.ingest.read.errors import MalformedInput
from odf_core.ingest.read.json_columns import nested_texts
from odf_core.ingest.read.options import ReadOptions, ReadProgress
from odf_core.ingest.read.places import Place
from odf_core.ingest.read.staging import StagingWriter
from odf_core.ingest.values import StagedInput
from odf_core.metadata import ReadStepCsv


def read_csv(
    step: ReadStepCsv,
    schema: Any | None,
    path: Path,
    workdir: Path,
    options: ReadOptions,
    progress: ReadProgress | None,
) -> StagedInput | None:
    """Stages a CSV file. With a (staged) schema its columns are the file's by position; without one they
    are strings, or inferred, named by the header or `column_1`, `column_2`, ... None where the file has
    nothing and no schema tells what it could have had."""
    name = options.name or path.name
    source = CsvSource(path, name, CsvOptions.of(step), options)
    if source.empty and schema is None:
        return None
    columns = _columns(source, schema, options)
    with StagingWriter(workdir, columns, split_bytes=options.split_bytes) as writer:
        for batch in _records(source):
            writer.write(_typed(batch, writer, source))
            if progress is not None:
                progress(source.bytes_read, writer.num_records)
        return writer.finish(has_read_schema=schema is not None)


def _records(source: CsvSource) -> Iterator[Any]:
    """The batches without the header."""
    batches = one_ahead(source.batches())
    if source.options.header:
        for batch in islice(batches, 1):
            if len(batch) > 1:
                yield batch.slice(1)
    yield from batches


def _columns(source: CsvSource, schema: Any | None, options: ReadOptions) -> Any:
    if schema is not None:
        if not source.empty and len(source.first) != len(schema):
            raise MalformedInput.at(
                source.name,
                f"it has {len(source.first)} columns where the read step's schema has {len(schema)}; "
                "columns are matched by position, and the separator is "
                f"{source.options.separator!r}.",
                row=None if source.options.header else 1,
            )
        return schema
    names = _names(source)
    if not source.options.infer_schema:
        return pa.schema([(name, pa.string()) for name in names])
    sample = _sample(source, options)
    types = [infer_column(column, source.options.formats) for column in sample]
    return pa.schema(list(zip(names, types, strict=True)))


def _names(source: CsvSource) -> list[str]:
    texts = source.first if source.options.header else [""] * len(source.first)
    names = [text or f"column_{number}" for number, text in enumerate(texts, start=1)]
    require_unique(names, source.name)
    return names


def _sample(source: CsvSource, options: ReadOptions) -> list[Any]:
    """The texts of the first rows by column, cut short where they are so long that they fill a split."""
    held: list[Any] = []
    rows = size = 0
    for batch in _records(source):
        held.append(batch.slice(0, options.infer_rows - rows))
        rows += len(held[-1])
        size += held[-1].nbytes
        if rows >= options.infer_rows or size >= options.split_bytes:
            break
    if not held:
        return [pa.array([], pa.string()) for _ in source.first]
    return [column.combine_chunks() for column in pa.Table.from_batches(held).columns]


def _typed(batch: Any, writer: StagingWriter, source: CsvSource) -> Any:
    first_row = writer.num_records + 1
    formats = source.options.formats
    arrays = [
        (nested_texts if pa.types.is_nested(field.type) else convert_texts)(
            column, field.type, formats, Place(source.name, field.name, first_row)
        )
        for column, field in zip(batch.columns, writer.physical, strict=True)
    ]
    return pa.RecordBatch.from_arrays(arrays, schema=writer.physical)
