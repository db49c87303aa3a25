"""A directory as an object store: one file per object, its path below the root is the key."""

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator, Sequence
from datetime import timedelta
from pathlib import Path

from odf_core.storage import files
from odf_core.storage.errors import InvalidKey, ObjectNotFound, StoreAccessDenied, StoreUnavailable
from odf_core.storage.flushing import begin_flush, flush
from odf_core.storage.keys import check_key, check_prefix, is_hidden
from odf_core.storage.port import ObjectInfo, Readable
from odf_core.storage.streams import BoundedStream, part_of, readable
from odf_core.storage.whole import read_whole

_MOST_STRAIGHT = 10_000


class DirectoryStore:
    """Objects as files below `root`, which is made at the first write.

    Writes go to `.pending-…` in the object's own folder, are fsynced and renamed; with `settle` false
    what has a new name is flushed by `settle`, all at once. Symbolic links below the root are not followed.
    """

    def __init__(self, root: Path | str, *, modes: files.Modes | None = None) -> None:
        self._root = Path(os.path.realpath(root))
        self._modes = modes or files.Modes()
        self._straight: set[str] = set()  # folders that were seen to be reached without links

    @property
    def root(self) -> Path:
        return self._root

    def read(self, key: str, *, max_bytes: int) -> bytes:
        with self.open(key) as stream:
            return read_whole(stream, key, max_bytes)

    def open(self, key: str, *, start: int = 0, end: int | None = None) -> BoundedStream:
        with os_errors("read", key):
            return open_part(self._path(key), key, start, end)

    def stat(self, key: str) -> ObjectInfo | None:
        path = self._path(key)
        with os_errors("look at", key):
            try:
                status = path.lstat()
            except (FileNotFoundError, NotADirectoryError):
                return None
            return files.info_of(key, status) if stat.S_ISREG(status.st_mode) else None

    def write(self, key: str, source: bytes | Readable, *, size: int, settle: bool = True) -> None:
        path = self._path(key)
        with os_errors("write", key):
            folders = self._make_folder(path.parent)
            pending = files.pending_path(path.parent)
            try:
                sync = settle or path.exists()
                files.write_pending(pending, readable(source), size, key, self._modes.file, sync=sync)
                pending.replace(path)
            except BaseException:
                pending.unlink(missing_ok=True)
                raise
            self._sync_folders(folders)
        self._changed([key], settle)

    def copy(self, source: str, target: str, *, settle: bool = True) -> None:
        with self.claim(source) as claimed:
            claimed.publish(target, settle=settle)

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator["ClaimedFile"]:
        path = self._path(key)
        with os_errors("claim", key):
            pending = files.pending_path(path.parent)
            found = path.parent.is_dir() and files.link_or_copy(path, pending, self._modes.file)
        try:
            if not found or not pending.is_file():
                raise ObjectNotFound(f"There is no object {key}.", objects=[key])
            claimed = ClaimedFile(self, key, pending)
            claimed.begin_flush()
            yield claimed
        finally:
            with os_errors("let go of", key):
                pending.unlink(missing_ok=True)

    def settle(self, keys: Iterable[str]) -> None:
        settled = [check_key(key) for key in keys]
        with os_errors("settle", ""):
            names = dict.fromkeys([*settled, *(key.rpartition("/")[0] for key in settled)])
            flush([os.path.join(self._root, name) for name in names], missing_ok=True)  # noqa: PTH118 - many
        self._announce(settled)

    def delete(self, keys: Iterable[str]) -> None:
        deleted = []
        for key in keys:
            path = self._path(key)
            with os_errors("delete", key), contextlib.suppress(FileNotFoundError, NotADirectoryError):
                path.unlink()
                deleted.append(key)
        self._announce(deleted)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        if is_hidden(check_prefix(prefix)):
            return
        with os_errors("list", prefix):
            yield from files.walk(self._root, prefix)

    def remove_stranded(self, older_than: timedelta) -> int:
        with os_errors("sweep", ""):
            return files.remove_pending(self._root, older_than.total_seconds())

    def check(self) -> None:
        with os_errors("use", str(self._root)):
            self._root.mkdir(mode=self._modes.folder, parents=True, exist_ok=True)
            if not os.access(self._root, os.R_OK | os.W_OK | os.X_OK):
                raise PermissionError(13, os.strerror(13), str(self._root))

    def publish_file(self, source: Path, target: str, *, settle: bool) -> None:
        """Make `target` the file `source` is; used by claims."""
        path = self._path(target)
        with os_errors("write", target):
            folders = self._make_folder(path.parent)
            pending = files.pending_path(path.parent)
            try:
                if settle or path.exists():
                    files.sync_file(source)  # who wrote it (an S3 server beneath) has perhaps not
                if not files.link_or_copy(source, pending, self._modes.file):
                    raise ObjectNotFound(
                        f"The claim on what should become {target} is over.", objects=[target]
                    )
                pending.replace(path)
            finally:
                pending.unlink(missing_ok=True)  # two names of one file are left as they are by a rename
            self._sync_folders(folders)
        self._changed([target], settle)

    def _changed(self, keys: Sequence[str], settle: bool) -> None:
        """Make names durable whose files are; what is to be settled later is announced then."""
        if settle:
            with os_errors("settle", ""):
                for folder in {self._path(key).parent for key in keys}:
                    files.sync_folder(folder)
            self._announce(keys)

    def _announce(self, keys: Sequence[str]) -> None:
        """Tell whoever keeps a view of the directory that these keys have changed."""

    def _path(self, key: str) -> Path:
        path = self._root.joinpath(*check_key(key).split("/"))
        folder = str(path.parent)
        if folder not in self._straight:
            if os.path.realpath(folder) != folder:
                raise InvalidKey(
                    f"{key} leads through a symbolic link, which is not followed.", objects=[key]
                )
            if len(self._straight) < _MOST_STRAIGHT and path.parent.is_dir():
                self._straight.add(folder)
        return path

    def _make_folder(self, folder: Path) -> Sequence[Path]:
        """Make `folder`; the parents that have got a new name in them, innermost last."""
        missing: Sequence[Path] = ()
        while not folder.is_dir():
            missing = (*missing, folder)
            folder = folder.parent
        for path in reversed(missing):
            path.mkdir(mode=self._modes.folder, exist_ok=True)
        return [path.parent for path in reversed(missing)]

    def _sync_folders(self, folders: Sequence[Path]) -> None:
        for folder in folders:
            files.sync_folder(folder)


