"""The logical hash of a stored file, read in a stream (data.md 1.1)."""

import os
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from odf_core.data.digest.record import RecordDigest
from odf_core.data.errors import InvalidDataFile
from odf_core.data.files.batches import reference_batches
from odf_core.data.files.footer import MAGIC, Footer
from odf_core.data.files.parquet import OpenParquet, open_parquet, reading
from odf_core.data.files.reference_schema import reference_schema
from odf_core.data.files.source import Source, open_source
from odf_core.data.schema.texts import read_texts
from odf_core.identity import Multihash
from odf_core.limits import Limits

_ARROW_FILE = b"ARROW1"
_STREAM_CONTINUATION = b"\xff\xff\xff\xff"


def logical_hash_file(
    source: Source, *, threads: int | None = None, limits: Limits | None = None
) -> Multihash:
    """The `arrow0-sha3-256` hash of a Parquet file, an Arrow IPC file or an Arrow IPC stream.

    `source` is a path or a seekable binary file object. Memory does not grow with the file. Of a Parquet
    file it is the hash that the deployed implementation stores for it. Raises `InvalidDataFile`,
    `DataFileLimitExceeded`, `UnsupportedLogicalHashType`, `DataFileNotFound`, `DataFileUnavailable`.
    """
    count = threads if threads is not None else os.cpu_count() or 1
    with open_source(source) as file:
        with reading():
            start = file.read(len(_ARROW_FILE))
            file.seek(0)
        if start.startswith(MAGIC):
            return _hash_parquet(file, count, limits or Limits())
        if start == _ARROW_FILE:
            return _hash_ipc(_ipc_file(file), count, expected=file.size())
        if start.startswith(_STREAM_CONTINUATION):
            return _hash_ipc(_ipc_stream(file), count, expected=file.size())
    raise InvalidDataFile("The file is neither Parquet nor Arrow IPC: it starts as none of them does.")


def _hash_parquet(file: Any, threads: int, limits: Limits) -> Multihash:
    parquet_file = open_parquet(file, limits)
    schema = reference_schema(parquet_file.file)
    batches = reference_batches(parquet_file, schema, threads=threads)
    return hash_rows_of(parquet_file, schema, batches, threads=threads)


def hash_rows_of(parquet: OpenParquet, schema: Any, batches: Iterable[Any], *, threads: int) -> Multihash:
    """The logical hash of an open file's `reference_batches`; raises `UnsupportedLogicalHashType` and what
    reading the batches raises."""
    with RecordDigest(schema, threads=threads, expected=_expanded_bytes(parquet.footer)) as digest:
        for batch in batches:
            digest.update(batch)
        return digest.finish()


def _expanded_bytes(footer: Footer) -> int:
    """What the rows take about; only the file's word."""
    return sum(chunk.uncompressed_size for group in footer.row_groups for chunk in group.chunks)


def _hash_ipc(batches: Any, threads: int, *, expected: int) -> Multihash:
    schema = next(batches)
    with RecordDigest(schema, threads=threads, expected=expected) as digest:
        for batch in batches:
            with reading():
                batch.validate(full=True)  # offsets in an IPC message are the writer's word
            digest.update(batch)
        return digest.finish()


def _ipc_file(file: Any) -> Any:
    """The schema, then the batches, of an IPC file."""
    with reading():
        reader = pa.ipc.open_file(file)
        read_texts(reader.schema)
    yield reader.schema
    for index in range(reader.num_record_batches):
        with reading():
            batch = reader.get_batch(index)
        yield batch


def _ipc_stream(file: Any) -> Any:
    """The schema, then the batches, of an IPC stream."""
    with reading():
        reader = pa.ipc.open_stream(file)
        read_texts(reader.schema)
    yield reader.schema
    while True:
        try:
            with reading():
                batch = reader.read_next_batch()
        except StopIteration:
            return
        yield batch
