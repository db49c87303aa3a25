"""The calls that an engine works on: how many at a time, since when none, each with a session of its own."""

import contextlib
import shutil
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

from odf_core.engines.errors import EngineBusy, EngineStartFailed


@dataclass(frozen=True, slots=True)
class Call:
    """One call: its name (a group of jobs in Spark), its session, its folder."""

    name: str
    session: SparkSession
    workdir: Path

    def cancel(self) -> None:
        """Ends what Spark does for this call at this moment; the call then fails where it is."""
        self.session.sparkContext.cancelJobGroup(self.name)


class Calls:
    """Gives calls their sessions, once Spark is there, and counts them."""

    def __init__(self, most: int, scratch: Path) -> None:
        self._most = most
        self._scratch = scratch
        self._changed = threading.Condition()
        self._session: SparkSession | None = None
        self._failure: str | None = None
        self._closed = False
        self._active = 0
        self._answered = 0
        self._idle_since = time.monotonic()

    def begin(self, session: SparkSession) -> None:
        """Spark is there."""
        with self._changed:
            self._session = session
            self._idle_since = time.monotonic()
            self._changed.notify_all()

    def fail(self, why: str) -> None:
        """Spark will not be there; calls that wait for it are told why."""
        with self._changed:
            self._failure = self._failure or why
            self._changed.notify_all()

    def wait_for_an_answer(self, seconds: float) -> None:
        """Until a call has ended (with the failure, say), for so long at most."""
        with self._changed:
            self._changed.wait_for(lambda: self._answered > 0, seconds)

    def idle_for(self) -> float:
        """Seconds since the last call ended; 0 while there are calls."""
        with self._changed:
            return 0.0 if self._active else time.monotonic() - self._idle_since

    def close_if_idle(self, seconds: float) -> bool:
        """Takes no more calls if there was none for so long, in one step with looking for one."""
        with self._changed:
            if self._active or time.monotonic() - self._idle_since < seconds:
                return False
            self._closed = True
            return True

    @property
    def answered(self) -> int:
        """How many calls have ended."""
        return self._answered

    def enter(self) -> bool:
        """Counts a call in; False if the engine ends. Raises `EngineBusy`. Each needs `leave`."""
        with self._changed:
            if self._closed:
                return False
            if self._active >= self._most:
                raise EngineBusy(
                    f"The engine works on {self._active} calls, which is as many as `spark.calls` allows; "
                    "try again when one is done.",
                    extras={"calls": self._most},
                )
            self._active += 1
            return True

    def leave(self) -> None:
        """Counts a call out."""
        with self._changed:
            self._active -= 1
            self._answered += 1
            self._idle_since = time.monotonic()
            self._changed.notify_all()

    @contextlib.contextmanager
    def call(self) -> Iterator[Call]:
        """A call that has entered: waits for Spark; raises `EngineStartFailed` if it does not come."""
        with self._changed:
            self._changed.wait_for(lambda: self._session is not None or self._failure is not None)
            if self._session is None:
                raise EngineStartFailed(self._failure or "Spark could not be started.")
            root = self._session
        name = f"odf-{uuid.uuid4().hex[:12]}"
        call = Call(name, root.newSession(), self._scratch / name)
        call.workdir.mkdir(mode=0o700)
        root.sparkContext.setJobGroup(name, "a call", interruptOnCancel=True)
        jvm: Any = root._jvm
        jvm.SparkSession.setActiveSession(call.session._jsparkSession)
        try:
            yield call
        finally:
            shutil.rmtree(call.workdir, ignore_errors=True)
