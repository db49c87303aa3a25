"""Threads that hash at the same time share one run of the kernel.

Whoever comes while a run is under way leaves its blocks and waits; the next run takes all that has
gathered. So the streams of a node's uploads, or of a client's downloads, meet without knowing each other.
"""

import threading
from collections import deque
from collections.abc import Sequence

from odf_core.sha3.kernel import Kernel
from odf_core.sha3.lockstep import Feed, absorb

GATHER_SECONDS = 0.004
"""A run waits no longer for threads that came lately and are not there yet."""
_ENOUGH = 8
"""So many streams fill every kernel; a thread that brings half of them itself does not wait either."""


class _Visit:
    """One thread's feeds; `turn` is released when they are absorbed or the thread is to run them."""

    __slots__ = ("done", "failure", "feeds", "turn")

    def __init__(self, feeds: Sequence[Feed]) -> None:
        self.feeds = feeds
        self.done = False
        self.failure: BaseException | None = None
        self.turn = threading.Lock()
        self.turn.acquire()


class Combiner:
    """One run at a time, over everything that waits."""

    def __init__(self, kernels: Sequence[Kernel]) -> None:
        self._kernels = kernels
        self._arrived = threading.Condition()
        self._waiting: list[_Visit] = []
        self._running = False
        self._lately: deque[int] = deque(maxlen=_ENOUGH)  # threads of the last visits

    def absorb(self, feeds: Sequence[Feed]) -> None:
        """Returns when all of `feeds` are absorbed; their memory must not change until then."""
        visit = _Visit(feeds)
        with self._arrived:
            self._lately.append(threading.get_ident())
            self._waiting.append(visit)
            runs = not self._running
            self._running = True
            if not runs and self._is_company_there():
                self._arrived.notify()
        if not runs:
            visit.turn.acquire()
        if not visit.done:
            self._run()
        if visit.failure is not None:
            raise visit.failure

    def _is_company_there(self) -> bool:
        """Whether more would not be worth waiting for: there are enough, or all who came lately are there."""
        feeds = [len(visit.feeds) for visit in self._waiting]
        enough = sum(feeds) >= _ENOUGH or max(feeds, default=0) >= _ENOUGH // 2
        return enough or len(self._waiting) >= len(set(self._lately))

    def _run(self) -> None:
        with self._arrived:
            self._arrived.wait_for(self._is_company_there, GATHER_SECONDS)
            visits, self._waiting = self._waiting, []
        failure: BaseException | None = None
        try:
            absorb([feed for visit in visits for feed in visit.feeds], self._kernels)
        except BaseException as error:  # noqa: BLE001 - raised in every thread that it concerns
            failure = error
        with self._arrived:
            heir = self._waiting[0] if self._waiting else None
            self._running = heir is not None
        for visit in visits:
            visit.done, visit.failure = True, failure
            visit.turn.release()
        if heir is not None:
            heir.turn.release()
