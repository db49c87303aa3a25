"""What happens to records whose source has neither a preprocess step nor a read schema (data.md 3.3)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from odf_core.data.slices.vocabulary import Vocabulary
from odf_core.ingest.read.convert import Formats, convert_texts, first_fault, value_fault
from odf_core.ingest.read.options import ReadOptions
from odf_core.ingest.read.places import Place
from odf_core.ingest.read.staging import StagingWriter
from odf_core.ingest.values import StagedInput

_EVENT_TIME = pa.timestamp("ms", "UTC")
_SECONDS_TYPES = (pa.int16(), pa.int32(), pa.int64(), pa.uint16(), pa.uint32(), pa.uint64())
# Strategies whose input may not carry operation types of its own (data.md 3.4).
_WITHOUT_OPERATIONS = ("append", "ledger", "snapshot")
_DEFAULTS = ReadOptions()


def default_preprocess(
    staged: StagedInput,
    vocab: Vocabulary,
    strategy_kind: str,
    workdir: Path,
    options: ReadOptions = _DEFAULTS,
) -> StagedInput:
    """Renames columns named like system columns to `_<name>`, and reads the event time.

    An event-time column of integers (16 bits and more) is taken for seconds since 1970, one of strings
    for RFC 3339; both become timestamps in milliseconds UTC. `strategy_kind` is the merge strategy's name
    (`Append`, ...). With a read schema nothing happens, and where nothing is to change the staged input
    comes back as it is; otherwise `workdir` gets new files and those of `staged` are removed.

    Raises `ValueDoesNotFit`.
    """
    if staged.has_read_schema:
        return staged
    names = _new_names(staged.schema.names, vocab, strategy_kind)
    convert = _event_time_conversion(staged.schema, vocab.event_time_column)
    if names == staged.schema.names and convert is None:
        return staged
    fields = []
    for field, name in zip(staged.schema, names, strict=True):
        is_event_time = convert is not None and field.name == vocab.event_time_column
        fields.append(pa.field(name, _EVENT_TIME if is_event_time else field.type, field.nullable))
    place = Place(options.name or "input", vocab.event_time_column, 1)
    return _rewritten(staged, pa.schema(fields), convert, place, workdir, options)


def _new_names(names: list[str], vocab: Vocabulary, strategy_kind: str) -> list[str]:
    reserved = {vocab.offset_column, vocab.system_time_column}
    if strategy_kind.lower() in _WITHOUT_OPERATIONS:
        reserved.add(vocab.operation_type_column)
    taken = set(names)
    renamed = []
    for name in names:
        new = name
        while new in reserved or (new != name and new in taken):
            new = f"_{new}"
        taken.add(new)
        renamed.append(new)
    return renamed


def _event_time_conversion(schema: Any, name: str) -> Callable[[Any, Place], Any] | None:
    index = schema.get_field_index(name)
    if index < 0:
        return None
    if pa.types.is_string(schema.field(index).type):
        return lambda column, place: convert_texts(column, _EVENT_TIME, Formats(), place)
    return _from_seconds if schema.field(index).type in _SECONDS_TYPES else None


def _from_seconds(column: Any, place: Place) -> Any:
    try:
        return _milliseconds(column)
    except pa.ArrowInvalid as error:
        index = first_fault(column, _milliseconds)
        raise value_fault(column[index].as_py(), _EVENT_TIME, place, index) from error


def _milliseconds(column: Any) -> Any:
    return pc.multiply_checked(column.cast(pa.int64()), 1000).cast(_EVENT_TIME)


def _rewritten(
    staged: StagedInput,
    schema: Any,
    convert: Callable[[Any, Place], Any] | None,
    place: Place,
    workdir: Path,
    options: ReadOptions,
) -> StagedInput:
    """A second pass over the files, a batch at a time."""
    with StagingWriter(workdir, schema, split_bytes=options.split_bytes, prefix="preprocessed") as writer:
        for path in staged.files:
            with pq.ParquetFile(path) as file:
                for batch in file.iter_batches():
                    columns = list(batch.columns)
                    if convert is not None:
                        index = staged.schema.get_field_index(place.column)
                        here = Place(place.file, place.column, writer.num_records + 1)
                        columns[index] = convert(columns[index], here)
                    writer.write(pa.RecordBatch.from_arrays(columns, schema=writer.physical))
        result = writer.finish(has_read_schema=False)
    for path in staged.files:
        path.unlink(missing_ok=True)
    return result
