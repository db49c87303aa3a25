"""The log of a process that runs for long: a file that keeps its newer half when it grows too large."""

import os

MOST_BYTES = 8 * 1024 * 1024


def last_words(descriptor: int, most: int = 600) -> str:
    """The end of the log, for a message."""
    size = os.fstat(descriptor).st_size
    return os.pread(descriptor, most, max(0, size - most)).decode(errors="replace").strip()


def bound_log(descriptor: int, most: int = MOST_BYTES) -> None:
    """Cuts the older half off a log past `most` bytes. It is open for reading and appending.

    Lines that are written in between are lost; a file, not a pipe, so that nobody ever waits for it.
    """
    size = os.fstat(descriptor).st_size
    if size <= most:
        return
    kept = os.pread(descriptor, most // 2, size - most // 2)
    os.ftruncate(descriptor, 0)
    os.write(descriptor, kept[kept.find(b"\n") + 1 :])
