"""Writing files that survive a power cut: names moved atomically, everything flushed at once."""

import ctypes
import os
import sys
from collections.abc import Callable, Collection
from pathlib import Path

_FEW_FILES = 16


def write_atomically(path: Path, data: bytes, *, durable: bool, mode: int = 0o644) -> None:
    """Replace `path` by a file with `data`; whoever reads sees the old bytes or the new ones."""
    pending = path.with_name(f".pending-{os.getpid()}-{path.name}")
    try:
        pending.unlink(missing_ok=True)
        descriptor = os.open(pending, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        pending.replace(path)
    except BaseException:
        pending.unlink(missing_ok=True)
        raise
    if durable:
        flush([path.parent])


def flush(paths: Collection[Path]) -> None:
    """Flush files and folders to the disk; many of them by one call for their whole file system."""
    if len(paths) > _FEW_FILES and _flush_file_system(next(iter(paths))):
        return
    for path in paths:
        descriptor = os.open(path, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _flush_file_system(path: Path) -> bool:
    """Linux's syncfs; False where there is none."""
    syncfs = _syncfs()
    if syncfs is None:
        return False
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return syncfs(descriptor) == 0
    finally:
        os.close(descriptor)


def _syncfs() -> Callable[[int], int] | None:
    if sys.platform != "linux":
        return None
    found: Callable[[int], int] | None = getattr(ctypes.CDLL(None, use_errno=True), "syncfs", None)
    return found
