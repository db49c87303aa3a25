"""A command of a manifest as a child process: no shell, bounded time, nothing of its group left behind."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import IO

from odf_core.ingest.words import shown

_LOOK_SECONDS = 0.1
_NAP_SECONDS = 0.005
_LAST_LINES = 5


class CannotStart(Exception):
    """The system has no such program, or may not run it."""


class TookTooLong(Exception):
    """The command was killed when its time was over."""


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended: its exit code (negative: the signal) and the tail of its standard error."""

    exit_code: int
    errors: bytes

    def __str__(self) -> str:
        code = self.exit_code
        how = f"ended with exit code {code}" if code >= 0 else f"was ended by signal {-code}"
        lines = self.errors.decode("utf-8", "replace").strip().splitlines()[-_LAST_LINES:]
        words = shown(" / ".join(lines), 1000)
        return f"{how}: {words}." if words else f"{how} and said nothing."


def run(
    command: Sequence[str],
    write: Callable[[bytes], None],
    *,
    stdin: IO[bytes] | None,
    environment: Mapping[str, str],
    seconds: float,
    stderr_bytes: int,
    chunk_bytes: int,
) -> Ended:
    """Runs `command` to its end, its standard output going to `write`.

    Whatever happens, what `write` raises included, its whole process group is gone afterwards. Raises
    `CannotStart`, `TookTooLong`.
    """
    try:
        process = subprocess.Popen(  # noqa: S603 - whether commands may run was asked before
            command,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=dict(environment),
            start_new_session=True,
        )
    except (OSError, ValueError) as error:  # ValueError: words that no system call takes
        raise CannotStart(getattr(error, "strerror", None) or str(error)) from error
    try:
        errors = _pump(process, write, time.monotonic() + seconds, stderr_bytes, chunk_bytes)
    finally:
        _end(process)
    return Ended(process.returncode, errors)


def _pump(
    process: "subprocess.Popen[bytes]",
    write: Callable[[bytes], None],
    deadline: float,
    stderr_bytes: int,
    chunk_bytes: int,
) -> bytes:
    """Until both outputs and the process have ended; returns the tail of standard error."""
    errors = b""
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(_LOOK_SECONDS)
            for key, _ in ready:
                data = os.read(key.fd, chunk_bytes)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    write(data)
                else:
                    errors = (errors + data)[-stderr_bytes:]
            _check(deadline)
            if not ready and _has_exited(process):
                _kill_group(process)  # whom it left behind holds the outputs open
    while not _has_exited(process):  # outputs may be closed some time before the end
        _check(deadline)
        time.sleep(_NAP_SECONDS)
    return errors


def _check(deadline: float) -> None:
    if time.monotonic() > deadline:
        raise TookTooLong


def _has_exited(process: "subprocess.Popen[bytes]") -> bool:
    """Without reaping: until then nobody else can get the number of its group."""
    return os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Leaves nothing of the command's group behind; one that has ended keeps its exit code."""
    for stream in (process.stdout, process.stderr):
        if stream is not None:
            stream.close()
    _kill_group(process)
    process.wait()


def _kill_group(process: "subprocess.Popen[bytes]") -> None:
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except (ProcessLookupError, PermissionError):
        return  # nobody is left, or only what has already ended
