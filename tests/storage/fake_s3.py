"""An S3 server that misbehaves as it is told; for the faults that a real one does not show."""

import threading
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass(frozen=True)
class Answer:
    """`length` is what Content-Length says; `wait` is waited for before anything is sent."""

    status: int = 200
    body: bytes = b""
    headers: Mapping[str, str] = field(default_factory=dict)
    length: int | None = None
    wait: threading.Event | None = None


def error(status: int, code: str) -> Answer:
    body = f"<?xml version='1.0'?><Error><Code>{code}</Code><Message>m</Message></Error>".encode()
    return Answer(status, body, {"Content-Type": "application/xml"})


def _quiet(*_: Any) -> None:
    """Whoever was kept waiting too long has hung up."""


class FakeS3:
    """Gives `answers` one after the other, the last one for ever; `seen` are the requests."""

    def __init__(self, *answers: Answer) -> None:
        self._answers = deque(answers)
        self.seen: list[tuple[str, str, dict[str, str], bytes]] = []
        fake = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self) -> None:
                fake._answer(self)

            do_GET = do_PUT = do_HEAD = do_POST = do_DELETE = answer

            def log_message(self, *_: Any) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = _quiet  # type: ignore[assignment,method-assign]
        self.endpoint = f"http://127.0.0.1:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,))
        self._thread.start()

    def _answer(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", "0")))
        self.seen.append((request.command, request.path, dict(request.headers), body))
        answer = self._answers.popleft() if len(self._answers) > 1 else self._answers[0]
        if answer.wait is not None:
            answer.wait.wait(30)
        request.send_response_only(answer.status)
        for name, value in answer.headers.items():
            request.send_header(name, value)
        length = len(answer.body) if answer.length is None else answer.length
        request.send_header("Content-Length", str(length))
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(answer.body)
        if length != len(answer.body):
            request.close_connection = True

    def __enter__(self) -> "FakeS3":
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
