"""Reading a slice for what a block claims about it, in bounded memory (data.md 2)."""

from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.data.errors import InvalidDataFile, SliceUnreadable
from odf_core.data.files.batches import read_batches
from odf_core.data.files.footer import Footer
from odf_core.data.files.parquet import OpenParquet, open_parquet, reading
from odf_core.data.files.reference_schema import reference_schema
from odf_core.data.files.source import Source, open_source
from odf_core.data.slices.facts import OffsetFault, SliceFacts
from odf_core.data.slices.vocabulary import DefaultVocabulary, Vocabulary
from odf_core.limits import Limits


def inspect_slice(
    source: Source, *, vocab: Vocabulary | None = None, limits: Limits | None = None
) -> SliceFacts:
    """Reads the footer and the offset column of a slice, a path or a seekable binary file object.

    Raises `SliceUnreadable` for a file that is no whole Parquet file, `DataFileLimitExceeded`, and
    `DataFileNotFound` or `DataFileUnavailable` where the medium fails.
    """
    vocabulary = vocab or DefaultVocabulary()
    with open_source(source) as file:
        try:
            with reading():
                size = int(file.size())
            parquet = open_parquet(file, limits or Limits())
            schema = reference_schema(parquet.file)
            offsets = _read_offsets(parquet, schema, vocabulary.offset_column)
            return SliceFacts(
                num_rows=offsets.count,
                size=size,
                first_offset=offsets.first,
                last_offset=offsets.last,
                offset_fault=offsets.fault,
                arrow_schema=schema,
                null_counts=_null_counts(parquet.footer),
            )
        except InvalidDataFile as error:
            raise SliceUnreadable(f"A data slice cannot be read. {error.message}") from error


class _Offsets:
    """Follows the offsets from batch to batch."""

    def __init__(self) -> None:
        self.count = 0
        self.first: int | None = None
        self.last: int | None = None
        self.fault: OffsetFault | None = None

    def follow(self, column: Any) -> None:
        """Takes in the next values; only the first fault is kept."""
        if self.fault is None:
            self._look_for_fault(column)
        self.count += len(column)
        if self.first is None:
            self.first = column[0].as_py()
        self.last = column[-1].as_py()

    def _look_for_fault(self, column: Any) -> None:
        values = np.asarray(column.fill_null(0)).astype(np.int64, copy=False)
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


def _read_offsets(parquet: OpenParquet, schema: Any, name: str) -> _Offsets:
    offsets = _Offsets()
    position = schema.get_field_index(name)
    declared = parquet.footer.num_rows
    if position < 0 or not pa.types.is_integer(schema.field(position).type):
        offsets.count = declared
        return offsets
    for batch in read_batches(parquet, column=name):
        offsets.follow(batch.column(name))
    if offsets.count != declared:
        raise InvalidDataFile(f"Its footer declares {declared} rows, but {offsets.count} are there.")
    return offsets


def _null_counts(footer: Footer) -> dict[str, int]:
    """Nulls by name of flat column, where every row group's statistics tell them."""
    counts: dict[str, int] = {}
    for index, leaf in enumerate(footer.leaves):
        told = [group.chunks[index].null_count for group in footer.row_groups]
        if len(leaf.path) == 1 and None not in told:
            counts[leaf.path[0].decode()] = sum(count for count in told if count is not None)
    return counts
