"""Work on several hashers at once, in several threads, each hasher's pieces in their order.

A *lane* belongs to a few columns, whose streams are hashed together (`odf_core.sha3`). A worker takes a
lane that nobody works on and makes and hashes its next piece of each column. A worker that finds all lanes
taken makes a later piece ahead; so a narrow table keeps two threads busy, and a wide one all of them.
`submit` waits while too many pieces are under way, which bounds memory.
"""

import threading
from collections import deque
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any

from odf_core.sha3 import Hasher, update_all

Parts = Iterable[Any]
"""The buffers of one piece of one column's stream, which may be made as they are taken."""

Make = Callable[[], list[Parts]]
"""Makes the next piece of every column of a lane."""


class _Piece:
    """One piece: not begun, being made ahead (`making`), or made (`parts`)."""

    __slots__ = ("make", "making", "parts")

    def __init__(self, make: Make) -> None:
        self.make = make
        self.making = False
        self.parts: list[Parts] | None = None


class Lane:
    """The hashers of some columns and the pieces that wait for them."""

    __slots__ = ("busy", "hashers", "waiting")

    def __init__(self, hashers: Sequence[Hasher]) -> None:
        self.hashers = hashers
        self.waiting: deque[_Piece] = deque()
        self.busy = False

    def feed(self, parts: list[Parts]) -> None:
        update_all(zip(self.hashers, parts, strict=True))


class LanePool:
    """Feeds hashers from `threads` threads; with one thread, at once in the caller's."""

    def __init__(self, lanes: list[Lane], threads: int) -> None:
        self._lanes = lanes
        self._changed = threading.Condition()
        self._under_way = 0
        self._most = 2 * threads + 2
        self._failure: BaseException | None = None
        self._closed = False
        self._threads = [
            threading.Thread(target=self._work, name=f"logical-hash-{number}", daemon=True)
            for number in range(threads if threads > 1 else 0)
        ]
        for thread in self._threads:
            thread.start()

    def submit(self, lane: Lane, make: Make) -> None:
        """Queues one piece; raises what an earlier piece raised."""
        if not self._threads:
            lane.feed(make())
            return
        with self._changed:
            self._changed.wait_for(lambda: self._under_way < self._most or self._failure is not None)
            self._raise_failure()
            lane.waiting.append(_Piece(make))
            self._under_way += 1
            self._changed.notify_all()

    def drain(self) -> None:
        """Waits until every piece is hashed; raises what one of them raised."""
        with self._changed:
            self._changed.wait_for(lambda: self._under_way == 0 or self._failure is not None)
            self._raise_failure()

    def close(self) -> None:
        """Ends the threads; pieces that nobody has begun are dropped."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for thread in self._threads:
            thread.join()

    def _raise_failure(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _work(self) -> None:
        while True:
            with self._changed:
                task = self._next_task()
                while task is None and not self._closed:
                    self._changed.wait()
                    task = self._next_task()
                if self._closed or task is None:
                    return
            try:
                task()
            except BaseException as error:  # noqa: BLE001 - handed to the caller's thread
                with self._changed:
                    self._failure = self._failure or error
                    self._changed.notify_all()

    def _next_task(self) -> Callable[[], None] | None:
        """What a free worker does next; called under the lock."""
        for lane in self._lanes:
            if lane.waiting and not lane.busy and not lane.waiting[0].making:
                lane.busy = True
                return partial(self._hash, lane, lane.waiting.popleft())
        for lane in self._lanes:
            for piece in lane.waiting:
                if piece.parts is None and not piece.making:
                    piece.making = True
                    return partial(self._make_ahead, piece)
        return None

    def _hash(self, lane: Lane, piece: _Piece) -> None:
        lane.feed(piece.parts if piece.parts is not None else piece.make())
        with self._changed:
            lane.busy = False
            self._under_way -= 1
            self._changed.notify_all()

    def _make_ahead(self, piece: _Piece) -> None:
        parts: list[Parts] = [list(buffers) for buffers in piece.make()]
        with self._changed:
            piece.parts = parts
            piece.making = False
            self._changed.notify_all()
