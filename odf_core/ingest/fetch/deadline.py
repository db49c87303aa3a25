"""A bound on the time of a whole fetch, whichever part of a protocol a source dawdles in."""

import contextlib
import socket
import threading
from types import TracebackType


class Deadline:
    """Shuts the guarded socket down when the time is over, so that whoever waits for it wakes.

    A timeout of a socket bounds one wait; a source that sends a byte now and then meets none of them.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.expired = False
        self._socket: socket.socket | None = None
        self._lock = threading.Lock()
        self._timer = threading.Timer(seconds, self._expire)
        self._timer.daemon = True

    def __enter__(self) -> "Deadline":
        self._timer.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._timer.cancel()
        self._timer.join()
        self._socket = None

    def guard(self, connected: socket.socket | None) -> None:
        """From now on this is the socket that the deadline ends."""
        with self._lock:
            self._socket = connected
            if self.expired:
                self._shut()

    def _expire(self) -> None:
        with self._lock:
            self.expired = True
            self._shut()

    def _shut(self) -> None:
        if self._socket is not None:
            with contextlib.suppress(OSError):  # closed meanwhile: nobody waits for it
                # The plain method: that of a TLS socket takes the session away from under a reader.
                socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
