"""A worker's folder on the local disk: files of the running job, and slices that later jobs may need too.

Each worker holds one of the folders `worker-0`, `worker-1`, … by a lock that ends with it, so a worker that
was killed leaves nothing for ever: the next one takes its folder over, with the slices in it.
"""

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import ClassVar

from app.settings import Settings
from odf_core.errors import Unavailable
from odf_core.identity import SHA3_256, DatasetId, Multihash, ObjectRef
from odf_core.sha3 import new_sha3
from odf_core.storage import ObjectHashMismatch, ObjectStore, dataset_prefix, object_key

_PIECE_BYTES = 1 << 20
_MOST_WORKERS = 1024


class ScratchUnusable(Unavailable):
    """The folder of `jobs.scratch_dir` cannot be used."""

    code: ClassVar[str] = "scratch_unusable"


def scratch_root(settings: Settings) -> Path:
    """The folder of all workers of this machine."""
    if settings.jobs.scratch_dir is not None:
        return settings.jobs.scratch_dir
    if settings.embedded.enabled:
        return settings.embedded.data_dir / "scratch"
    return Path(tempfile.gettempdir()) / f"odf-node-{os.getuid()}"


@contextmanager
def worker_scratch(root: Path, cache_bytes: int) -> Iterator["Scratch"]:
    """A folder below `root` that no other worker has. Raises `ScratchUnusable`."""
    with ExitStack() as stack:
        try:
            root.mkdir(mode=0o700, parents=True, exist_ok=True)
            if root.stat().st_uid != os.getuid():
                raise ScratchUnusable(f"The folder {root} belongs to another user.", objects=[root])
            folder = _taken(root, stack)
            shutil.rmtree(folder / "work", ignore_errors=True)
            (folder / "work").mkdir()
            (folder / "slices").mkdir(exist_ok=True)
        except OSError as error:
            raise ScratchUnusable(
                f"The folder {root} cannot be used ({error.strerror}); name another in jobs.scratch_dir.",
                objects=[root],
            ) from error
        yield Scratch(folder, cache_bytes)


def _taken(root: Path, stack: ExitStack) -> Path:
    for number in range(_MOST_WORKERS):
        folder = root / f"worker-{number}"
        folder.mkdir(exist_ok=True)
        lock = (folder / "lock").open("w")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.close()
            continue
        stack.enter_context(lock)
        return folder
    raise ScratchUnusable(f"{_MOST_WORKERS} workers use {root} already.", objects=[root])


class Scratch:
    """The folder of one worker. Used by one job at a time."""

    def __init__(self, folder: Path, cache_bytes: int) -> None:
        self._folder, self._cache_bytes = folder, cache_bytes

    @property
    def savepoints(self) -> Path:
        """Where fetched bytes wait that a failed job may need again."""
        return self._folder / "savepoints"

    @property
    def pulls(self) -> Path:
        """Where what was pulled of other nodes waits that a job which was put off goes on with."""
        return self._folder / "pulls"

    @contextmanager
    def workdir(self) -> Iterator[Path]:
        """A fresh folder, removed at the end; and room made in the cache before."""
        self._evict()
        path = Path(tempfile.mkdtemp(prefix="job-", dir=self._folder / "work"))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)

    def fetch(self, store: ObjectStore, dataset_id: DatasetId, ref: ObjectRef) -> Path:
        """The local file of a dataset's object, downloaded if need be and then hashed.

        It stays until this worker's next job. Raises `ObjectNotFound`, `ObjectHashMismatch`,
        `StoreUnavailable`.
        """
        path = self._folder / "slices" / str(ref.hash)
        if path.is_file():
            os.utime(path)
            return path
        draft, hasher = path.with_suffix(".draft"), new_sha3(expected=ref.size or 0)
        with store.open(dataset_prefix(dataset_id) + object_key(ref)) as stream, draft.open("wb") as file:
            while piece := stream.read(_PIECE_BYTES):
                hasher.update(piece)
                file.write(piece)
        found = Multihash(SHA3_256, hasher.digest())
        if found != ref.hash:
            draft.unlink()
            raise ObjectHashMismatch(f"The stored bytes of {ref} have the hash {found}.", objects=[ref])
        return draft.replace(path)

    def _evict(self) -> None:
        """The slices that were used longest ago make room."""
        files = sorted((self._folder / "slices").iterdir(), key=lambda path: path.stat().st_mtime_ns)
        total = sum(path.stat().st_size for path in files)
        for path in files:
            if total <= self._cache_bytes:
                return
            total -= path.stat().st_size
            path.unlink()
