"""The Parquet read step (data.md 3.2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from odf_core.data import DataFileLimitExceeded, InvalidDataFile, UnsupportedArrowType, arrow_schema_to_odf
from odf_core.data.files.batches import read_batches
from odf_core.data.files.parquet import open_parquet, reading
from odf_core.data.files.source import open_source
from odf_core.ingest.read.columns import require_unique
from odf_core.ingest.read.convert import Formats, convert_texts, first_fault, value_fault
from odf_core.ingest.read.errors import InputLimitExceeded, MalformedInput, UnsupportedInputType
from odf_core.ingest.read.options import ReadOptions, ReadProgress
from odf_core.ingest.read.places import Place
from odf_core.ingest.read.staged_types import staged_schema
from odf_core.ingest.read.staging import StagingWriter
from odf_core.ingest.values import StagedInput

_FORMATS = Formats()


def read_parquet(
    schema: Any | None,
    path: Path,
    workdir: Path,
    options: ReadOptions,
    progress: ReadProgress | None,
) -> StagedInput:
    """Stages a Parquet file, with a schema by name: what the file lacks is null, what the schema lacks is
    left out, and values are cast where none is changed by it (but for digits of a second)."""
    name = options.name or path.name
    with open_source(path) as file, _faults(name):
        parquet = open_parquet(file, options.limits)
        with reading():
            found = parquet.file.schema_arrow
        declared = schema if schema is not None else _own_schema(found, name)
        with StagingWriter(workdir, declared, split_bytes=options.split_bytes) as writer:
            for batch in read_batches(parquet, use_threads=True):
                writer.write(_staged(batch, writer, name))
                if progress is not None:
                    progress(file.tell(), writer.num_records)
            return writer.finish(has_read_schema=schema is not None)


def _own_schema(found: Any, name: str) -> Any:
    """The file's schema made plain; a column of nulls is one of strings. Raises `UnsupportedInputType`."""
    require_unique(found.names, name)
    plain = staged_schema(found)
    try:
        arrow_schema_to_odf(plain)
    except UnsupportedArrowType as error:
        raise UnsupportedInputType.at(name, error.message) from error
    fields = [pa.field(f.name, pa.string(), f.nullable) if pa.types.is_null(f.type) else f for f in plain]
    return pa.schema(fields)


def _staged(batch: Any, writer: StagingWriter, name: str) -> Any:
    arrays = []
    for field in writer.physical:
        index = batch.schema.get_field_index(field.name)
        if index < 0:
            if batch.schema.get_all_field_indices(field.name):
                require_unique(batch.schema.names, name)
            arrays.append(pa.nulls(len(batch), field.type))
        else:
            place = Place(name, field.name, writer.num_records + 1)
            arrays.append(_cast(batch.column(index), field.type, place))
    return pa.RecordBatch.from_arrays(arrays, schema=writer.physical)


def _cast(column: Any, data_type: Any, place: Place) -> Any:
    if column.type == data_type:
        return column
    try:
        if pa.types.is_dictionary(column.type):
            column = column.dictionary_decode()
        if _is_text(column.type) and not pa.types.is_nested(data_type):
            return convert_texts(column.cast(pa.string()), data_type, _FORMATS, place)
        if pa.types.is_timestamp(data_type) and pa.types.is_timestamp(column.type):
            return column.cast(data_type, safe=False)  # finer digits are cut off
        return column.cast(data_type)
    except pa.ArrowInvalid as error:
        index = first_fault(column, lambda part: part.cast(data_type))
        raise value_fault(column[index].as_py(), data_type, place, index) from error
    except pa.ArrowException as error:
        raise UnsupportedInputType.at(
            place.file,
            f"its type {column.type} cannot be read as {data_type}; change it in the read step's schema.",
            column=place.column,
        ) from error


def _is_text(t: Any) -> bool:
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t) or t.equals(pa.string_view()))


@contextmanager
def _faults(name: str) -> Iterator[None]:
    """The data plane's errors as ones about this input."""
    try:
        yield
    except InvalidDataFile as error:
        raise MalformedInput.at(name, f"it is no Parquet file that can be read. {error.message}") from error
    except DataFileLimitExceeded as error:
        raise InputLimitExceeded.at(name, error.message) from error
