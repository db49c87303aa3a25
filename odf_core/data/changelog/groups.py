"""Which rows are alike in some columns, whatever the types of these."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

Numbers = npt.NDArray[np.int64]


def group_numbers(table: Any, columns: Sequence[str]) -> Numbers:
    """A number per row, the same for rows that are alike in `columns`: nulls are alike, NaNs, both zeros, and
    maps of the same entries in any order."""
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
        texts = (repr(_alike(item, column.type)) for item in column.to_pylist())
        return np.array([seen.setdefault(text, len(seen)) for text in texts], np.int64)
    if pa.types.is_float16(column.type):
        column = column.cast(pa.float32())
    if pa.types.is_floating(column.type):
        column = pc.add(column, pa.scalar(0, column.type))  # minus zero becomes zero
    plain = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if not pa.types.is_dictionary(plain.type):
        plain = plain.dictionary_encode()
    return np.asarray(plain.indices.fill_null(-1)).astype(np.int64) + 1


def _alike(value: Any, data_type: Any) -> Any:
    """A Python value whose text is the same for values that are alike."""
    if value is None:
        return None
    if pa.types.is_map(data_type):
        key, item = data_type.key_type, data_type.item_type
        return sorted((repr(_alike(one, key)), repr(_alike(other, item))) for one, other in value)
    if pa.types.is_struct(data_type):
        return [_alike(value[field.name], field.type) for field in data_type]
    if pa.types.is_nested(data_type):
        return [_alike(item, data_type.value_type) for item in value]
    return value + 0.0 if pa.types.is_floating(data_type) else value
