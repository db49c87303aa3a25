"""Opening a Parquet file that somebody else wrote, within limits (data.md 2)."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.data.errors import InvalidDataFile
from odf_core.data.files.footer import Footer, read_footer
from odf_core.limits import KiB, Limits, MiB

_BUFFERS_BYTES = 64 * MiB

# All that pyarrow raises on bytes that are no valid file: its own errors, OSError for what the Parquet
# library finds, ValueError (and with it UnicodeDecodeError) for what it finds on the way to Python.
READ_ERRORS = (pa.ArrowException, OSError, ValueError)


@dataclass(frozen=True, slots=True)
class OpenParquet:
    """A `pq.ParquetFile` for its rows and its schema, the footer for everything else, the `pa.NativeFile`
    below, and the limits that it was opened with."""

    file: Any
    footer: Footer
    native: Any
    limits: Limits


def open_parquet(file: Any, limits: Limits) -> OpenParquet:
    """Opens a `pa.NativeFile`, its footer held against `limits`.

    Column chunks are read through buffers of bounded size, not whole. Raises `InvalidDataFile` and
    `DataFileLimitExceeded`.
    """
    with reading():
        footer = read_footer(file, limits)
        parquet_file = pq.ParquetFile(
            file,
            pre_buffer=False,
            buffer_size=_buffer_bytes(len(footer.leaves)),
            schema_depth_limit=limits.nesting_depth,
            arrow_extensions_enabled=False,
        )
    return OpenParquet(parquet_file, footer, file, limits)


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


def _buffer_bytes(columns: int) -> int:
    return max(16 * KiB, min(MiB, _BUFFERS_BYTES // max(1, columns)))
