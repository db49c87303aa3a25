"""Opening a Parquet file that somebody else wrote, within limits (data.md 2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data.errors import DataFileLimitExceeded, InvalidDataFile
from odf_core.limits import KiB, Limits, MiB

MAGIC = b"PAR1"
_TAIL = 8
_BUFFERS_BYTES = 64 * MiB

# All that pyarrow raises on bytes that are no valid file: its own errors, OSError for what the Parquet
# library finds, ValueError (and with it UnicodeDecodeError) for what it finds on the way to Python.
READ_ERRORS = (pa.ArrowException, OSError, ValueError)


def open_parquet(file: Any, limits: Limits) -> Any:
    """A `pq.ParquetFile` over a `pa.NativeFile`, its footer read and held against `limits`.

    Column chunks are read through buffers of bounded size, not whole. Raises `InvalidDataFile` and
    `DataFileLimitExceeded`.
    """
    footer = _footer_bytes(file)
    if footer > limits.slice_footer_bytes:
        raise DataFileLimitExceeded(
            f"The footer of a Parquet file has {footer} bytes, more than the limit of "
            f"{limits.slice_footer_bytes}."
        )
    with reading():
        metadata = pq.read_metadata(file)
        _check_counts(metadata, limits)
        return pq.ParquetFile(
            file,
            metadata=metadata,
            pre_buffer=False,
            buffer_size=_buffer_bytes(metadata.num_columns),
            schema_depth_limit=limits.nesting_depth,
            arrow_extensions_enabled=False,
        )


@contextmanager
def reading() -> Iterator[None]:
    """Turns what pyarrow raises on a malformed file into `InvalidDataFile`."""
    try:
        yield
    except READ_ERRORS as error:
        raise InvalidDataFile(f"This is no readable Parquet or Arrow file: {_first_line(error)}.") from error


def _first_line(error: Exception) -> str:
    text = str(error).strip().splitlines()
    return text[0].rstrip(".")[:200] if text else type(error).__name__


def _footer_bytes(file: Any) -> int:
    with reading():
        size = int(file.size())
        if size < len(MAGIC) + _TAIL:
            raise InvalidDataFile(f"A file of {size} bytes is too short for Parquet.")
        file.seek(size - _TAIL)
        tail = file.read(_TAIL)
    if tail[4:] != MAGIC:
        raise InvalidDataFile("The file does not end as a Parquet file does.")
    footer = int.from_bytes(tail[:4], "little")
    if footer > size - len(MAGIC) - _TAIL:
        raise InvalidDataFile(f"A Parquet footer of {footer} bytes does not fit a file of {size} bytes.")
    return footer


def _check_counts(metadata: Any, limits: Limits) -> None:
    for what, count, most in (
        ("columns", metadata.num_columns, limits.slice_columns),
        ("row groups", metadata.num_row_groups, limits.slice_row_groups),
        ("column chunks", metadata.num_columns * metadata.num_row_groups, limits.slice_column_chunks),
        ("rows", metadata.num_rows, limits.slice_rows),
    ):
        if count > most:
            raise DataFileLimitExceeded(
                f"A Parquet file has {count} {what}, more than the limit of {most}.",
                extras={"count": count, "limit": most},
            )


def _buffer_bytes(columns: int) -> int:
    return max(16 * KiB, min(MiB, _BUFFERS_BYTES // max(1, columns)))
