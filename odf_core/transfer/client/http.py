"""HTTP as the client uses it: a pool of connections, statuses turned into errors, tries with back-off.

urllib3 and its exceptions stay behind this module.
"""

import random
import ssl
import time
from collections.abc import Callable, Mapping
from functools import partial
from http.client import HTTPException, InvalidURL
from typing import TypeVar
from urllib.parse import urljoin

from urllib3.connection import HTTPConnection
from urllib3.exceptions import HTTPError
from urllib3.response import HTTPResponse

from odf_core.errors import OdfError
from odf_core.transfer.client.answers import RETRIED_STATUSES, refusal, retry_after
from odf_core.transfer.client.connections import Connections, Target
from odf_core.transfer.client.errors import RemoteUnavailable, UnexpectedAnswer
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.progress import SILENT, Progress
from odf_core.transfer.client.urls import origin_of, shown_url

T = TypeVar("T")

USER_AGENT = "odf-node-client"
VERSION_HEADER = ("x-odf-smtp-version", "1")
ACCEPT_HEADER = ("Accept", "application/json, */*;q=0.5")
"""Asks for errors with their code, where a node would answer a deployed client with less."""
_REDIRECTS = 5
_REDIRECT_STATUSES = frozenset({301, 302, 303, 307, 308})
_FAILURES = (HTTPError, HTTPException, OSError)


class Answer:
    """An HTTP answer whose body is still to be read; a context manager.

    Leaving it early ends the connection; a body that was read to its end keeps it for the next request.
    """

    def __init__(
        self,
        url: str,
        response: HTTPResponse,
        connection: HTTPConnection,
        give_back: Callable[[HTTPConnection], None],
    ) -> None:
        self.url = url
        self.status: int = response.status
        self.headers: Mapping[str, str] = response.headers
        self._response = response
        self._connection = connection
        self._give_back = give_back
        self._ended = False

    def __enter__(self) -> "Answer":
        return self

    def __exit__(self, *_: object) -> None:
        if self._ended or self._response.length_remaining == 0:
            self._give_back(self._connection)
        else:
            self._connection.close()

    def read(self, size: int) -> bytes:
        """Up to `size` bytes of the body as sent, b"" at its end; raises `RemoteUnavailable` if cut off."""
        return self._read(size, decode=False)

    def read_text(self, max_bytes: int) -> bytes:
        """The whole body, content encodings undone; raises `UnexpectedAnswer` past `max_bytes`."""
        body = b""
        while len(body) <= max_bytes:
            chunk = self._read(max_bytes + 1 - len(body), decode=True)
            if not chunk:
                return body
            body += chunk
        raise UnexpectedAnswer(
            f"{origin_of(self.url)} answered with more than {max_bytes} bytes where a short text is due.",
            objects=[shown_url(self.url)],
        )

    def _read(self, size: int, *, decode: bool) -> bytes:
        try:
            chunk = self._response.read(size, decode_content=decode)
        except _FAILURES as error:
            raise RemoteUnavailable(
                f"{origin_of(self.url)} broke off in the middle of an answer.", objects=[shown_url(self.url)]
            ) from error
        self._ended = not chunk
        return chunk


