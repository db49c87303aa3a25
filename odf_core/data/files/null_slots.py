"""What the reference's Parquet reader leaves in the slots of nulls (data.md 1.6).

Its logical hash reads those slots where a nullable field lies below a nullable struct. The reader decodes
the values of a column chunk next to each other and then, from the back, moves each one to its row. So the
slot of a null at row r of a segment (the rows of one batch in one row group) keeps the r-th *value* of
that segment, or zeros where the segment has not so many.
"""

from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.data.digest.bits import own_validity, unpack
from odf_core.data.digest.types import is_list, is_variable_binary


def with_reference_slots(batch: Any, segments: list[tuple[int, int]]) -> Any:
    """The batch with struct columns whose null slots hold what the reference's reader leaves there.

    `segments` are the bounds of the batch's rows that lie in one row group each.
    """
    columns = [
        _rebuilt(column, segments) if pa.types.is_struct(column.type) else column for column in batch.columns
    ]
    fields = [pa.field(f.name, c.type, f.nullable) for f, c in zip(batch.schema, columns, strict=True)]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _rebuilt(array: Any, segments: list[tuple[int, int]]) -> Any:
    if pa.types.is_struct(array.type):
        children = [_rebuilt(array.field(i), segments) for i in range(array.type.num_fields)]
        fields = [pa.field(f.name, c.type, f.nullable) for f, c in zip(array.type, children, strict=True)]
        return pa.Array.from_buffers(pa.struct(fields), len(array), [_bitmap(array)], children=children)
    if array.null_count == 0 or is_list(array.type):  # a null list has no items in either reader
        return array
    return _spaced(array, segments)


def _bitmap(array: Any) -> Any:
    validity = own_validity(array)
    return None if validity is None else pa.py_buffer(validity)


def _spaced(array: Any, segments: list[tuple[int, int]]) -> Any:
    """The leaf with the slots of its nulls filled as the reference's reader does."""
    validity = own_validity(array)
    assert validity is not None
    valid = unpack(validity, len(array))
    sources = np.arange(len(array), dtype=np.int64)
    emptied = ~valid
    for start, stop in segments:
        values = start + np.flatnonzero(valid[start:stop])
        rows = np.arange(start, stop)
        stale = ~valid[start:stop] & (rows - start < len(values))
        sources[start:stop][stale] = values[(rows - start)[stale]]
        emptied[start:stop][stale] = False
    if is_variable_binary(array.type) and not _is_view(array.type):
        emptied = ~valid  # a null of a byte array column gets an empty range, whatever was decoded
    moved = _plain(array).take(pa.array(sources, mask=emptied))
    return pa.Array.from_buffers(moved.type, len(moved), [pa.py_buffer(validity), *moved.buffers()[1:]])


def _is_view(data_type: Any) -> bool:
    return bool(pa.types.is_string_view(data_type) or pa.types.is_binary_view(data_type))


def _plain(array: Any) -> Any:
    """View types as arrays with offsets: equal in the hash, and their slots can be moved."""
    if pa.types.is_string_view(array.type):
        return array.cast(pa.large_string())
    if pa.types.is_binary_view(array.type):
        return array.cast(pa.large_binary())
    return array
