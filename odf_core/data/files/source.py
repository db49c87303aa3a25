"""Paths and file objects as pyarrow files, with errors of the medium kept apart from errors of the bytes."""

import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import pyarrow as pa

from odf_core.data.errors import DataFileNotFound, DataFileUnavailable

Source = str | os.PathLike[str] | BinaryIO


class _Guard(io.RawIOBase):
    """A caller's file object: its `OSError` becomes `DataFileUnavailable`, and it stays open."""

    def __init__(self, file: BinaryIO) -> None:
        self._file = file

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        try:
            return self._file.read(size)
        except OSError as error:
            raise DataFileUnavailable(f"A data file could not be read: {error}.") from error

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        try:
            return self._file.seek(offset, whence)
        except OSError as error:
            raise DataFileUnavailable(f"A data file could not be read: {error}.") from error

    def tell(self) -> int:
        return self._file.tell()


@contextmanager
def open_source(source: Source) -> Iterator[Any]:
    """A `pa.NativeFile` over a path or a seekable binary file object (read from its start).

    Raises `DataFileNotFound` and `DataFileUnavailable`; errors that the file object raises itself
    pass through. A file object is left open.
    """
    file = _native(source)
    try:
        yield file
    finally:
        file.close()


def _native(source: Source) -> Any:
    if not isinstance(source, str | os.PathLike):
        guard = _Guard(source)
        guard.seek(0)
        return pa.PythonFile(guard, "r")
    path = Path(source)
    try:
        if path.is_dir():
            raise IsADirectoryError(f"{path} is a directory")
        return pa.OSFile(str(path), "r")
    except FileNotFoundError as error:
        raise DataFileNotFound(f"There is no file {path}.", objects=[path]) from error
    except OSError as error:
        raise DataFileUnavailable(f"The file {path} cannot be read: {error}.", objects=[path]) from error
