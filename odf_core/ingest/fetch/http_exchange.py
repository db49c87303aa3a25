"""One GET, its redirects followed, over connections to addresses that were examined.

The connection goes to an address and not to a name; the name stays in `Host`, in the TLS handshake and
in the check of the certificate. urllib3 and its exceptions stay behind this module.
"""

import ssl
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.client import HTTPException

from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError, ReadTimeoutError
from urllib3.response import BaseHTTPResponse

from odf_core.errors import OdfError
from odf_core.ingest.errors import (
    InvalidFetchStep,
    SourceMisbehaved,
    SourceTimedOut,
    SourceTooLarge,
    SourceUnreachable,
    TooManyRedirects,
)
from odf_core.ingest.fetch.addresses import Address
from odf_core.ingest.fetch.deadline import Deadline
from odf_core.ingest.fetch.http_url import HttpUrl
from odf_core.ingest.fetch.resolve import resolve
from odf_core.ingest.fetch.values import FetchContext
from odf_core.ingest.words import shown

_REDIRECTS = frozenset({301, 302, 303, 307, 308})
_FOREIGN = (OSError, HTTPException, HTTPError, ValueError)
# What may go to another origin than the manifest's; all else there may be a credential.
_HARMLESS = frozenset({"accept", "accept-encoding", "accept-language", "user-agent"})


class Answer:
    """The head of an answer, and its body piece by piece."""

    def __init__(self, url: HttpUrl, response: BaseHTTPResponse, exchange: "HttpExchange") -> None:
        self.url = url
        self.status = response.status
        self._response = response
        self._exchange = exchange

    def header(self, name: str) -> str | None:
        """The header's value, those of several joined by commas."""
        return self._response.headers.get(name)

    def read(self) -> bytes:
        """The next bytes as they came over the wire, b'' at the end.

        Raises `SourceTimedOut`, `SourceUnreachable` for a body that ends before its announced end.
        """
        try:
            data = self._response.read(self._exchange.context.options.chunk_bytes, decode_content=False)
        except _FOREIGN as error:
            raise self._exchange.trouble(error) from error
        if self._exchange.deadline.expired:  # where no length was announced, the cut looks like the end
            raise self._exchange.too_long()
        return data


class HttpExchange:
    """Connections of one fetch; `source` is the URL as messages may show it."""

    def __init__(self, source: str, context: FetchContext, deadline: Deadline) -> None:
        self.source = source
        self.context = context
        self.deadline = deadline

    @contextmanager
    def get(self, url: HttpUrl, headers: Mapping[str, str]) -> Iterator[Answer]:
        """GET `url`, through redirects. Raises `FetchNotAllowed`, `SourceUnreachable`,
        `SourceTimedOut`, `TooManyRedirects`, `SourceTooLarge` (headers), `SourceMisbehaved`."""
        origin = url.origin
        for _ in range(self.context.options.max_redirects + 1):
            sent = headers if url.origin == origin else _harmless(headers)
            connection, response = self._send(url, sent)
            try:
                self._check_head(response)
                if response.status not in _REDIRECTS:
                    yield Answer(url, response, self)
                    return
                url = self._next(url, response)
            finally:
                self.deadline.guard(None)
                response.close()
                connection.close()
        raise TooManyRedirects(
            f"{self.source} redirects more than {self.context.options.max_redirects} times, "
            f"at last to {url.origin}."
        )

    def trouble(self, error: Exception) -> OdfError:
        """What a foreign exception means to the caller."""
        if self.deadline.expired:
            return self.too_long()
        if isinstance(error, TimeoutError | ReadTimeoutError | ConnectTimeoutError):
            seconds = self.context.options.read_timeout
            return SourceTimedOut(f"{self.source} was silent for longer than {seconds:g} s.")
        return SourceUnreachable(f"{self.source} cannot be fetched: {_shortly(error)}.")

    def too_long(self) -> SourceTimedOut:
        """The whole fetch has taken its time."""
        return SourceTimedOut(f"{self.source} was not fetched within {self.deadline.seconds:g} s.")

    def _send(self, url: HttpUrl, headers: Mapping[str, str]) -> tuple[HTTPConnection, BaseHTTPResponse]:
        connection = self._connect(url)
        try:
            self.deadline.guard(connection.sock)
            connection.timeout = self.context.options.read_timeout
            connection.request(
                "GET",
                url.target,
                headers={**headers, "Host": url.host_header},
                preload_content=False,
                decode_content=False,
                enforce_content_length=True,
            )
            return connection, connection.getresponse()
        except _FOREIGN as error:
            connection.close()
            raise self.trouble(error) from error
        except BaseException:
            connection.close()
            raise

    def _connect(self, url: HttpUrl) -> HTTPConnection:
        """A connection to the first address that takes one."""
        trouble: OdfError | None = None
        for address in resolve(url.host, url.port, self.context):
            if self.deadline.expired:
                raise self.too_long()
            connection = self._connection_to(address, url)
            try:
                connection.connect()
            except _FOREIGN as error:
                connection.close()
                if isinstance(error, ssl.SSLError):
                    raise self.trouble(error) from error
                trouble = self._no_connection(url, error)
            else:
                return connection
        raise trouble or SourceUnreachable(f"{url.host} has no address.")

    def _connection_to(self, address: Address, url: HttpUrl) -> HTTPConnection:
        seconds = self.context.options.connect_timeout
        if url.scheme == "http":
            return HTTPConnection(str(address), url.port, timeout=seconds)
        authorities = self.context.options.tls_ca_file
        tls = ssl.create_default_context(cafile=str(authorities) if authorities else None)
        return HTTPSConnection(
            str(address), url.port, timeout=seconds, ssl_context=tls, server_hostname=url.host
        )

    def _no_connection(self, url: HttpUrl, error: Exception) -> OdfError:
        # A refused connection is a kind of timeout to urllib3.
        if isinstance(error, ConnectTimeoutError | TimeoutError) and not isinstance(
            error, NewConnectionError
        ):
            seconds = self.context.options.connect_timeout
            return SourceTimedOut(f"{url.origin} took no connection within {seconds:g} s.")
        return SourceUnreachable(f"{url.origin} takes no connection: {_shortly(error)}.")

    def _check_head(self, response: BaseHTTPResponse) -> None:
        size = sum(len(name) + len(value) + 4 for name, value in response.headers.items())
        limit = self.context.options.max_header_bytes
        if size > limit:
            raise SourceTooLarge(
                f"{self.source} sends {size} bytes of headers, more than the limit of {limit}."
            )

    def _next(self, url: HttpUrl, response: BaseHTTPResponse) -> HttpUrl:
        location = response.headers.get("Location")
        if not location:
            raise SourceMisbehaved(f"{self.source} answers {response.status} and does not say where to go.")
        try:
            return url.follow(location)
        except InvalidFetchStep as error:
            raise SourceMisbehaved(
                f"{self.source} redirects to something that is no http(s) URL: {error.message}"
            ) from error


def _harmless(headers: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in headers.items() if name.lower() in _HARMLESS}


def _shortly(error: Exception) -> str:
    """The cause in few words: urllib3's own have its objects in front, `args` may hold the whole chain."""
    text = (
        str(error.args[-1] if isinstance(error, HTTPError) and error.args else error) or type(error).__name__
    )
    return shown(text.rpartition(">: ")[2])
