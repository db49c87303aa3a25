"""Many objects at once: URLs asked for in batches, moved by threads, asked for anew when they expire."""

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from odf_core.identity import ObjectRef
from odf_core.transfer.client.download import Stopped, UrlExpired
from odf_core.transfer.client.errors import UnexpectedAnswer
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.progress import Progress
from odf_core.transfer.client.results import TransferStats

_POLL_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Ticket:
    """Where one object moves; `url` None: the other side has it already."""

    url: str | None
    headers: Mapping[str, str] = field(default_factory=dict)
    use_before: datetime | None = None


Ask = Callable[[Sequence[ObjectRef]], Mapping[ObjectRef, Ticket]]
"""Gets tickets for objects from the peer; called from the dispatching thread only."""

Move = Callable[[ObjectRef, Ticket, threading.Event], int]
"""Moves one object in a thread of the pool; returns the bytes moved."""


def use_before(expires_at: datetime | None, now: datetime, margin: float) -> datetime | None:
    """When a ticket should no longer be used; None where its expiry says nothing by this clock."""
    if expires_at is None:
        return None
    limit = expires_at - timedelta(seconds=margin)
    return limit if limit > now else None


@dataclass(slots=True)
class _Result:
    ref: ObjectRef
    moved: int = 0
    error: BaseException | None = None


@dataclass(slots=True)
class Dispatcher:
    """Moves objects in parallel; `poll` is called a few times a second while they move.

    `ask_again` False (the peer takes no further request in this session) raises the refusal of an
    expired URL instead of asking anew; `drain` asks for the next batch only when no move is under way.
    """

    options: TransferOptions
    progress: Progress
    ask: Ask
    move: Move
    parallelism: int
    poll: Callable[[], None] = lambda: None
    ask_again: bool = True
    drain: bool = False

    _waiting: deque[ObjectRef] = field(default_factory=deque)
    _ready: deque[tuple[ObjectRef, Ticket]] = field(default_factory=deque)
    _results: queue.SimpleQueue[_Result] = field(default_factory=queue.SimpleQueue)
    _stop: threading.Event = field(default_factory=threading.Event)
    _moving: int = 0
    _renewals: int = 0
    _stats: TransferStats = field(default_factory=TransferStats)

    def run(self, refs: Iterable[ObjectRef]) -> TransferStats:
        """Move every object once; raises the first error, after the moves under way have stopped."""
        self._waiting.extend(dict.fromkeys(refs))
        with ThreadPoolExecutor(self.parallelism, thread_name_prefix="odf-transfer") as pool:
            try:
                while self._waiting or self._ready or self._moving:
                    self._refill()
                    self._start(pool)
                    self._collect()
                    self.poll()
            except BaseException:
                self._stop.set()
                pool.shutdown(wait=True, cancel_futures=True)
                raise
        return self._stats

    def _refill(self) -> None:
        """Ask for the next batch of tickets when the threads are about to run dry."""
        still_moving = 0 if self.drain else self.parallelism // 2
        if not self._waiting or self._ready or self._moving > still_moving:
            return
        size = min(self.options.objects_per_request, self.options.limits.objects_per_request)
        batch = [self._waiting.popleft() for _ in range(min(size, len(self._waiting)))]
        tickets = self.ask(batch)
        missing = [ref for ref in batch if ref not in tickets]
        if missing:
            raise UnexpectedAnswer(
                f"The node gave no URLs for {len(missing)} of the objects asked for.",
                objects=[ref.hash for ref in missing[:20]],
            )
        for ref in batch:
            ticket = tickets[ref]
            if ticket.url is None:
                self._stats += TransferStats(objects_present=1)
                self.progress.done()
            else:
                self._ready.append((ref, ticket))

    def _start(self, pool: ThreadPoolExecutor) -> None:
        """Keep the pool fed, a little ahead of its threads."""
        now = datetime.now(UTC)
        while self._ready and self._moving < self.parallelism * 2:
            ref, ticket = self._ready.popleft()
            if self.ask_again and ticket.use_before is not None and now > ticket.use_before:
                self.progress.note("URLs are about to expire; asking for new ones.")
                self._waiting.extendleft(other for other, _ in reversed(self._ready))
                self._waiting.appendleft(ref)
                self._ready.clear()
                return
            self._moving += 1
            pool.submit(self._run_one, ref, ticket)

    def _run_one(self, ref: ObjectRef, ticket: Ticket) -> None:
        result: _Result = _Result(ref)
        try:
            if self._stop.is_set():
                raise Stopped
            result.moved = self.move(ref, ticket, self._stop)
        except BaseException as error:  # noqa: BLE001 - handed to the dispatching thread, which raises it
            result.error = error
        self._results.put(result)

    def _collect(self) -> None:
        """Take in what has finished; waits a moment for the first."""
        if not self._moving:
            return
        try:
            self._settle(self._results.get(timeout=_POLL_SECONDS))
            while True:
                self._settle(self._results.get_nowait())
        except queue.Empty:
            return

    def _settle(self, result: _Result) -> None:
        self._moving -= 1
        if result.error is None:
            self._renewals = 0
            self._stats += TransferStats(objects_moved=1, bytes_moved=result.moved)
            self.progress.done()
        elif isinstance(result.error, UrlExpired):
            self._renewals += 1
            if not self.ask_again or self._renewals > self.options.renewals * self.parallelism:
                raise result.error.refused from result.error
            self.progress.note("A URL has expired; asking for a new one.")
            self._waiting.append(result.ref)
        else:
            raise result.error
