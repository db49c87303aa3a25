"""uvicorn, set up for the peers that exist, and stopped without cutting sessions (stack.md 4.1, 4.2)."""

import asyncio
import socket
import time
from collections.abc import Callable, Sequence
from types import FrameType
from typing import ClassVar

import uvicorn
from fastapi import FastAPI

from app.database import database_url, upgrade
from app.main import create_app
from app.ops.logs import configure_logging
from app.settings import HttpSettings, Settings
from app.transfer.runtime import TransferRuntime
from app.transfer.websocket import OdfWebSocketProtocol
from app.wiring import OpenBucket, open_s3_bucket
from odf_core.errors import Unavailable

BACKLOG = 2048
KEEP_ALIVE_SECONDS = 60
SHUTDOWN_SECONDS = 5


class AddressUnusable(Unavailable):
    """The address to listen on is taken, or not this machine's."""

    code: ClassVar[str] = "address_unusable"


def bind(settings: HttpSettings) -> socket.socket:
    """A listening socket at the address of the settings; raises `AddressUnusable`."""
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    try:
        return socket.create_server((settings.host, settings.port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise AddressUnusable(
            f"The node cannot listen on {settings.host}:{settings.port} ({error.strerror or error}); "
            "choose another http.host or http.port.",
            objects=[f"{settings.host}:{settings.port}"],
        ) from error


def server_config(app: FastAPI, settings: Settings) -> uvicorn.Config:
    """The configuration that deployed peers need (wire.md 9): no pings, big messages, nothing compressed."""

    class Protocol(OdfWebSocketProtocol):
        close_wait_seconds = settings.transfer.close_wait_seconds

    return uvicorn.Config(
        app,
        http="httptools",
        ws=Protocol,
        ws_ping_interval=None,
        ws_ping_timeout=None,
        ws_max_size=settings.bounds.message_bytes,
        ws_per_message_deflate=False,
        lifespan="on",
        access_log=False,  # `app.ops.requests` writes it
        log_config=None,
        server_header=False,
        proxy_headers=True,
        forwarded_allow_ips=settings.http.forwarded_allow_ips,
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        timeout_graceful_shutdown=SHUTDOWN_SECONDS,
    )


class NodeServer(uvicorn.Server):
    """Told to stop, it takes no new sessions and lets the running ones end, `drain_seconds` at most.

    Told again, it stops at once. Without this uvicorn closes every WebSocket the moment it gets SIGTERM.
    """

    def __init__(
        self,
        config: uvicorn.Config,
        runtime: TransferRuntime,
        *,
        drain_seconds: float,
        on_started: Callable[[], None] | None = None,
    ) -> None:
        super().__init__(config)
        self._runtime, self._drain_seconds, self._on_started = runtime, drain_seconds, on_started
        self._stop_at: float | None = None

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets=sockets)
        if self.started and self._on_started is not None:
            self._on_started()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        if self._stop_at is None:
            self._runtime.draining = True
            self._stop_at = time.monotonic() + self._drain_seconds
        else:
            super().handle_exit(sig, frame)

    async def on_tick(self, counter: int) -> bool:
        if self._stop_at is not None and (self._runtime.sessions == 0 or time.monotonic() >= self._stop_at):
            self.should_exit = True
        return await super().on_tick(counter)


def run_node(
    settings: Settings,
    *,
    open_bucket: OpenBucket = open_s3_bucket,
    sockets: Sequence[socket.socket] = (),
    on_started: Callable[[str], None] | None = None,
) -> None:
    """Bring the schema up to date and serve until a signal comes; Postgres and S3 have to be there.

    `on_started` gets the node's address. Raises `SettingsInvalid`, `DatabaseUnavailable`,
    `AddressUnusable`.
    """
    configure_logging(settings.log)
    upgrade(database_url(settings.database))
    app = create_app(settings, open_bucket=open_bucket)
    listening = list(sockets) or [bind(settings.http)]
    address = settings.http.public_url or address_of(listening[0])
    server = NodeServer(
        server_config(app, settings),
        app.state.transfer,
        drain_seconds=settings.http.drain_seconds,
        on_started=None if on_started is None else lambda: on_started(address),
    )
    config = server.config
    try:
        with asyncio.Runner(loop_factory=config.get_loop_factory()) as runner:
            runner.run(server.serve(sockets=listening))
    finally:
        for item in listening:
            item.close()


def address_of(listening: socket.socket) -> str:
    """`http://host:port` of a socket, with a host that a client on this machine can use."""
    host, port = listening.getsockname()[:2]
    if host in ("0.0.0.0", "::"):  # noqa: S104 - read, not bound
        host = "127.0.0.1"
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
