"""The remote control of the embedded rclone: telling it that files beneath it have changed.

Only `vfs/forget` with names of *files* is used: it marks the listing of each file's folder as stale and
returns when no older listing can come into use any more. Forgetting folders leaves those out in which
an upload is under way (measured; docs/adr/0003-embedded-promotion.md).
"""

import http.client
import json
import socket
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

from odf_core.storage.errors import StoreUnavailable

_NAMES_AT_ONCE = 1000
_ANSWER_BYTES = 1 << 20
_PAUSE_SECONDS = 0.05


class ChangeListener(Protocol):
    """Whoever serves files of a directory from a cache of listings."""

    def forget(self, paths: Iterable[str]) -> None:
        """From now on serve these paths, relative to the root, as they are on disk.

        Raises `StoreUnavailable` where that cannot be promised.
        """


class RcloneControl:
    """`rclone … --rc` on a Unix socket; tries for `patience` seconds, so that a restart is waited for."""

    def __init__(self, socket_path: Path | str, *, patience: float = 10.0, timeout: float = 5.0) -> None:
        self._path = str(socket_path)
        self._patience = patience
        self._timeout = timeout

    def forget(self, paths: Iterable[str]) -> None:
        names = sorted(set(paths))
        for first in range(0, len(names), _NAMES_AT_ONCE):
            batch = names[first : first + _NAMES_AT_ONCE]
            self._call("/vfs/forget", {f"file{number}": name for number, name in enumerate(batch)})

    def _call(self, command: str, arguments: dict[str, str]) -> None:
        deadline = time.monotonic() + self._patience
        body = json.dumps(arguments).encode()
        while True:
            problem = self._once(command, body)
            if problem is None:
                return
            if time.monotonic() >= deadline:
                raise StoreUnavailable(
                    f"The embedded S3 server cannot be told of changed files: {problem}.",
                    objects=[self._path],
                )
            time.sleep(_PAUSE_SECONDS)

    def _once(self, command: str, body: bytes) -> str | None:
        """None, or what went wrong. A refusal may be that the server is about to start: tried again."""
        connection = _UnixConnection(self._path, self._timeout)
        try:
            connection.request("POST", command, body, {"Content-Type": "application/json"})
            answer = connection.getresponse()
            text = answer.read(_ANSWER_BYTES)
        except (OSError, http.client.HTTPException) as error:
            return str(error) or type(error).__name__
        finally:
            connection.close()
        if answer.status != 200:
            return f"it answered {answer.status} {text[:200].decode(errors='replace')}"
        return None


class _UnixConnection(http.client.HTTPConnection):
    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)
