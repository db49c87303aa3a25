"""A file that is being downloaded: hashed as it grows, left behind on a failure to be continued."""

import os
from pathlib import Path

from odf_core.identity import SHA3_256, Multihash
from odf_core.sha3 import Hasher, new_sha3
from odf_core.storage.flushing import begin_flush

PARTIAL_PREFIX = ".partial-"
_READ_BYTES = 1024 * 1024


class Partial:
    """The beginning of `target` in a file beside it; a context manager that closes the file.

    Names that begin with a dot are no objects to any reader of the layout (metadata.md 4).
    """

    def __init__(self, target: Path, most_bytes: int | None) -> None:
        self.target = target
        self.path = target.with_name(PARTIAL_PREFIX + target.name)
        self.size = 0
        self._expected = most_bytes or _READ_BYTES
        self._hasher = self._new_hasher()
        self._file = os.open(self.path, os.O_RDWR | os.O_CREAT | getattr(os, "O_CLOEXEC", 0), 0o644)
        self._take_over(most_bytes)
        self.resumed = self.size > 0

    def _take_over(self, most_bytes: int | None) -> None:
        """Hash what an earlier run left; forget it when it is longer than the object."""
        while chunk := os.read(self._file, _READ_BYTES):
            self.size += len(chunk)
            self._hasher.update(chunk)
            if most_bytes is not None and self.size > most_bytes:
                self.restart()
                return

    def __enter__(self) -> "Partial":
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)
        if self.size == 0:
            self.discard()

    def write(self, chunk: bytes) -> None:
        """Append `chunk`; the hash is computed without holding the interpreter's lock."""
        view = memoryview(chunk)
        while view:
            view = view[os.write(self._file, view) :]
        self._hasher.update(chunk)
        self.size += len(chunk)

    def restart(self) -> None:
        """Begin anew with an empty file."""
        os.ftruncate(self._file, 0)
        os.lseek(self._file, 0, os.SEEK_SET)
        self._hasher = self._new_hasher()
        self.size = 0
        self.resumed = False

    def _new_hasher(self) -> Hasher:
        return new_sha3(expected=self._expected)

    def digest(self) -> Multihash:
        """SHA3-256 of all bytes so far."""
        return Multihash(SHA3_256, self._hasher.digest())

    def finish(self, *, durable: bool) -> None:
        """Give the file its name; from now on it is an object. `durable` has it flushed soon."""
        if durable:
            begin_flush(self._file)
        self.path.replace(self.target)

    def discard(self) -> None:
        """Remove the file: its bytes are wrong."""
        self.path.unlink(missing_ok=True)


def hash_file(path: Path) -> tuple[Multihash, int]:
    """SHA3-256 and size of a file, in constant memory."""
    hasher, size = new_sha3(expected=path.stat().st_size), 0
    with path.open("rb", buffering=0) as file:
        while chunk := file.read(_READ_BYTES):
            hasher.update(chunk)
            size += len(chunk)
    return Multihash(SHA3_256, hasher.digest()), size
