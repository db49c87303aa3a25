"""The rows of a Parquet file in record batches, as the reference's reader would give them (data.md 1.1)."""

from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby, pairwise
from typing import Any

import pyarrow as pa

from odf_core.data.digest.columns import mixes_validity
from odf_core.data.errors import DataFileLimitExceeded
from odf_core.data.files.footer import Footer
from odf_core.data.files.null_slots import with_reference_slots
from odf_core.data.files.pages import PageSurvey
from odf_core.data.files.parquet import OpenParquet, reading
from odf_core.limits import MiB

REFERENCE_BATCH_ROWS = 10_000
_BATCH_BYTES = 16 * MiB
_WORST_BATCH_BYTES = 32 * MiB
_LEAST_ROWS = 1024
_MOST_ROWS = 1 << 17


def reference_batches(parquet: OpenParquet, schema: Any, *, threads: int) -> Iterator[Any]:
    """Record batches of `schema` (from `reference_schema`).

    Their bounds are free, and large batches fast, unless the hash depends on them: then they are the
    reference's 10,000 rows, and the slots of nulls hold what its reader leaves there (data.md 1.6).
    Raises `InvalidDataFile`, `DataFileLimitExceeded`.
    """
    batches = _converted(read_batches(parquet, use_threads=threads > 1), schema)
    if mixes_validity(schema):
        return _windows(batches, parquet.footer)
    return batches


def read_batches(
    parquet: OpenParquet,
    *,
    column: str | None = None,
    row_groups: Sequence[int] | None = None,
    use_threads: bool = False,
) -> Iterator[Any]:
    """Batches that are not empty, of one top-level column or of all, of all row groups or of these, small
    enough for any row there.

    Raises `InvalidDataFile`, `DataFileLimitExceeded`.
    """
    footer = parquet.footer
    leaves = None
    if column is not None:
        leaves = [i for i, leaf in enumerate(footer.leaves) if leaf.path[0] == column.encode()]
    survey = PageSurvey(parquet.native, footer, parquet.limits)
    usual = _usual_rows(footer)
    read = 0
    groups = range(len(footer.row_groups)) if row_groups is None else row_groups
    with reading():
        worst = [survey.row_bytes(group, columns=leaves) for group in groups]
    sizes = [min(usual, max(1, _WORST_BATCH_BYTES // max(1, row_bytes))) for row_bytes in worst]
    rows = dict(zip(groups, sizes, strict=True))
    for batch_rows, run in groupby(groups, key=rows.__getitem__):
        with reading():
            batches = parquet.file.iter_batches(
                batch_size=batch_rows,
                row_groups=list(run),
                columns=None if column is None else [column],
                use_threads=use_threads,
            )
        for batch in _not_empty(batches):
            read += batch.nbytes
            if read > parquet.limits.slice_expanded_bytes:
                raise DataFileLimitExceeded(
                    f"The rows of a Parquet file take more than {parquet.limits.slice_expanded_bytes} bytes."
                )
            yield batch


def _not_empty(batches: Iterator[Any]) -> Iterator[Any]:
    while True:
        with reading():
            batch = next(batches, None)
        if batch is None:
            return
        if len(batch):
            yield batch


def _usual_rows(footer: Footer) -> int:
    """So many rows that a batch takes about 16 MiB, by the sizes in the footer."""
    row_bytes = 8 * len(footer.leaves)
    for group in footer.row_groups:
        size = sum(chunk.uncompressed_size for chunk in group.chunks)
        row_bytes = max(row_bytes, size // max(1, group.num_rows))
    return max(_LEAST_ROWS, min(_MOST_ROWS, _BATCH_BYTES // max(1, row_bytes)))


def _converted(batches: Iterator[Any], schema: Any) -> Iterator[Any]:
    for batch in batches:
        with reading():
            pairs = zip(batch.columns, schema, strict=True)
            columns = [_as_type(column, field.type) for column, field in pairs]
            converted = pa.RecordBatch.from_arrays(columns, schema=schema)
        yield converted


def _as_type(column: Any, data_type: Any) -> Any:
    return column if column.type == data_type else column.cast(data_type, safe=False)


def _windows(batches: Iterator[Any], footer: Footer) -> Iterator[Any]:
    """Batches of exactly 10,000 rows (the last one fewer), counted from the file's first row on."""
    group_ends = list(accumulate(group.num_rows for group in footer.row_groups))
    position = 0
    held: list[Any] = []
    for batch in batches:
        held.append(batch)
        while sum(map(len, held)) >= REFERENCE_BATCH_ROWS:
            window, held = _split(held, REFERENCE_BATCH_ROWS)
            yield with_reference_slots(window, _segments(position, len(window), group_ends))
            position += len(window)
    if held:
        window, _ = _split(held, REFERENCE_BATCH_ROWS)
        yield with_reference_slots(window, _segments(position, len(window), group_ends))


def _split(held: list[Any], rows: int) -> tuple[Any, list[Any]]:
    """The first `rows` rows as one batch, and the rest."""
    joined = pa.concat_batches(held)
    rest = joined.slice(rows)
    return joined.slice(0, rows), [rest] if len(rest) else []


def _segments(start: int, length: int, group_ends: list[int]) -> list[tuple[int, int]]:
    """The parts of rows `start`…`start + length` that lie in one row group each, relative to `start`."""
    bounds = [0, *(end - start for end in group_ends if start < end < start + length), length]
    return list(pairwise(bounds))
