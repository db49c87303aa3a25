"""The data directory of embedded mode: its layout, its lock, and what is remembered in it.

node.lock       held (flock) by the node that owns the directory; its pid inside
services.json   port, credentials, socket directory (mode 0600)
unclean         there while the services run: what must be swept after a crash
postgres/       the database cluster
s3/<bucket>/    the objects, each file's path its key
logs/           what the children say
run/            the Unix socket of PostgreSQL, where the path is short enough
"""

import contextlib
import fcntl
import os
import re
import tempfile
from pathlib import Path

from app.embedded.errors import DataDirectoryInUse, DataDirectoryUnusable

SOCKET_PATH_BYTES = 103
"""Longest path of a Unix socket: 107 bytes on Linux, 103 on macOS (stack.md 1.3)."""

_SOCKET_NAME = "/.s.PGSQL.5432"
# libpq takes a comma in `host` for a list, and a URL needs no escapes this way.
_PLAIN_PATH = re.compile(r"/[A-Za-z0-9_./+-]*\Z")


class DataDirectory:
    """A directory that one node at a time owns, from `acquire()` to `release()`."""

    def __init__(self, path: Path) -> None:
        self.path = path.expanduser().absolute()
        self._lock: int | None = None

    @property
    def postgres(self) -> Path:
        return self.path / "postgres"

    @property
    def s3(self) -> Path:
        return self.path / "s3"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def state_file(self) -> Path:
        return self.path / "services.json"

    @property
    def unclean_marker(self) -> Path:
        return self.path / "unclean"

    def acquire(self) -> None:
        """Make the directory if need be and lock it; DataDirectoryInUse, DataDirectoryUnusable."""
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._take_lock()
            for folder in (self.s3, self.logs):
                folder.mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            self.release()
            raise unusable(self.path, error) from error

    def _take_lock(self) -> None:
        descriptor = os.open(self.path / "node.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            holder = os.read(descriptor, 32).decode(errors="replace").strip() or "unknown"
            os.close(descriptor)
            raise DataDirectoryInUse(
                f"The data directory {self.path} is in use by another node (process {holder}): "
                "stop that one, or choose another directory.",
                objects=[self.path],
                extras={"pid": holder},
            ) from error
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, f"{os.getpid()}\n".encode(), 0)
        self._lock = descriptor

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def socket_dir(self, remembered: str | None) -> Path:
        """A private folder whose path is short and plain enough for a Unix socket.

        Below the data directory if possible; else the one `remembered` from the last start, if it is
        still ours alone; else a new one in the user's runtime or the machine's temporary folder.
        """
        try:
            own = self.path / "run"
            if _fits(own):
                own.mkdir(mode=0o700, exist_ok=True)
                own.chmod(0o700)
                return own
            if remembered and _fits(Path(remembered)) and _is_private(Path(remembered)):
                return Path(remembered)
            return Path(tempfile.mkdtemp(prefix="odf-", dir=_short_parent()))
        except OSError as error:
            raise unusable(self.path, error) from error


def unusable(path: Path, error: OSError) -> DataDirectoryUnusable:
    reason = error.strerror or str(error)
    return DataDirectoryUnusable(
        f"The data directory {path} cannot be used ({reason}): "
        "make it a folder that this user may write to, with room on its disk.",
        objects=[path],
        extras={"reason": reason, "file": str(error.filename or path)},
    )


def _fits(folder: Path) -> bool:
    return len(os.fsencode(f"{folder}{_SOCKET_NAME}")) <= SOCKET_PATH_BYTES and bool(
        _PLAIN_PATH.match(str(folder))
    )


def _is_private(folder: Path) -> bool:
    with contextlib.suppress(OSError):
        facts = folder.lstat()
        return (
            folder.is_dir()
            and not folder.is_symlink()
            and (facts.st_uid, facts.st_mode & 0o077) == (os.geteuid(), 0)
        )
    return False


def _short_parent() -> str:
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if runtime and Path(runtime).is_dir() and _fits(Path(runtime) / "odf-12345678"):
        return runtime
    return "/tmp"  # noqa: S108 - mkdtemp makes a folder of mode 0700 in it
