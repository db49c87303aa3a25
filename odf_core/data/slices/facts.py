"""What a data slice is found to be, whatever its block says of it."""

from dataclasses import dataclass
from typing import Any

from odf_core.data.errors import UnsupportedLogicalHashType
from odf_core.identity import Multihash


@dataclass(frozen=True, slots=True)
class OffsetFault:
    """The first place where the offsets do not go on by one: row (from 0), what stands there (None for a
    null), and what was expected."""

    row: int
    found: int | None
    expected: int


@dataclass(frozen=True, slots=True)
class SliceFacts:
    """A Parquet file that was read as a slice.

    `num_rows` counts the rows that were read, `size` the bytes of the file. `first_offset` and
    `last_offset` are None without rows and where there is no integer offset column. `arrow_schema` is the
    `pa.Schema` that the deployed implementation would see in the file. `null_counts` holds, by name of
    column, the nulls of columns of the file's top level: counted where all columns were read, else as its
    statistics tell them; no entry: not told.
    `logical_hash` is that of the rows, the error where a column has none, None where it was not asked for.
    """

    num_rows: int
    size: int
    first_offset: int | None
    last_offset: int | None
    offset_fault: OffsetFault | None
    arrow_schema: Any
    null_counts: dict[str, int]
    logical_hash: Multihash | UnsupportedLogicalHashType | None = None
