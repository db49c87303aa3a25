"""The outermost layer: an id for every request, one line of log for it, and nothing escapes."""

import re
import time
from typing import Any
from uuid import uuid4

import structlog
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from app.errors import failure_response

HEADER = "x-request-id"
_ACCEPTED = re.compile(r"[A-Za-z0-9._-]{1,64}")
_QUIET_PATHS = ("/health/",)
_log = structlog.get_logger(__name__)


def request_id_for(given: str | None) -> str:
    """The caller's id where it is short and plain, else a new one."""
    return given if given is not None and _ACCEPTED.fullmatch(given) else uuid4().hex


class RequestMiddleware:
    """Gives requests and WebSockets their id (also as header of the answer) and logs each at its end.

    The log has the path without its query, since a query may hold what nobody else should read.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        scope["odf.request_id"] = request_id_for(Headers(scope=scope).get(HEADER))
        answer = _Answer(scope, send)
        with structlog.contextvars.bound_contextvars(request_id=scope["odf.request_id"]):
            started = time.perf_counter()
            try:
                await self._app(scope, receive, answer.send)
            except Exception:  # noqa: BLE001 - whatever it is, the client gets no trace and the log all of it
                _log.exception("request failed")
                await answer.fail(receive)
            finally:
                _report(scope, answer.status, time.perf_counter() - started)


class _Answer:
    """Watches what is sent: the status, and whether it is too late for another answer."""

    def __init__(self, scope: Scope, send: Send) -> None:
        self._scope, self._send = scope, send
        self.status: int | None = None

    async def send(self, message: Message) -> None:
        if message["type"] in ("http.response.start", "websocket.http.response.start"):
            self.status = message["status"]
            MutableHeaders(scope=message)[HEADER] = self._scope["odf.request_id"]
        elif message["type"] == "websocket.accept":
            self.status = 101
        await self._send(message)

    async def fail(self, receive: Receive) -> None:
        """A 500 where nothing was sent yet; a started body is left unfinished, so that it is seen."""
        self._scope["odf.error_code"] = "internal_error"
        if self.status is None and self._scope["type"] == "http":
            await failure_response(self._scope)(self._scope, receive, self.send)
        elif self._scope["type"] == "websocket" and self.status == 101:
            await self._send({"type": "websocket.close", "code": 1011, "reason": ""})


def _report(scope: Scope, status: int | None, seconds: float) -> None:
    facts: dict[str, Any] = {
        "method": scope.get("method", "WEBSOCKET"),
        "path": scope["path"],
        "status": status,
    }
    if "odf.error_code" in scope:
        facts["code"] = scope["odf.error_code"]
    quiet = scope["path"].startswith(_QUIET_PATHS) and status == 200
    log = _log.debug if quiet else _log.info
    log("request", milliseconds=round(seconds * 1000, 1), **facts)
