"""What tests of the fetch phase share: contexts, a file server on loopback, and a server that misbehaves."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from odf_core.ingest.fetch import FetchContext, FetchOptions, FetchPolicy
from odf_core.metadata.timestamp import Timestamp

NOW = Timestamp.parse("2050-01-01T12:00:00Z")


def context_in(folder: Path, policy: FetchPolicy | None = None, **options) -> FetchContext:
    work = folder / "work"
    work.mkdir(exist_ok=True)
    return FetchContext(
        workdir=work, system_time=NOW, policy=policy or FetchPolicy.person(), options=FetchOptions(**options)
    )


def left_over(context: FetchContext) -> list[str]:
    return sorted(path.name for path in context.workdir.iterdir())


class Site:
    """A real HTTP server whose answers are functions of the request, by path."""

    def __init__(self, tls=None) -> None:
        self.pages: dict[str, Callable[[BaseHTTPRequestHandler], None]] = {}
        self.requests: list[tuple[str, dict[str, str]]] = []
        site = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                site.requests.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
                page = site.pages.get(self.path.partition("?")[0])
                if page is None:
                    self.send_error(404)
                else:
                    page(self)

            def log_message(self, *_args) -> None:
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, _request, _address) -> None:
                """Clients that leave, and handshakes that fail, are what some tests are about."""

        self.server = Server(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.server.block_on_close = False
        self.scheme = "http"
        if tls is not None:
            self.server.socket = tls.wrap_socket(self.server.socket, server_side=True)
            self.scheme = "https"
        self.port = self.server.server_port
        threading.Thread(target=self.server.serve_forever, args=(0.02,), daemon=True).start()

    def url(self, path: str, host: str = "127.0.0.1") -> str:
        return f"{self.scheme}://{host}:{self.port}{path}"

    def put(self, path: str, body: bytes, **headers: str) -> None:
        """A page with conditions kept as servers keep them."""
        named = {name.replace("_", "-"): value for name, value in headers.items()}

        def answer(request: BaseHTTPRequestHandler) -> None:
            fresh = ("ETag" in named and request.headers.get("If-None-Match") == named["ETag"]) or (
                "Last-Modified" in named
                and request.headers.get("If-Modified-Since") == named["Last-Modified"]
            )
            request.send_response(304 if fresh else 200)
            for name, value in named.items():
                request.send_header(name, value)
            if not fresh:
                request.send_header("Content-Length", str(len(body)))
            request.end_headers()
            if not fresh:
                request.wfile.write(body)

        self.pages[path] = answer

    def redirect(self, path: str, to: str, status: int = 302) -> None:
        def answer(request: BaseHTTPRequestHandler) -> None:
            request.send_response(status)
            request.send_header("Location", to)
            request.send_header("Content-Length", "0")
            request.end_headers()

        self.pages[path] = answer

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()


@contextmanager
def scripted(answer: Callable[[socket.socket], None]) -> Iterator[str]:
    """A server that reads a request's head and then does what `answer` does; yields its origin."""
    listening = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        while True:
            try:
                peer, _ = listening.accept()
            except OSError:
                return
            threading.Thread(target=one, args=(peer,), daemon=True).start()

    def one(peer: socket.socket) -> None:
        with peer:
            try:
                head = b""
                while b"\r\n\r\n" not in head:
                    piece = peer.recv(65536)
                    if not piece:
                        return
                    head += piece
                answer(peer)
            except OSError:
                pass

    threading.Thread(target=serve, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}"
    finally:
        listening.shutdown(socket.SHUT_RDWR)
        listening.close()
