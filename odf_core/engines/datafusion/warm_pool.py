"""Processes that have loaded DataFusion and wait for calls; they end with this program."""

import atexit
import contextlib
import os
import selectors
import signal
import subprocess
import threading
import time
from typing import TypeAlias

import msgspec

from odf_core.engines.contract import DATAFUSION
from odf_core.engines.datafusion.calls import StepAnswer, StepRequest
from odf_core.engines.datafusion.process import environment
from odf_core.engines.errors import EngineDied, EngineTimeout
from odf_core.engines.program import OWN, EngineProgram

_MOST_IDLE = 2
"""Of one engine."""
_NOWHERE = "/nonexistent"
"""Each call has a folder of its own."""
_CHUNK = 1 << 16
_MOST_ANSWER = 64 << 20

_lock = threading.Lock()
_Owner: TypeAlias = tuple[int, EngineProgram]
"""The process that started one, for a fork of it must not use it, and what that one runs."""
_idle: list[tuple[_Owner, "subprocess.Popen[bytes]"]] = []


def ask(request: StepRequest, seconds: float, program: EngineProgram = OWN) -> StepAnswer:
    """The answer of a process that is free, or of a new one. Raises `EngineTimeout`, `EngineDied`."""
    answer = None
    while answer is None:
        process, was_idle = _taken(program)
        try:
            answer = _asked(process, msgspec.json.encode(request), seconds)
        except EngineDied:
            _end(process)
            if not was_idle:
                raise
            continue  # it ended while it waited
        except BaseException:
            _end(process)
            raise
        _give_back(process, program)
    if answer.died is not None:
        raise EngineDied(
            f"The query's process ended, perhaps for want of memory ({request.memory_bytes} bytes are "
            f"allowed); status {answer.died}."
        )
    return answer


@atexit.register
def end_idle() -> None:
    """Ends the processes of this program that wait."""
    with _lock:
        mine = [process for (parent, _), process in _idle if parent == os.getpid()]
        _idle.clear()
    for process in mine:
        _end(process)


def _taken(program: EngineProgram) -> tuple["subprocess.Popen[bytes]", bool]:
    """A process, and whether it has waited: all that wait may have ended meanwhile."""
    with _lock:
        for place, (owner, process) in enumerate(_idle):
            if owner == (os.getpid(), program) and process.poll() is None:
                del _idle[place]
                return process, True
    process = subprocess.Popen(  # noqa: S603 - a program of ours
        program.command(DATAFUSION),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**environment(_NOWHERE, program), "OPENBLAS_NUM_THREADS": "1"},
        cwd="/",
        start_new_session=True,
    )
    return process, False


def _give_back(process: "subprocess.Popen[bytes]", program: EngineProgram) -> None:
    mine = (os.getpid(), program)
    with _lock:
        if sum(owner == mine for owner, _ in _idle) < _MOST_IDLE:
            _idle.append((mine, process))
            return
    _end(process)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """At once, with the fork that works."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout):
        if pipe is not None:
            with contextlib.suppress(BrokenPipeError):
                pipe.close()


def _asked(process: "subprocess.Popen[bytes]", content: bytes, seconds: float) -> StepAnswer:
    ends = time.monotonic() + seconds
    if process.stdin is None or process.stdout is None:
        raise EngineDied("DataFusion's process has no pipes.")
    try:
        process.stdin.write(content + b"\n")
        process.stdin.flush()
    except BrokenPipeError as error:
        raise EngineDied("DataFusion's process ended before it was asked.") from error
    line = b""
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        while not line.endswith(b"\n"):
            if not selector.select(max(0.0, ends - time.monotonic())):
                raise EngineTimeout(
                    f"The query took longer than {seconds:.0f} s and was ended.", extras={"seconds": seconds}
                )
            chunk = os.read(process.stdout.fileno(), _CHUNK)
            line += chunk
            if not chunk or len(line) > _MOST_ANSWER:
                raise EngineDied("DataFusion's process ended in the middle of a call.")
    try:
        return msgspec.json.decode(line, type=StepAnswer)
    except msgspec.MsgspecError as error:
        raise EngineDied(f"DataFusion's process answered something that cannot be read: {error}.") from error