class ClaimedFile:
    """A link of its own to the file that a key named when it was claimed."""

    def __init__(self, store: DirectoryStore, key: str, path: Path) -> None:
        self._store = store
        self.key = key
        self.path: Path | None = path
        self._file = path
        self.size = path.stat().st_size

    def begin_flush(self) -> None:
        """What is claimed is likely to be published: while it is looked at, the disk can be at work."""
        with os_errors("read", self.key), self._file.open("rb", buffering=0) as file:
            begin_flush(file.fileno())

    def open(self, *, start: int = 0, end: int | None = None) -> BoundedStream:
        with os_errors("read", self.key):
            return open_part(self._file, self.key, start, end)

    def publish(self, target: str, *, settle: bool = True) -> None:
        self._store.publish_file(self._file, target, settle=settle)


def open_part(path: Path, key: str, start: int, end: int | None) -> BoundedStream:
    """A stream over the part [start, end) of a file."""
    descriptor = files.open_regular(path)
    if descriptor is None:
        raise ObjectNotFound(f"There is no object {key}.", objects=[key])
    file = os.fdopen(descriptor, "rb", buffering=0)
    try:
        size = os.fstat(descriptor).st_size
        start, stop = part_of(key, size, start, end)
        file.seek(start)
    except BaseException:
        file.close()
        raise
    return BoundedStream(file, key, size=size, left=stop - start)


@contextlib.contextmanager
def os_errors(verb: str, key: str) -> Iterator[None]:
    """Where errors of the file system end."""
    try:
        yield
    except PermissionError as error:
        raise StoreAccessDenied(
            f"Cannot {verb} {key or 'the store'}: {error.strerror} ({error.filename}).", objects=[key]
        ) from error
    except (NotADirectoryError, IsADirectoryError, FileExistsError) as error:
        raise InvalidKey(
            f"Cannot {verb} {key}: another object has a part of this key as its name.", objects=[key]
        ) from error
    except OSError as error:
        raise StoreUnavailable(
            f"Cannot {verb} {key or 'the store'}: {error.strerror}.", objects=[key]
        ) from error
