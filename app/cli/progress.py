"""Transfers as a person sees them: a bar on a terminal, a line now and then elsewhere."""

import sys
import threading
import time
from types import TracebackType

from odf_core.transfer.client import Phase, Progress

_WORDS = {
    Phase.CONNECT: "Connecting",
    Phase.BLOCKS: "Blocks",
    Phase.OBJECTS: "Objects",
    Phase.COMMIT: "Committing",
}
_LINE_SECONDS = 5.0
_LONG_BYTES = 64 * 1024 * 1024


class Bars(Progress):
    """Rich progress bars on standard error."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            DownloadColumn,
            TextColumn,
            TimeRemainingColumn,
            TransferSpeedColumn,
        )
        from rich.progress import Progress as RichProgress

        self._bars = RichProgress(
            TextColumn("{task.description}"),
            BarColumn(bar_width=30),
            TextColumn("{task.fields[counted]}"),
            DownloadColumn(binary_units=True),
            TransferSpeedColumn(),
            TimeRemainingColumn(compact=True),
            console=Console(stderr=True),
            transient=True,
        )
        self._task: object = None
        self._count = self._total = 0
        self._lock = threading.Lock()

    def __enter__(self) -> "Bars":
        self._bars.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bars.stop()

    def phase(self, phase: Phase, *, count: int = 0, size: int = 0) -> None:
        with self._lock:
            self._count, self._total = 0, count
            if self._task is not None:
                self._bars.remove_task(self._task)  # type: ignore[arg-type]
            self._task = self._bars.add_task(
                _WORDS[phase], total=size or None, counted=f"{count}" if count else ""
            )

    def moved(self, size: int) -> None:
        if self._task is not None:
            self._bars.advance(self._task, size)  # type: ignore[arg-type]

    def done(self, count: int = 1) -> None:
        with self._lock:
            self._count += count
            if self._task is not None:
                shown = f"{self._count}/{self._total}" if self._total else f"{self._count}"
                self._bars.update(self._task, counted=shown)  # type: ignore[arg-type]

    def note(self, message: str) -> None:
        self._bars.console.print(message, style="yellow", markup=False, highlight=False)


class Lines(Progress):
    """Plain lines on standard error: one for each phase that takes long, and every few seconds."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._phase: Phase | None = None
        self._count = self._total = self._bytes = self._size = 0
        self._last = time.monotonic()

    def __enter__(self) -> "Lines":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        return None

    def phase(self, phase: Phase, *, count: int = 0, size: int = 0) -> None:
        with self._lock:
            self._phase, self._count, self._total, self._bytes, self._size = phase, 0, count, 0, size
            if size >= _LONG_BYTES:
                self._say()

    def moved(self, size: int) -> None:
        with self._lock:
            self._bytes += size
            if time.monotonic() - self._last >= _LINE_SECONDS:
                self._say()

    def done(self, count: int = 1) -> None:
        with self._lock:
            self._count += count

    def note(self, message: str) -> None:
        sys.stderr.write(message + "\n")

    def _say(self) -> None:
        self._last = time.monotonic()
        word = _WORDS[self._phase] if self._phase is not None else "Moving"
        mib = 1024 * 1024
        sys.stderr.write(
            f"{word}: {self._count} of {self._total}, {self._bytes / mib:.1f} of {self._size / mib:.1f} MiB\n"
        )
