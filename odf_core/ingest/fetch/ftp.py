"""`ftp://`: one file in passive mode; such a source has no state (data.md 3.1)."""

import ftplib
import socket
from datetime import UTC, datetime
from typing import Any
from urllib.parse import SplitResult, unquote

from odf_core.errors import OdfError
from odf_core.ingest.errors import (
    EventTimeUnreadable,
    InvalidFetchStep,
    SourceNotFound,
    SourceTimedOut,
    SourceUnreachable,
)
from odf_core.ingest.fetch.deadline import Deadline
from odf_core.ingest.fetch.event_time import time_of_path
from odf_core.ingest.fetch.http_url import shown_url
from odf_core.ingest.fetch.resolve import resolve
from odf_core.ingest.fetch.spool import Spool, spooled
from odf_core.ingest.fetch.values import FetchContext, Fetched
from odf_core.ingest.words import shown
from odf_core.metadata.sources import EventTimeSourceFromMetadata, EventTimeSourceFromPath, FetchStepUrl
from odf_core.metadata.timestamp import Timestamp

_FOREIGN = (OSError, EOFError, ValueError, ftplib.Error)

_MOST_LINES = 1000  # of one answer: greetings may be long


class _Client(ftplib.FTP):
    """A client whose control and data connections the deadline can end.

    The standard one already connects its data connections to the address of the control connection,
    whatever address the server names.
    """

    def __init__(self, deadline: Deadline, timeout: float) -> None:
        super().__init__(timeout=timeout)
        self._deadline = deadline
        self._lines = 0

    def ntransfercmd(self, cmd: str, rest: int | str | None = None) -> tuple[socket.socket, int | None]:
        data, size = super().ntransfercmd(cmd, rest)
        self._deadline.guard(data)
        return data, size

    def __exit__(self, *_error: object) -> None:
        self.close()  # without a QUIT, whose answer a bad server keeps back

    def getresp(self) -> str:
        self._deadline.guard(self.sock)
        self._lines = 0
        return super().getresp()

    def getline(self) -> str:
        self._lines += 1
        if self._lines > _MOST_LINES:
            raise ConnectionError(f"an answer of more than {_MOST_LINES} lines")
        return super().getline()


def fetch_ftp(step: FetchStepUrl, url: SplitResult, context: FetchContext) -> Fetched:
    """RETR of the URL's path, anonymously unless the URL names a user.

    Raises `SourceNotFound` (550), `SourceUnreachable`, `SourceTimedOut`, `SourceTooLarge`,
    `FetchNotAllowed`, `InvalidFetchStep`, `EventTimeUnreadable`.
    """
    path = unquote(url.path).removeprefix("/")
    if not url.hostname or not path or any(ord(character) < 32 for character in path):
        raise InvalidFetchStep("An FTP URL has the form ftp://host/path/of/the/file.")
    source = shown_url(step.url)
    with (
        Deadline(context.options.total_timeout) as deadline,
        _Client(deadline, context.options.connect_timeout) as client,
        spooled(source, context) as spool,
    ):
        try:
            _log_in(client, url, deadline, context)
        except _FOREIGN as error:
            raise _trouble(error, source, deadline, context) from error
        size = _retrieve(client, path, spool, source, deadline, context)
        event_time = _event_time(client, step, path, source, context)
    return Fetched(path=spool.path, size=size, source_state=None, event_time=event_time)


def _log_in(client: _Client, url: SplitResult, deadline: Deadline, context: FetchContext) -> None:
    port = url.port or ftplib.FTP_PORT
    last: OSError | None = None
    for address in resolve(url.hostname or "", port, context):
        try:
            client.connect(str(address), port)
        except OSError as error:
            last = error
            continue
        deadline.guard(client.sock)
        if client.sock is not None:
            client.sock.settimeout(context.options.read_timeout)
        client.timeout = context.options.read_timeout
        client.login(unquote(url.username or ""), unquote(url.password or ""))
        return
    raise last or OSError("the host has no address")


def _retrieve(
    client: _Client, path: str, spool: Spool, source: str, deadline: Deadline, context: FetchContext
) -> int:
    try:
        client.voidcmd("TYPE I")
        data, announced = client.ntransfercmd(f"RETR {path}")
    except _FOREIGN as error:
        raise _trouble(error, source, deadline, context) from error
    with data:
        if announced is not None:
            spool.expect(announced)
        while piece := _read(data, source, deadline, context):
            spool.write(piece)
    try:
        client.voidresp()  # 226 only after all was sent: a cut connection is told from the end by it
    except _FOREIGN as error:
        raise _trouble(error, source, deadline, context) from error
    if announced is not None and announced != spool.size:
        raise SourceUnreachable(f"{source} ended after {spool.size} of {announced} bytes.")
    return spool.size


def _read(data: socket.socket, source: str, deadline: Deadline, context: FetchContext) -> bytes:
    try:
        piece = data.recv(context.options.chunk_bytes)
    except _FOREIGN as error:
        raise _trouble(error, source, deadline, context) from error
    if deadline.expired:
        raise _trouble(EOFError(), source, deadline, context)
    return piece


def _event_time(
    client: _Client, step: FetchStepUrl, path: str, source: str, context: FetchContext
) -> Timestamp:
    if isinstance(step.event_time, EventTimeSourceFromPath):
        return time_of_path(step.event_time, f"/{path}")
    if not isinstance(step.event_time, EventTimeSourceFromMetadata):
        return context.system_time
    try:
        told = client.voidcmd(f"MDTM {path}").split()[-1]
        return Timestamp.from_datetime(datetime.strptime(told[:14], "%Y%m%d%H%M%S").replace(tzinfo=UTC))
    except _FOREIGN as error:
        raise EventTimeUnreadable(
            f"The server of {source} does not tell when the file was modified."
        ) from error


def _trouble(error: Any, source: str, deadline: Deadline, context: FetchContext) -> OdfError:
    if deadline.expired:
        return SourceTimedOut(f"{source} was not fetched within {deadline.seconds:g} s.")
    if isinstance(error, TimeoutError):
        return SourceTimedOut(f"{source} was silent for longer than {context.options.read_timeout:g} s.")
    text = shown(str(error))
    if isinstance(error, ftplib.error_perm) and text.startswith("550"):
        return SourceNotFound(f"{source} does not exist, says its server: {text}.", objects=(source,))
    return SourceUnreachable(
        f"{source} cannot be fetched: {text or type(error).__name__}.", objects=(source,)
    )
