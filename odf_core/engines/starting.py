"""Starts an engine's process, finds the one that runs, and ends it.

Whoever starts or ends one holds the start lock; the engine holds the life lock as long as it lives, also
when it is killed: then the system gives the lock back, and what it left is swept by the next start.
"""

import contextlib
import fcntl
import json
import os
import signal
import subprocess
import time
from collections.abc import Iterator

from odf_core.engines.contract import PROTOCOL, SPARK
from odf_core.engines.errors import EngineStartFailed, EngineTimeout
from odf_core.engines.exchange import sweep
from odf_core.engines.folders import EngineFolders
from odf_core.engines.java import find_java
from odf_core.engines.options import SparkOptions
from odf_core.engines.program import OWN, EngineProgram

_STEP_SECONDS = 0.02
_TAIL_BYTES = 2000
_ANSWER_SECONDS = 30


@contextlib.contextmanager
def starter(folders: EngineFolders, ends: float) -> Iterator[None]:
    """Holds the start lock; waits for it until the monotonic time `ends`, then raises `EngineTimeout`."""
    descriptor = os.open(folders.start_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _locked(descriptor):
            if time.monotonic() > ends:
                raise EngineTimeout("Another program has been starting the engine for too long.")
            time.sleep(_STEP_SECONDS)
        yield
    finally:
        os.close(descriptor)


def lives(folders: EngineFolders) -> bool:
    """Whether an engine's process holds the life lock."""
    try:
        descriptor = os.open(folders.life_lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def start(options: SparkOptions, folders: EngineFolders, program: EngineProgram = OWN) -> None:
    """Starts an engine and waits until it listens; the start lock is held. Raises `EngineStartFailed`."""
    sweep(folders)
    folders.socket.unlink(missing_ok=True)
    java = find_java(options.java_home)
    told = {
        "protocol": PROTOCOL,
        "options": options.to_json(),
        "folders": {"runtime": str(folders.runtime), "work": str(folders.work), "cache": str(folders.cache)},
        "java": {"home": str(java.home), "version": java.version},
    }
    descriptor = os.open(folders.log, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
    try:
        began = os.fstat(descriptor).st_size
        process = subprocess.Popen(  # noqa: S603 - a program of ours
            program.command(SPARK, "--detached"),
            stdin=subprocess.PIPE,
            stdout=descriptor,
            stderr=descriptor,
            env=_environment(folders, program),
            cwd=folders.scratch,
            start_new_session=True,
        )
        if _end_of(process, json.dumps(told).encode()) != 0:
            words = os.pread(descriptor, _TAIL_BYTES, max(began, os.fstat(descriptor).st_size - _TAIL_BYTES))
            raise EngineStartFailed(
                "The Spark engine could not be started; its last words: "
                f"{words.decode(errors='replace').strip() or '(none)'} (log: {folders.log})",
                objects=[folders.log],
            )
    finally:
        os.close(descriptor)


def _end_of(process: "subprocess.Popen[bytes]", told: bytes) -> int:
    """Tells the process what to do; its exit status says whether its child listens."""
    try:
        process.communicate(told, timeout=_ANSWER_SECONDS)
    except subprocess.TimeoutExpired:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
    return process.returncode


def _environment(folders: EngineFolders, program: EngineProgram) -> dict[str, str]:
    """All of the environment that the engine gets: nothing of its user's secrets."""
    return {
        "HOME": str(folders.scratch),
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin",
        **program.paths(),
        "PYTHONUNBUFFERED": "1",
        "PYTHONDONTWRITEBYTECODE": "1",
        "TMPDIR": str(folders.scratch),
    }


def end(folders: EngineFolders, patience: float) -> None:
    """Ends the engine if one lives: in order, and by force after `patience` seconds (0: at once)."""
    deadline = time.monotonic() + patience
    if patience > 0 and lives(folders):
        _signal(folders, signal.SIGTERM)
        while lives(folders) and time.monotonic() < deadline:
            time.sleep(_STEP_SECONDS)
    while lives(folders):
        _signal(folders, signal.SIGKILL)
        time.sleep(_STEP_SECONDS)


def _signal(folders: EngineFolders, number: signal.Signals) -> None:
    """Signals the engine, which lives; SIGKILL goes to its Java as well."""
    try:
        state = json.loads(folders.state.read_text())
    except (FileNotFoundError, json.JSONDecodeError):
        return  # it has just begun or is just ending: the caller looks again
    with contextlib.suppress(ProcessLookupError):
        if number is signal.SIGKILL:
            os.killpg(state["group"], number)
        else:
            os.kill(state["pid"], number)


def _locked(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
