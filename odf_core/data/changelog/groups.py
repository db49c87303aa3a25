"""Which rows are alike in some columns, whatever the types of these."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

Numbers = npt.NDArray[np.int64]


def group_numbers(table: Any, columns: Sequence[str]) -> Numbers:
    """A number per row, the same for rows that are alike in `columns`; nulls are alike, NaNs too."""
    numbers = np.zeros(table.num_rows, dtype=np.int64)
    for name in columns:
        values = _numbers(table.column(name))
        # Numbered anew after each column, so that products stay below rows times rows.
        _, numbers = np.unique(numbers * (table.num_rows + 1) + values, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64)


def _numbers(column: Any) -> Numbers:
    """Equal values by equal numbers from 0 to the number of rows."""
    if pa.types.is_nested(column.type):
        seen: dict[Hashable, int] = {}
        return np.array([seen.setdefault(repr(item), len(seen)) for item in column.to_pylist()], np.int64)
    plain = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_dictionary(plain.type):
        plain = plain.dictionary_encode()
    return np.asarray(plain.indices.fill_null(-1)).astype(np.int64) + 1
