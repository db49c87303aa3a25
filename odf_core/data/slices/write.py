"""Writing a data slice with the deployed writer's settings (data.md 2)."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data.errors import InvalidSliceInput
from odf_core.data.files.logical_hash import logical_hash_file
from odf_core.data.files.source import Source, open_source
from odf_core.data.slices.inspect import inspect_slice
from odf_core.data.slices.vocabulary import DefaultVocabulary, Vocabulary
from odf_core.identity import SHA3_256, Multihash
from odf_core.metadata import DataSlice, OffsetInterval

_CHUNK_BYTES = 1 << 20
_ROW_GROUP_ROWS = 1 << 20
_WRITER_SETTINGS: dict[str, Any] = {
    "version": "2.6",
    "data_page_version": "1.0",
    "compression": "snappy",
    "use_dictionary": True,
    "write_statistics": True,
    "store_schema": True,
    "data_page_size": 1 << 20,
    "dictionary_pagesize_limit": 1 << 20,
    "write_batch_size": 1024,
    "max_rows_per_page": 20_000,
}


@dataclass(frozen=True, slots=True)
class WrittenSlice:
    """A new slice: where it lies, and what a block has to say of it."""

    path: Path
    data_slice: DataSlice
    num_rows: int


def write_slice(
    rows: Any, path: str | os.PathLike[str], *, schema: Any = None, vocab: Vocabulary | None = None
) -> WrittenSlice:
    """Writes records, system columns included, to a Parquet file, and reads it again for its hashes.

    `rows` is a `pa.Table`, or record batches together with their `schema`; memory holds one row group.
    Dictionary columns become plain ones (data.md 1.5). Raises `InvalidSliceInput` where there are no
    rows or the offsets do not ascend by one, `UnsupportedLogicalHashType`; no file is then left.
    """
    target = Path(path)
    table_schema = rows.schema if schema is None else schema
    batches = rows.to_batches() if isinstance(rows, pa.Table) else rows
    try:
        write_rows(batches, _without_dictionaries(table_schema), target)
        return adopt_slice(target, vocab)
    except BaseException:
        target.unlink(missing_ok=True)
        raise


def physical_hash_file(source: Source) -> Multihash:
    """SHA3-256 of a whole file, in constant memory; raises `DataFileNotFound`, `DataFileUnavailable`."""
    hasher = hashlib.sha3_256()
    with open_source(source) as file:
        while chunk := file.read(_CHUNK_BYTES):
            hasher.update(chunk)
    return Multihash(SHA3_256, hasher.digest())


def adopt_slice(path: Path, vocab: Vocabulary | None = None) -> WrittenSlice:
    """What a block has to say of a slice that lies in `path`, whoever has written it.

    Raises `InvalidSliceInput` where there are no rows or the offsets do not ascend by one,
    `SliceUnreadable`, `UnsupportedLogicalHashType`.
    """
    vocabulary = vocab or DefaultVocabulary()
    facts = inspect_slice(path, vocab=vocabulary)
    if facts.first_offset is None or facts.last_offset is None:
        raise InvalidSliceInput(f"A slice needs rows with an integer column {vocabulary.offset_column!r}.")
    if facts.offset_fault is not None:
        raise InvalidSliceInput(
            f"Offsets have to ascend by one, but row {facts.offset_fault.row} has {facts.offset_fault.found}."
        )
    data_slice = DataSlice(
        logical_hash=logical_hash_file(path),
        physical_hash=physical_hash_file(path),
        offset_interval=OffsetInterval(start=facts.first_offset, end=facts.last_offset),
        size=facts.size,
    )
    return WrittenSlice(path, data_slice, facts.num_rows)


def write_rows(batches: Iterable[Any], schema: Any, target: Path) -> None:
    """Writes record batches as a slice is written, and does not look at it again.

    Memory holds one row group. Raises `InvalidSliceInput`; the file is then incomplete.
    """
    try:
        with pq.ParquetWriter(target, schema, **_WRITER_SETTINGS) as writer:
            for group in _row_groups(batches, schema):
                writer.write_table(group, row_group_size=_ROW_GROUP_ROWS)
    except (pa.ArrowException, ValueError) as error:
        raise InvalidSliceInput(f"Rows cannot be written as Parquet: {str(error).rstrip('.')}.") from error


def _row_groups(batches: Iterable[Any], schema: Any) -> Iterator[Any]:
    """The rows in tables of one full row group each; the last one has the rest."""
    held: list[Any] = []
    rows = 0
    for batch in batches:
        held.append(batch.cast(schema))
        rows += len(batch)
        while rows >= _ROW_GROUP_ROWS:
            table = pa.Table.from_batches(held, schema)
            yield table.slice(0, _ROW_GROUP_ROWS)
            held = table.slice(_ROW_GROUP_ROWS).to_batches()
            rows -= _ROW_GROUP_ROWS
    if rows:
        yield pa.Table.from_batches(held, schema)


def _without_dictionaries(schema: Any) -> Any:
    fields = [
        field.with_type(field.type.value_type) if pa.types.is_dictionary(field.type) else field
        for field in schema
    ]
    return pa.schema(fields)
