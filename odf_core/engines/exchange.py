"""Request folders: how files come to an engine that sees nothing else, and how results come back.

A running process sees only folders that were opened to it when it started. So the files of a request
are linked (or copied, from another file system) into a fresh folder there, and removed afterwards. The
engine can write in `folder` alone: what was linked in is also a file of a dataset.
"""

import contextlib
import errno
import itertools
import os
import shutil
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from odf_core.engines.folders import EngineFolders

REMOTE = "s3a://"
"""So begin the names of files that every executor can read where they are."""

_LINK_IMPOSSIBLE = frozenset(
    {errno.EXDEV, errno.EPERM, errno.EMLINK, errno.EACCES, errno.ENOTSUP, errno.ENOSYS}
)


@dataclass(frozen=True, slots=True)
class Exchange:
    """The folders of one request: `inputs` the engine reads, in `folder` it writes."""

    inputs: Path
    folder: Path
    _numbers: Iterator[int] = field(default_factory=itertools.count)

    def handed(self, files: Iterable[str]) -> tuple[str, ...]:
        """The files as the engine sees them, by number: their own names may be anything.

        What has an `s3a://` URL is no file of this machine and stays as it is.
        """
        return tuple(
            file if file.startswith(REMOTE) else str(self.put(Path(file), f"{uuid.uuid4().hex}.parquet"))
            for file in files
        )

    def put(self, file: Path, name: str | None = None) -> Path:
        """Brings a file in, without copying it where it can be linked; gives the path for the engine."""
        target = self.inputs / (name or f"{next(self._numbers)}-{file.name}")
        source = file.resolve(strict=True)
        try:
            os.link(source, target)
        except OSError as error:
            if error.errno not in _LINK_IMPOSSIBLE:
                raise
            shutil.copyfile(source, target)
        return target


@contextlib.contextmanager
def open_exchange(folders: EngineFolders) -> Iterator[Exchange]:
    """Fresh folders for one request, removed at the end."""
    folders.create()
    name = f"{os.getpid()}-{uuid.uuid4().hex[:12]}"
    exchange = Exchange(folders.inputs / name, folders.outputs / name)
    exchange.inputs.mkdir(mode=0o700)
    exchange.folder.mkdir(mode=0o700)
    try:
        yield exchange
    finally:
        shutil.rmtree(exchange.inputs, ignore_errors=True)
        shutil.rmtree(exchange.folder, ignore_errors=True)


def sweep(folders: EngineFolders) -> None:
    """Removes request folders of processes that are gone."""
    for folder in (*folders.inputs.iterdir(), *folders.outputs.iterdir()):
        pid = folder.name.partition("-")[0]
        if pid.isdigit() and not _runs(int(pid)):
            shutil.rmtree(folder, ignore_errors=True)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
