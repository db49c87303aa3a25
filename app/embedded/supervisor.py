"""A thread that starts the services, starts again what died, and stops them in order.

One thread makes all children and lives until the last one is gone: the kernel's tie between a child
and the node is to the *thread* that forked (stack.md 3.1), and asyncio's threads come and go.
"""

import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from app.embedded.child import Child, log_tail, rotate
from app.embedded.directory import unusable
from app.embedded.errors import ServiceKeepsFailing, ServiceStartFailed
from odf_core.errors import InternalError, OdfError

START_SECONDS = 300.0  # recovery after a crash may be long; a server that ended is noticed at once
RESTART_SECONDS = (0.1, 0.5, 1.0, 2.0, 5.0)
MOST_EXITS, EXITS_SECONDS = 5, 60.0
_TICK_SECONDS, _READY_TICK_SECONDS, _ROTATE_SECONDS = 0.1, 0.05, 30.0

logger = logging.getLogger(__name__)


class Service(Protocol):
    """What the supervisor needs of a service; `start` and `stop` are called by its thread only."""

    name: str
    log: Path
    child: Child | None

    def start(self) -> None: ...
    def probe(self) -> bool: ...
    def stop(self) -> bool: ...
    def why(self, code: int | None) -> Exception | None: ...


@dataclass
class Watched:
    service: Service
    ready: bool = False
    restart_at: float | None = None
    started_at: float = 0.0
    log_start: int = 0
    exits: deque[float] = field(default_factory=lambda: deque(maxlen=MOST_EXITS + 1))


class Supervisor:
    """Runs `services` in the order given and ends them in the opposite one.

    With `gives_up` false, one that keeps dying is started again for ever.
    """

    def __init__(
        self,
        services: Sequence[Service],
        on_failure: Callable[[OdfError], None] | None = None,
        *,
        gives_up: bool = True,
    ) -> None:
        self._gives_up = gives_up
        self._watched = [Watched(service) for service in services]
        self._on_failure = on_failure
        self._started, self._stop = threading.Event(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="odf-embedded", daemon=True)
        self.failure: OdfError | None = None
        self.clean = True
        self.restarts = 0

    def start(self) -> None:
        """Return when every service answers; raise what hindered it, with everything stopped again."""
        self._thread.start()
        try:
            self._started.wait()
        except BaseException:  # Ctrl-C while starting
            self.stop()
            raise
        if self.failure is not None:
            self._thread.join()
            raise self.failure

    def stop(self) -> None:
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def is_healthy(self) -> bool:
        return self.failure is None and self._thread.is_alive() and all(item.ready for item in self._watched)

    def _run(self) -> None:
        try:
            self._start_all()
            self._started.set()
            self._tend_until_stopped()
        except OdfError as error:
            self._fail(error)
        except OSError as error:
            self._fail(unusable(Path(str(error.filename or ".")), error))
        except Exception as error:
            logger.exception("the supervisor of the embedded services failed")
            self._fail(InternalError(f"The supervisor of the embedded services failed: {error!r}."))
        finally:
            for item in reversed(self._watched):
                item.ready = False
                self.clean &= item.service.stop()
            self._started.set()

    def _fail(self, error: OdfError) -> None:
        serving, self.failure = self._started.is_set(), error
        if serving:
            logger.error("embedded services: %s", error.message)
            if self._on_failure is not None:
                self._on_failure(error)

    def _start_all(self) -> None:
        for item in self._watched:
            self._start(item)
        while not self._stop.is_set() and not all(item.ready for item in self._watched):
            for item in self._watched:
                self._look(item)
                if item.restart_at is not None:
                    raise self._start_failed(item)
            time.sleep(_READY_TICK_SECONDS)

    def _tend_until_stopped(self) -> None:
        rotate_at = time.monotonic() + _ROTATE_SECONDS
        while not self._stop.wait(_TICK_SECONDS if self.is_healthy() else _READY_TICK_SECONDS):
            for item in self._watched:
                if item.restart_at is None:
                    self._look(item)
                elif time.monotonic() >= item.restart_at:
                    self._restart(item)
            if time.monotonic() >= rotate_at:
                rotate_at = time.monotonic() + _ROTATE_SECONDS
                for item in self._watched:
                    rotate(item.service.log)

    def _start(self, item: Watched) -> None:
        log = item.service.log
        item.log_start = log.stat().st_size if log.is_file() else 0
        item.restart_at, item.ready, item.started_at = None, False, time.monotonic()
        item.service.start()

    def _look(self, item: Watched) -> None:
        """Note whether the service is ready, still starting, or has ended."""
        child = item.service.child
        code = child.exit_code() if child else -1
        if code is not None:
            self._ended(item, code)
        elif not item.ready:
            item.ready = item.service.probe()
            if not item.ready and time.monotonic() - item.started_at > START_SECONDS:
                self._ended(item, None)

    def _ended(self, item: Watched, code: int | None) -> None:
        now = time.monotonic()
        item.ready = False
        item.exits.append(now)
        recent = sum(1 for moment in item.exits if now - moment < EXITS_SECONDS)
        item.restart_at = now + RESTART_SECONDS[min(recent, len(RESTART_SECONDS)) - 1]
        if self._started.is_set():
            logger.warning("%s ended (exit %s); starting it again", item.service.name, code)
            if recent > MOST_EXITS and self._gives_up:
                raise self._keeps_failing(item)

    def _restart(self, item: Watched) -> None:
        item.service.stop()
        self.restarts += 1
        self._start(item)

    def _start_failed(self, item: Watched) -> Exception:
        service = item.service
        code = service.child.exit_code() if service.child else None
        tail = log_tail(service.log, item.log_start)
        what = "did not answer in time" if code is None else f"ended with exit status {code}"
        return service.why(code) or ServiceStartFailed(
            f"{service.name} {what} while starting; its last line: "
            f"{tail.splitlines()[-1] if tail else '(none)'} (all of them: {service.log}).",
            objects=[service.name],
            extras={"log": tail, "exit": code},
        )

    def _keeps_failing(self, item: Watched) -> OdfError:
        tail = log_tail(item.service.log)
        return ServiceKeepsFailing(
            f"{item.service.name} died {MOST_EXITS + 1} times in {EXITS_SECONDS:.0f} seconds and is given "
            f"up: read {item.service.log}, mend the cause, and start the node again.",
            objects=[item.service.name],
            extras={"log": tail},
        )