class Http:
    """HTTP requests with the bounds and the patience of `options`, safe to use from many threads."""

    def __init__(self, options: TransferOptions, progress: Progress = SILENT) -> None:
        self.options = options
        self._progress = progress
        self._connections = Connections(options)

    def close(self) -> None:
        """Close the connections that are kept."""
        self._connections.close()

    def __enter__(self) -> "Http":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def open(
        self, method: str, url: str, headers: Mapping[str, str] | None = None, body: object = None
    ) -> Answer:
        """One request, its answer of any status; a GET follows redirects, without credentials to others.

        Raises `RemoteUnavailable` without an answer, `UnexpectedAnswer` for a URL that is none.
        """
        answer = self._send(method, url, headers or {}, body)
        for _ in range(_REDIRECTS if method == "GET" else 0):
            location = answer.headers.get("Location")
            if answer.status not in _REDIRECT_STATUSES or location is None:
                break
            with answer:
                url, left = urljoin(url, location), url
            kept = headers or {}
            if origin_of(url) != origin_of(left):
                kept = {name: value for name, value in kept.items() if name.lower() != "authorization"}
            headers = kept
            answer = self._send(method, url, kept, body)
        return answer

    def _send(self, method: str, url: str, headers: Mapping[str, str], body: object) -> Answer:
        shown = [shown_url(url)]
        try:
            target = Target.of(url)
            connection, response = self._connections.send(
                method, target, {"User-Agent": USER_AGENT, **headers}, body
            )
        except (ValueError, InvalidURL) as error:
            raise UnexpectedAnswer(
                f"{shown_url(url)} or its headers cannot be sent as an HTTP request.", objects=shown
            ) from error
        except ssl.SSLError as error:
            raise UnexpectedAnswer(
                f"No secure connection to {origin_of(url)} ({_reason(error)}).", objects=shown
            ) from error
        except _FAILURES as error:
            raise RemoteUnavailable(
                f"{origin_of(url)} does not answer ({_reason(error)}).", objects=shown
            ) from error
        return Answer(url, response, connection, partial(self._connections.give_back, target.place))

    def get_text(
        self,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        max_bytes: int | None = None,
        missing: Callable[[str], OdfError] | None = None,
    ) -> bytes:
        """The body of a 200, tried again while the peer is unavailable.

        Raises what `missing` makes on 404, else the error of the status (`answers.refusal`).
        """
        limit = self.options.limits.http_body_bytes if max_bytes is None else max_bytes
        sent = dict([ACCEPT_HEADER]) | dict(headers or {})
        with_token = any(name.lower() == "authorization" for name in sent)

        def attempt() -> bytes:
            with self.open("GET", url, sent) as answer:
                if answer.status == 200:
                    return answer.read_text(limit)
                if answer.status == 404 and missing is not None:
                    raise missing(url)
                body = answer.read_text(self.options.limits.http_body_bytes)
                raise refusal(answer.status, answer.headers, body, shown_url(url), with_token=with_token)

        return self.retrying(attempt)

    def retrying(self, attempt: Callable[[], T]) -> T:
        """The result of `attempt`, repeated with back-off while it raises `RemoteUnavailable`."""
        for number in range(1, self.options.attempts + 1):
            try:
                return attempt()
            except RemoteUnavailable as error:
                if number == self.options.attempts:
                    raise
                self.pause(number, error)
        raise AssertionError("attempts is positive")

    def pause(self, number: int, error: OdfError) -> None:
        """Wait after the failed try `number` (from 1), longer each time, as the peer asks at least."""
        backoff = self.options.backoff * 2 ** (number - 1) * random.uniform(0.8, 1.2)  # noqa: S311
        asked = error.extras.get("retryAfter") or 0.0
        wait = min(max(backoff, asked), self.options.backoff_most)
        self._progress.note(f"{error.message} Trying again in {wait:.1f} s.")
        time.sleep(wait)


def unavailable(answer: Answer) -> RemoteUnavailable | None:
    """The error of a status that may pass if tried again, None for any other status."""
    if answer.status not in RETRIED_STATUSES:
        return None
    return RemoteUnavailable(
        f"{origin_of(answer.url)} answered {answer.status}.",
        objects=[shown_url(answer.url)],
        extras={"status": answer.status, "retryAfter": retry_after(answer.headers)},
    )


def _reason(error: BaseException) -> str:
    """A few words on why a connection failed, from the innermost cause."""
    inner = getattr(error, "reason", None) or next(
        (item for item in error.args[1:] if isinstance(item, BaseException)), None
    )
    if isinstance(inner, BaseException):
        return _reason(inner)
    text = getattr(error, "strerror", None) or str(error).rsplit(": ", 1)[-1].rpartition("] ")[2].strip()
    return text.rstrip(".") or type(error).__name__
