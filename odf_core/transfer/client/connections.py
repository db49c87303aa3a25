"""Connections to HTTP servers, kept for the next request.

A connection of urllib3 is used directly: its pool parses and re-encodes every URL several times, which
for a presigned one costs as much as sending and receiving the request.
"""

import contextlib
import ssl
import threading
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.response import HTTPResponse

from odf_core.transfer.client.options import TransferOptions


@dataclass(frozen=True, slots=True)
class Place:
    """A server: scheme, host, port."""

    scheme: str
    host: str
    port: int | None


@dataclass(frozen=True, slots=True)
class Target:
    """A URL taken apart for a request: where to, and what to ask for there."""

    place: Place
    path: str

    @classmethod
    def of(cls, url: str) -> "Target":
        """Raises ValueError for what is no `http(s)` URL."""
        parts = urlsplit(url)
        if parts.scheme not in ("http", "https") or not parts.hostname:
            raise ValueError("no http(s) URL")
        path = parts.path or "/"
        return cls(
            Place(parts.scheme, parts.hostname, parts.port), f"{path}?{parts.query}" if parts.query else path
        )


class Connections:
    """Idle connections by server; safe to use from many threads."""

    def __init__(self, options: TransferOptions) -> None:
        self._options = options
        self._most_idle = max(options.parallelism, options.simple_parallelism)
        self._idle: defaultdict[Place, list[HTTPConnection]] = defaultdict(list)
        self._lock = threading.Lock()
        self._tls: ssl.SSLContext | None = None

    def send(
        self, method: str, target: Target, headers: Mapping[str, str], body: Any
    ) -> tuple[HTTPConnection, HTTPResponse]:
        """Send a request and read the head of its answer. Raises OSError, `http.client.HTTPException`,
        `urllib3.exceptions.HTTPError`, ValueError for what cannot be sent."""
        connection = self._take(target.place)
        try:
            if not connection.is_connected:
                connection.close()
                connection.timeout = self._options.connect_timeout
                connection.connect()
            connection.timeout = self._options.read_timeout
            with contextlib.suppress(BrokenPipeError):  # it may have refused before it read the body
                connection.request(
                    method,
                    target.path,
                    body=body,
                    headers=headers,
                    preload_content=False,
                    decode_content=False,
                )
            return connection, connection.getresponse()
        except BaseException:
            connection.close()
            raise

    def give_back(self, place: Place, connection: HTTPConnection) -> None:
        """Keep a connection whose last answer was read to its end."""
        with self._lock:
            idle = self._idle[place]
            if len(idle) < self._most_idle:
                idle.append(connection)
                return
        connection.close()

    def close(self) -> None:
        """Close the idle connections."""
        with self._lock:
            connections = [item for idle in self._idle.values() for item in idle]
            self._idle.clear()
        for connection in connections:
            connection.close()

    def _take(self, place: Place) -> HTTPConnection:
        with self._lock:
            if self._idle[place]:
                return self._idle[place].pop()
            if place.scheme == "https" and self._tls is None:
                self._tls = ssl.create_default_context()
        size = self._options.chunk_bytes
        if place.scheme == "https":
            return HTTPSConnection(place.host, place.port, blocksize=size, ssl_context=self._tls)
        return HTTPConnection(place.host, place.port, blocksize=size)
