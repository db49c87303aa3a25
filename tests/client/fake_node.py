"""A scripted HTTP peer on a real socket: answers what each path's script says, in its order."""

import contextlib
import socket
import threading
from collections import defaultdict, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from types import TracebackType


@dataclass
class Reply:
    """One answer; `cut` closes the connection after that many bytes of the body."""

    status: int = 200
    body: bytes = b""
    headers: dict[str, str] = field(default_factory=dict)
    cut: int | None = None
    length: int | None = None


@dataclass
class Seen:
    """One request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes


Script = Callable[[Seen], Reply]


class FakePeer:
    """Answers by path: the scripted replies one after the other, the last one for ever."""

    def __init__(self) -> None:
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._listener.getsockname()[1]}/"
        self._scripts: dict[str, deque[Reply | Script]] = defaultdict(deque)
        self.seen: list[Seen] = []
        self.connections = 0
        self._open: list[socket.socket] = []
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._accept, daemon=True)
        self._thread.start()

    def __enter__(self) -> "FakePeer":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for connection in self._open:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        self._thread.join(5)

    def on(self, path: str, *replies: Reply | Script) -> None:
        """Script the path (without query)."""
        self._scripts["/" + path.lstrip("/")].extend(replies)

    def requests(self, path: str) -> list[Seen]:
        return [item for item in self.seen if item.path.split("?")[0] == "/" + path.lstrip("/")]

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._listener.accept()
            except OSError:
                return
            self.connections += 1
            self._open.append(connection)
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        with connection, connection.makefile("rb") as reader:
            try:
                while self._one(connection, reader):
                    pass
            except OSError:
                return

    def _one(self, connection: socket.socket, reader) -> bool:  # type: ignore[no-untyped-def]
        line = reader.readline().decode()
        if not line:
            return False
        method, path, _ = line.split(" ", 2)
        headers = {}
        while (header := reader.readline().decode().strip()) != "":
            name, _, value = header.partition(":")
            headers[name.lower()] = value.strip()
        body = reader.read(int(headers.get("content-length", 0)))
        seen = Seen(method, path, headers, body)
        with self._lock:
            self.seen.append(seen)
            script = self._scripts.get(path.split("?")[0])
            item = (script.popleft() if len(script) > 1 else script[0]) if script else Reply(404)
        reply = item(seen) if callable(item) else item
        length = len(reply.body) if reply.length is None else reply.length
        head = {"Content-Length": str(length), **reply.headers}
        lines = [f"HTTP/1.1 {reply.status} X", *(f"{name}: {value}" for name, value in head.items())]
        cut = reply.cut if reply.cut is not None else len(reply.body)
        connection.sendall("\r\n".join([*lines, "", ""]).encode() + reply.body[:cut])
        return reply.cut is None and reply.length is None


def ranged(data: bytes, *, status: int = 206) -> Script:
    """A script that serves `data` with ranges, answering them with `status`."""

    def serve(seen: Seen) -> Reply:
        asked = seen.headers.get("range")
        if asked is None:
            return Reply(200, data)
        start = int(asked.removeprefix("bytes=").rstrip("-"))
        return Reply(status, data[start:], {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"})

    return serve
