"""A lock per dataset, so that two commands do not work on one at once."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path

from odf_core.workspace.errors import DatasetBusy

_STEP_SECONDS = 0.05


@contextlib.contextmanager
def exclusive(path: Path, *, what: object, patience: float) -> Iterator[None]:
    """Hold the lock file `path`, which vanishes from memory with the process that holds it.

    Raises `DatasetBusy`, naming `what`, when another process holds it for `patience` seconds.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        _acquire(descriptor, what, patience)
        yield
    finally:
        os.close(descriptor)


def _acquire(descriptor: int, what: object, patience: float) -> None:
    deadline = time.monotonic() + patience
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            if time.monotonic() >= deadline:
                raise DatasetBusy(
                    f"Another command is working on {what}; wait until it is done.", objects=[what]
                ) from error
            time.sleep(_STEP_SECONDS)
        else:
            return
