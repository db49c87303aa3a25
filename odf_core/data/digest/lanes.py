"""Work on several hashers at once: pieces are made in any order and hashed in theirs.

A *lane* belongs to one column. Making a piece's stream and hashing it are two tasks for one pool of
threads, so that a table of one column keeps two threads busy and a table of many all of them. A hashing
task takes only pieces that are ready and never waits, so the pool cannot run dry on itself; `submit`
waits while too many pieces are under way, which bounds memory.
"""

import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any

Make = Callable[[], list[Any]]  # the buffers of one piece


class Lane:
    """The queue of one hasher."""

    __slots__ = ("busy", "hasher", "waiting")

    def __init__(self, hasher: Any) -> None:
        self.hasher = hasher
        self.waiting: deque[Future[Any]] = deque()
        self.busy = False

    def feed(self, parts: list[Any]) -> None:
        for part in parts:
            self.hasher.update(part)


class LanePool:
    """Feeds hashers from `threads` threads; with one thread, at once in the caller's."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, "logical-hash") if threads > 1 else None
        self._lock = threading.Lock()
        self._room = threading.BoundedSemaphore(2 * threads + 2)
        self._under_way = 2 * threads + 2
        self._failure: BaseException | None = None

    def submit(self, lane: Lane, make: Make) -> None:
        """Queues one piece; raises what an earlier piece raised."""
        if self._pool is None:
            lane.feed(make())
            return
        self._raise_failure()
        self._room.acquire()
        future = self._pool.submit(make)
        with self._lock:
            lane.waiting.append(future)
        future.add_done_callback(lambda _: self._wake(lane))

    def drain(self) -> None:
        """Waits until every piece is hashed; raises what one of them raised."""
        if self._pool is None:
            return
        for _ in range(self._under_way):
            self._room.acquire()
        for _ in range(self._under_way):
            self._room.release()
        self._raise_failure()

    def close(self) -> None:
        """Ends the threads; pieces that are queued are dropped."""
        if self._pool is not None:
            self._pool.shutdown(wait=True, cancel_futures=True)

    def _wake(self, lane: Lane) -> None:
        with self._lock:
            if lane.busy or not lane.waiting or not lane.waiting[0].done():
                return
            lane.busy = True
        assert self._pool is not None
        try:
            self._pool.submit(self._hash_ready, lane)
        except RuntimeError as error:  # the pool was closed meanwhile
            self._failure = self._failure or error

    def _hash_ready(self, lane: Lane) -> None:
        while True:
            with self._lock:
                if not lane.waiting or not lane.waiting[0].done():
                    lane.busy = False
                    return
                future = lane.waiting.popleft()
            self._hash(lane, future)
            self._room.release()

    def _hash(self, lane: Lane, future: "Future[Any]") -> None:
        if future.cancelled():
            return
        failure = future.exception()
        if failure is not None:
            self._failure = self._failure or failure
        elif self._failure is None:
            lane.feed(future.result())

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure
