"""One child process of the node: started through the launcher, logged to a file, stopped in order."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

Tie = Literal["exec", "pipe"]
"""How a child is tied to the node: by the kernel (Linux) or by a pipe (elsewhere); see launcher.py."""

LAUNCHER = Path(__file__).with_name("launcher.py")
LOG_BYTES = 8 * 1024 * 1024
LOG_TAIL_BYTES = 4096


def default_tie() -> Tie:
    return "exec" if sys.platform == "linux" else "pipe"


@dataclass(frozen=True, slots=True)
class ChildSpec:
    """What to run and how it must end.

    `last_signal` is what the child gets when the node dies without a word; `stop_signals` are
    (signal, seconds to wait after it) of an ordered stop, SIGKILL follows by itself.
    """

    name: str
    command: Sequence[str]
    env: Mapping[str, str]
    log: Path
    last_signal: signal.Signals
    stop_signals: Sequence[tuple[signal.Signals, float]]
    unroot: bool = False
    listen_fd: int = -1
    tie: Tie = field(default_factory=default_tie)

    def launcher_command(self) -> list[str]:
        grace = self.stop_signals[0][1] if self.stop_signals else 0.0
        head = [sys.executable, "-I", "-S", str(LAUNCHER), self.tie, str(int(self.last_signal)), str(grace)]
        return [*head, str(os.getpid()), str(int(self.unroot)), str(self.listen_fd), *self.command]


class Child:
    """A running child. Made by a thread that outlives it: the kernel's tie is to that thread."""

    def __init__(self, spec: ChildSpec) -> None:
        self.spec = spec
        self._pipe: int | None = None
        read_end: int | None = None
        if spec.tie == "pipe":
            read_end, self._pipe = os.pipe()
        rotate(spec.log)
        try:
            with spec.log.open("ab") as log:
                self._process = subprocess.Popen(  # noqa: S603
                    spec.launcher_command(),
                    stdin=subprocess.DEVNULL if read_end is None else read_end,
                    stdout=log,
                    stderr=log,
                    env=dict(spec.env),
                    cwd="/",
                    start_new_session=True,  # Ctrl-C reaches the node alone, which then stops us in order
                    pass_fds=(spec.listen_fd,) if spec.listen_fd >= 0 else (),
                )
        except BaseException:
            self._close_pipe()
            raise
        finally:
            if read_end is not None:
                os.close(read_end)

    @property
    def pid(self) -> int:
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative numbers are signals, as in `subprocess`."""
        return self._process.poll()

    def wait(self, seconds: float) -> int | None:
        """Exit code of a child that ends by itself; None if it had to be stopped after `seconds`."""
        try:
            return self._process.wait(seconds)
        except subprocess.TimeoutExpired:
            return None
        finally:
            self.stop()

    def stop(self) -> bool:
        """Stop it and wait; True if it ended by itself, False if it had to be killed."""
        if self._process.poll() is not None:
            self._clear_group()
            return True
        for signum, patience in self.spec.stop_signals:
            self._process.send_signal(signum)
            with contextlib.suppress(subprocess.TimeoutExpired):
                self._process.wait(patience)
                break
        by_itself = self._process.poll() is not None
        if not by_itself:
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()
        self._close_pipe()
        return by_itself

    def _clear_group(self) -> None:
        """After a launcher in `pipe` mode died before the child that it watched."""
        if self._pipe is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._close_pipe()

    def _close_pipe(self) -> None:
        if self._pipe is not None:
            os.close(self._pipe)
            self._pipe = None


def rotate(log: Path, limit: int = LOG_BYTES) -> None:
    """Keep one older file of a log that has grown past `limit` bytes.

    The child holds the file open for appending, so it is copied and cut, not renamed; a line that is
    written in between may be lost. A file, not a pipe: a busy node can never block its children.
    """
    if log.is_file() and log.stat().st_size > limit:
        shutil.copyfile(log, log.with_suffix(log.suffix + ".1"))
        os.truncate(log, 0)


def log_tail(log: Path, since: int = 0) -> str:
    """The last lines of a log (at most 4 KiB of them), from byte `since` on."""
    if not log.is_file():
        return ""
    with log.open("rb") as file:
        size = file.seek(0, os.SEEK_END)
        file.seek(max(min(since, size), size - LOG_TAIL_BYTES))
        return file.read().decode(errors="replace").strip()


def child_environment(
    extra: Mapping[str, str], keep: Iterable[str] = ("PATH", "HOME", "TMPDIR")
) -> dict[str, str]:
    """A small environment: a server must not pick up PG* or RCLONE_* of whoever started the node."""
    return {**{name: os.environ[name] for name in keep if name in os.environ}, "LC_ALL": "C", **extra}
