"""`pipe`: a command that reads standard input and writes standard output, without a shell."""

import os
import selectors
import signal
import subprocess
import time
from pathlib import Path
from typing import IO

from odf_core.ingest.errors import InvalidPrepareStep, PipeFailed, PipeTimedOut
from odf_core.ingest.fetch.policy import Permission
from odf_core.ingest.prepare.options import PrepareContext
from odf_core.ingest.prepare.sink import Sink, sink

PASSED = frozenset({"PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR"})
"""Variables that each command gets; more only by the policy, as a node's environment has secrets."""
_LOOK_SECONDS = 0.1
_NAP_SECONDS = 0.005


def run_pipe(command: tuple[str, ...], path: Path, context: PrepareContext) -> Path:
    """A new file with what `command` writes when it reads `path`.

    Its whole process group is gone when this returns or raises. Raises `FetchNotAllowed`,
    `InvalidPrepareStep`, `PipeFailed`, `PipeTimedOut`, `PreparedTooLarge`.
    """
    context.policy.require(Permission.PIPE, "Running a command (`pipe`)")
    if not command or not command[0] or any("\0" in word for word in command):
        raise InvalidPrepareStep("The `pipe` step has no command, or one with a NUL character.")
    what = f"The command {command[0]!r} of the `pipe` step"
    with path.open("rb") as source, sink(what, context) as out:
        process = _start(command, source, context)
        try:
            errors = _pump(process, out, what, context)
        finally:
            _end(process)
    if process.returncode != 0:
        out.path.unlink(missing_ok=True)
        raise PipeFailed(
            f"{what} {_ending(process.returncode)}{_last_words(errors)}",
            extras={"exit_code": process.returncode},
        )
    return out.path


def _start(command: tuple[str, ...], source: IO[bytes], context: PrepareContext) -> "subprocess.Popen[bytes]":
    passed = {name: value for name, value in context.environment.items() if name in PASSED}
    try:
        return subprocess.Popen(  # noqa: S603 - the policy allows commands
            command,
            stdin=source,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=passed | context.policy.variables_of(context.environment),
            start_new_session=True,
        )
    except OSError as error:
        raise InvalidPrepareStep(
            f"The command {command[0]!r} of the `pipe` step cannot be started: {error.strerror}."
        ) from error


def _pump(process: "subprocess.Popen[bytes]", out: Sink, what: str, context: PrepareContext) -> bytes:
    """Standard output into the sink until both outputs end; returns the tail of standard error."""
    options = context.options
    deadline = time.monotonic() + options.pipe_timeout
    errors = b""
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            selector.register(stream, selectors.EVENT_READ)
        while selector.get_map():
            if time.monotonic() > deadline:
                raise _timed_out(what, context)
            ready = selector.select(_LOOK_SECONDS)
            for key, _ in ready:
                data = os.read(key.fd, options.chunk_bytes)
                if not data:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stdout:
                    out.write(data)
                else:
                    errors = (errors + data)[-options.pipe_stderr_bytes :]
            if not ready and _has_exited(process):
                _kill_group(process)  # whom it left behind holds the outputs open
    while not _has_exited(process):  # outputs may be closed some time before the end
        if time.monotonic() > deadline:
            raise _timed_out(what, context)
        time.sleep(_NAP_SECONDS)
    return errors


def _timed_out(what: str, context: PrepareContext) -> PipeTimedOut:
    return PipeTimedOut(f"{what} ran longer than {context.options.pipe_timeout:g} s and was killed.")


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


def _ending(code: int) -> str:
    return f"ended with exit code {code}" if code > 0 else f"was ended by signal {-code}"


def _last_words(errors: bytes) -> str:
    lines = errors.decode("utf-8", "replace").strip().splitlines()[-5:]
    return ": " + " / ".join(line.strip() for line in lines)[:1000] if lines else " and said nothing."
