"""Looking at processes of a former life: is that pid still the server that we started?"""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

_POLL_SECONDS = 0.02


def command_line(pid: int) -> list[str] | None:
    """The arguments of a running process, or None when there is none (a zombie counts as none)."""
    if sys.platform == "linux":
        try:
            raw = Path(f"/proc/{pid}/cmdline").read_bytes()
        except OSError:
            return None
        return [part.decode(errors="replace") for part in raw.split(b"\0")[:-1]] or None
    found = subprocess.run(  # noqa: S603
        ["/bin/ps", "-p", str(pid), "-o", "command="], capture_output=True, text=True, check=False
    )
    return found.stdout.split() or None


def runs(pid: int, program: str, argument: str) -> bool:
    """True if `pid` is a `program` that was given `argument` (a path of ours)."""
    command = command_line(pid)
    if not command or argument not in " ".join(command):
        return False
    return any(Path(part).name == program for part in command)


def end_process(
    pid: int, program: str, argument: str, signals: Iterable[tuple[signal.Signals, float]]
) -> None:
    """Signal a stranded server of ours, with a patience in seconds after each signal, until it is gone."""
    for signum, patience in signals:
        if not runs(pid, program, argument):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signum)
        deadline = time.monotonic() + patience
        while time.monotonic() < deadline:
            if not runs(pid, program, argument):
                return
            time.sleep(_POLL_SECONDS)
