"""Files beneath a store: atomic replacing, fsync, walking in the order of keys."""

import contextlib
import os
import secrets
import stat
import time
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from odf_core.storage.keys import PENDING
from odf_core.storage.port import ObjectInfo, Readable
from odf_core.storage.streams import CHUNK_BYTES, wrong_size

_READ_FLAGS = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_WRITE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
_CAN_SYNC_FOLDERS = os.name == "posix"


@dataclass(frozen=True, slots=True)
class Modes:
    """Permissions of new files and folders, before the umask."""

    file: int = 0o666
    folder: int = 0o777


def open_regular(path: Path) -> int | None:
    """A descriptor for reading; None where there is no regular file (a link is none)."""
    try:
        descriptor = os.open(path, _READ_FLAGS)
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        return None
    except OSError:
        if path.is_symlink():
            return None
        raise
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return descriptor


def pending_path(folder: Path) -> Path:
    """A fresh name for an unfinished write in `folder` (metadata.md 4: `.pending-` and 16 characters)."""
    return folder / f"{PENDING}{secrets.token_hex(8)}"


def write_pending(path: Path, source: Readable, size: int, key: str, mode: int, *, sync: bool = True) -> None:
    """Write and fsync `source` as `path`; raises `ObjectSizeMismatch` where it has another size."""
    descriptor = os.open(path, _WRITE_FLAGS, mode)
    try:
        written = 0
        while chunk := source.read(CHUNK_BYTES):
            written += len(chunk)
            if written > size:
                raise wrong_size(key, size, None)
            _write_all(descriptor, chunk)
        if written != size:
            raise wrong_size(key, size, written)
        if sync:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _write_all(descriptor: int, chunk: bytes) -> None:
    view = memoryview(chunk)
    while view:
        view = view[os.write(descriptor, view) :]


def link_or_copy(source: Path, target: Path, mode: int) -> bool:
    """Make `target` the file `source` is at this moment; False if there is none.

    A hard link where the file system has them: writers replace files and never change them, so the
    link keeps these very bytes. Otherwise a copy, fsynced.
    """
    try:
        os.link(source, target, follow_symlinks=False)
    except FileNotFoundError:
        return False
    except OSError:
        return _copy(source, target, mode)
    if target.is_symlink():
        target.unlink()
        return False
    return True


def _copy(source: Path, target: Path, mode: int) -> bool:
    descriptor = open_regular(source)
    if descriptor is None:
        return False
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        write_pending(target, file, os.fstat(descriptor).st_size, source.name, mode)
    return True


def sync_file(path: Path) -> None:
    """fsync what another process has written."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_folder(path: Path) -> None:
    """Make the names in a folder durable; where the system cannot, renames are as durable as they get."""
    if _CAN_SYNC_FOLDERS:
        with contextlib.suppress(FileNotFoundError):
            sync_file(path)


def walk(root: Path, prefix: str) -> Iterator[ObjectInfo]:
    """Objects whose keys begin with `prefix`, in byte order of their keys."""
    base = prefix[: prefix.rfind("/") + 1]
    yield from _walk(root / base, base, prefix)


def _walk(folder: Path, base: str, prefix: str) -> Iterator[ObjectInfo]:
    try:
        with os.scandir(folder) as entries:
            found = [entry for entry in entries if not entry.name.startswith(".")]
    except (FileNotFoundError, NotADirectoryError):
        return
    named = [
        (f"{entry.name}/" if entry.is_dir(follow_symlinks=False) else entry.name, entry) for entry in found
    ]
    for name, entry in sorted(named, key=lambda item: item[0].encode(errors="surrogateescape")):
        key = base + name
        if name.endswith("/"):
            if key.startswith(prefix) or prefix.startswith(key):
                yield from _walk(folder / entry.name, key, prefix)
        elif key.startswith(prefix) and entry.is_file(follow_symlinks=False):
            with contextlib.suppress(FileNotFoundError):  # gone since the folder was read
                yield info_of(key, entry.stat(follow_symlinks=False))


def info_of(key: str, status: os.stat_result) -> ObjectInfo:
    return ObjectInfo(key, status.st_size, datetime.fromtimestamp(status.st_mtime, UTC))


def remove_pending(root: Path, older_than_seconds: float) -> int:
    """Delete unfinished writes that nobody has touched for so long; how many."""
    before = time.time() - older_than_seconds
    removed = 0
    for folder, _, names in os.walk(root):
        for name in names:
            path = Path(folder, name)
            if name.startswith(PENDING):
                with contextlib.suppress(FileNotFoundError):
                    # a claim is a link to older bytes: only the change time tells when it was made
                    if path.lstat().st_ctime <= before:
                        path.unlink()
                        removed += 1
    return removed
