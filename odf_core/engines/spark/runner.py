"""Runs one call in a thread of its own and tells its course as a stream of JSON objects."""

import json
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeAlias

from odf_core.engines.spark.calls import Call, Calls
from odf_core.engines.spark.failures import as_odf_error
from odf_core.engines.spark.handlers import handler_of
from odf_core.engines.wire import describe

Told: TypeAlias = dict[str, Any]
"""One of `{"progress": text}`, `{"done": {…}}`, `{"error": {…}}`; the last two end a stream."""

_log = logging.getLogger(__name__)


class Runner:
    """Threads for calls. They are used again: each has a connection to Java that is costly to make."""

    def __init__(self, calls: Calls, most: int) -> None:
        self._calls = calls
        self._threads = ThreadPoolExecutor(most, thread_name_prefix="call")
        self._running: set[_Running] = set()

    def run(
        self, kind: object, request: Told, when_gone: Callable[[Callable[[], None]], object]
    ) -> Iterator[Told]:
        """The course of a call that has entered `calls`.

        `when_gone` is given what to do should the caller go away before the end.
        """
        running = _Running(self._calls)
        self._running.add(running)
        if when_gone(running.abandon) is False:  # it has gone already
            running.abandon()
        self._threads.submit(running.work, kind, request)
        return running.told()

    def end_abandoned(self) -> None:
        """Ends what Spark does for callers that have gone; asked for again and again.

        Once is not enough: a call may be between two jobs. Spark's own way to refuse later jobs of a group
        leaves adaptive queries waiting for a stage that never runs.
        """
        self._running -= {running for running in self._running.copy() if running.over}
        for running in self._running.copy():
            running.end_if_abandoned()


class _Running:
    """A call between the thread that works on it and the one that tells its caller."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._told: queue.SimpleQueue[Told] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._call: Call | None = None
        self._over = False
        self._abandoned = False

    def work(self, kind: object, request: Told) -> None:
        """In the working thread: the whole call, and its last word."""
        try:
            last = {"done": self._answer(kind, request)}
            json.dumps(last)
        except Exception as error:  # noqa: BLE001  whatever it is, the caller waits for a word
            last = {"error": describe(as_odf_error(error))}
        finally:
            with self._lock:
                self._over = True
            self._calls.leave()
        self._told.put(last)

    def _answer(self, kind: object, request: Told) -> Told:
        with self._calls.call() as call:
            with self._lock:
                self._call = call
                abandoned = self._abandoned
            if abandoned:
                return {}
            return handler_of(kind)(call.session, request, self._progress, call.workdir)

    def _progress(self, text: str) -> None:
        self._told.put({"progress": text})

    def abandon(self) -> None:
        """The caller is gone: nobody waits for the rest."""
        with self._lock:
            self._abandoned = True
            call = None if self._over else self._call
        if call is not None:
            _log.warning("The caller of %s is gone; its jobs are ended.", call.name)

    @property
    def over(self) -> bool:
        """Whether the last word has been said."""
        return self._over

    def end_if_abandoned(self) -> None:
        """Ends what Spark does now, if nobody waits for it."""
        with self._lock:
            call = self._call if self._abandoned and not self._over else None
        if call is not None:
            call.cancel()

    def told(self) -> Iterator[Told]:
        """What there is to tell, as it comes, until the last word."""
        while True:
            word = self._told.get()
            yield word
            if "progress" not in word:
                return
