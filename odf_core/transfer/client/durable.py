"""Writing files that survive a power cut: names moved atomically, everything flushed at once."""

import os
from pathlib import Path

from odf_core.storage.flushing import flush


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
