"""Putting files on the disk after they were written: a few one by one, many at once."""

import contextlib
import ctypes
import os
import sys
from collections.abc import Callable, Collection
from functools import cache
from itertools import islice
from pathlib import Path

_FEW_FILES = 16
_OFFSET = ctypes.c_int64
_SYNC_FILE_RANGE_WRITE = 2


def flush(paths: Collection[Path | str], *, missing_ok: bool = False) -> None:
    """Flush files and folders, which lie on one file system; beyond 16 by one call for all of it.

    20,000 calls of fsync take half a minute, one of syncfs a fraction of a second. `missing_ok` passes
    over files that were deleted meanwhile. Raises `OSError`.
    """
    if len(paths) > _FEW_FILES and _flush_file_system(paths):
        return
    for path in paths:
        with contextlib.suppress(*([FileNotFoundError] if missing_ok else [])):
            _fsync(path)


def begin_flush(descriptor: int) -> None:
    """Have the system begin to write a file to the disk, and wait for nothing: a later `flush` finds less
    to do. Where there is no such call, nothing happens."""
    sync_file_range = _function("sync_file_range")
    if sync_file_range is not None:
        sync_file_range(descriptor, _OFFSET(0), _OFFSET(0), _SYNC_FILE_RANGE_WRITE)


def _fsync(path: Path | str) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _flush_file_system(paths: Collection[Path | str]) -> bool:
    """Linux's syncfs; False where there is none, or none of the first files to reach it by."""
    syncfs = _function("syncfs")
    if syncfs is None:
        return False
    for path in islice(paths, _FEW_FILES):
        with contextlib.suppress(FileNotFoundError):
            descriptor = os.open(path, os.O_RDONLY)
            try:
                return syncfs(descriptor) == 0
            finally:
                os.close(descriptor)
    return False


@cache
def _function(name: str) -> Callable[..., int] | None:
    """A function of Linux's C library; None elsewhere."""
    if sys.platform != "linux":
        return None
    found: Callable[..., int] | None = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    return found
