"""The most memory that this process and others held together."""

import os
import threading
from pathlib import Path
from types import TracebackType

_STEP_SECONDS = 0.2


class PeakMemory:
    """Watches this process, and those whose command line has `word` with all their children."""

    def __init__(self, word: str) -> None:
        self._word = word.encode()
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)
        self.megabytes = 0.0

    def __enter__(self) -> "PeakMemory":
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._done.wait(_STEP_SECONDS):
            self.megabytes = max(self.megabytes, self._now())

    def _now(self) -> float:
        """RSS, where pages that processes share count for each of them."""
        parents: dict[int, int] = {}
        named = {os.getpid()}
        for folder in Path("/proc").glob("[0-9]*"):
            try:
                status = (folder / "stat").read_text().rpartition(")")[2].split()
                command = (folder / "cmdline").read_bytes()
            except OSError:
                continue
            parents[int(folder.name)] = int(status[1])
            if self._word in command:
                named.add(int(folder.name))
        wanted = {pid for pid in parents if _descends(pid, named, parents)}
        return sum(_resident(pid) for pid in wanted) / 1e6


def _descends(pid: int, named: set[int], parents: dict[int, int]) -> bool:
    while pid in parents:
        if pid in named:
            return True
        pid = parents[pid]
    return False


def _resident(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except OSError:
        return 0
