"""Reading a slice for what a block claims about it, in bounded memory (data.md 2)."""

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.data.errors import InvalidDataFile, SliceUnreadable, UnsupportedLogicalHashType
from odf_core.data.files.batches import read_batches, reference_batches
from odf_core.data.files.footer import Footer
from odf_core.data.files.logical_hash import hash_rows_of
from odf_core.data.files.parquet import OpenParquet, open_parquet, reading
from odf_core.data.files.reference_schema import reference_schema
from odf_core.data.files.source import Source, open_source
from odf_core.data.slices.facts import OffsetFault, SliceFacts
from odf_core.data.slices.vocabulary import DefaultVocabulary, Vocabulary
from odf_core.identity import Multihash
from odf_core.limits import Limits


def inspect_slice(
    source: Source,
    *,
    vocab: Vocabulary | None = None,
    limits: Limits | None = None,
    hash_rows: int | None = None,
    threads: int | None = 1,
) -> SliceFacts:
    """Reads the footer and the offset column of a slice, a path or a seekable binary file object.

    Where the slice has at most `hash_rows` rows, all columns are read, and the same pass makes the logical
    hash, in so many `threads` (None: one for each processor). Raises `SliceUnreadable` for a file that is
    no whole Parquet file, `DataFileLimitExceeded`, and `DataFileNotFound` or `DataFileUnavailable` where
    the medium fails.
    """
    vocabulary = vocab or DefaultVocabulary()
    with open_source(source) as file:
        try:
            with reading():
                size = int(file.size())
            parquet = open_parquet(file, limits or Limits())
            schema = reference_schema(parquet.file)
            offsets = _Offsets(vocabulary.offset_column, schema)
            is_hashed = hash_rows is not None and parquet.footer.num_rows <= hash_rows
            nulls: dict[str, int] = {}
            logical_hash = _read_all(parquet, schema, offsets, nulls, threads) if is_hashed else None
            if not is_hashed:
                _read_offsets(parquet, offsets)
            return SliceFacts(
                num_rows=offsets.count,
                size=size,
                first_offset=offsets.first,
                last_offset=offsets.last,
                offset_fault=offsets.fault,
                arrow_schema=schema,
                null_counts=nulls if is_hashed else _null_counts(parquet.footer),
                logical_hash=logical_hash,
            )
        except InvalidDataFile as error:
            raise SliceUnreadable(f"A data slice cannot be read. {error.message}") from error


class _Offsets:
    """Follows the offsets from batch to batch, or counts rows where the column `name` is no offset."""

    def __init__(self, name: str, schema: Any) -> None:
        position = schema.get_field_index(name)
        self.name = name
        self.is_there = position >= 0 and pa.types.is_integer(schema.field(position).type)
        self.count = 0
        self.first: int | None = None
        self.last: int | None = None
        self.fault: OffsetFault | None = None

    def watch(self, batches: Iterable[Any]) -> Iterator[Any]:
        """The same batches, each looked at before it is given on."""
        for batch in batches:
            if self.is_there:
                self._follow(batch.column(self.name))
            else:
                self.count += len(batch)
            yield batch

    def _follow(self, column: Any) -> None:
        """Takes in the next values; only the first fault is kept."""
        if self.fault is None:
            self._look_for_fault(column)
        self.count += len(column)
        if self.first is None:
            self.first = column[0].as_py()
        self.last = column[-1].as_py()

    def _look_for_fault(self, column: Any) -> None:
        filled = column.fill_null(0) if column.null_count else column
        values = np.asarray(filled).astype(np.int64, copy=False)
        start = int(values[0]) if self.last is None else _as_int64(self.last + 1)
        wrong = values != np.arange(len(values), dtype=np.int64) + np.int64(start)
        if column.null_count:
            wrong |= np.asarray(column.is_null())
        if wrong.any():
            row = int(np.argmax(wrong))
            self.fault = OffsetFault(self.count + row, column[row].as_py(), start + row)


def _as_int64(number: int) -> int:
    """The number as 64 bits hold it: offsets may be unsigned, and a hostile one the largest."""
    return (number + (1 << 63)) % (1 << 64) - (1 << 63)


def _read_offsets(parquet: OpenParquet, offsets: _Offsets) -> None:
    if not offsets.is_there:
        offsets.count = parquet.footer.num_rows
        return
    _read_through(offsets.watch(read_batches(parquet, column=offsets.name)))
    _check_count(parquet, offsets)


def _read_all(
    parquet: OpenParquet, schema: Any, offsets: _Offsets, nulls: dict[str, int], threads: int | None
) -> Multihash | UnsupportedLogicalHashType:
    """Offsets, nulls and logical hash; where a column has no logical hash the others all the same."""
    count = threads if threads is not None else os.cpu_count() or 1
    batches = _counted(offsets.watch(reference_batches(parquet, schema, threads=count)), nulls)
    found: Multihash | UnsupportedLogicalHashType
    try:
        found = hash_rows_of(parquet, schema, batches, threads=count)
    except UnsupportedLogicalHashType as error:
        _read_through(batches)
        found = error
    _check_count(parquet, offsets)
    return found


def _read_through(batches: Iterable[Any]) -> None:
    for _ in batches:
        pass


def _check_count(parquet: OpenParquet, offsets: _Offsets) -> None:
    if offsets.count != parquet.footer.num_rows:
        raise InvalidDataFile(
            f"Its footer declares {parquet.footer.num_rows} rows, but {offsets.count} are there."
        )


def _counted(batches: Iterable[Any], nulls: dict[str, int]) -> Iterator[Any]:
    """The same batches; their nulls are added up, since statistics say what their writer liked."""
    for batch in batches:
        for name, column in zip(batch.schema.names, batch.columns, strict=True):
            nulls[name] = nulls.get(name, 0) + column.null_count
        yield batch


def _null_counts(footer: Footer) -> dict[str, int]:
    """Nulls by name of flat column, where every row group's statistics tell them."""
    counts: dict[str, int] = {}
    for index, leaf in enumerate(footer.leaves):
        told = [group.chunks[index].null_count for group in footer.row_groups]
        if len(leaf.path) == 1 and None not in told:
            counts[leaf.path[0].decode()] = sum(count for count in told if count is not None)
    return counts
