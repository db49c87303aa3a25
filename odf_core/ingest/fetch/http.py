"""`http(s)://`: one file, and its ETag or time of modification as the state (data.md 3.1)."""

import re
from datetime import UTC
from email.utils import format_datetime, parsedate_to_datetime

from odf_core.ingest.errors import (
    InvalidFetchStep,
    SourceMisbehaved,
    SourceNotFound,
    SourceTooLarge,
    SourceUnreachable,
)
from odf_core.ingest.fetch.deadline import Deadline
from odf_core.ingest.fetch.event_time import time_of_path
from odf_core.ingest.fetch.http_exchange import Answer, HttpExchange
from odf_core.ingest.fetch.http_url import HttpUrl, shown_url
from odf_core.ingest.fetch.spool import Spool, spooled
from odf_core.ingest.fetch.templates import expand
from odf_core.ingest.fetch.values import ETAG, LAST_MODIFIED, FetchContext, Fetched, UpToDate
from odf_core.ingest.gunzip import GzipBroken, Inflater
from odf_core.metadata.errors import InvalidTimestamp
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import EventTimeSourceFromPath, EventTimeSourceFromSystemTime, FetchStepUrl
from odf_core.metadata.timestamp import Timestamp

_TOKEN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_OURS = frozenset({"host", "connection", "content-length", "transfer-encoding", "upgrade", "te", "trailer"})


def fetch_http(
    step: FetchStepUrl, url_text: str, state: SourceState | None, context: FetchContext
) -> Fetched | UpToDate:
    """GET with what the state allows to ask; `url_text` is the step's URL with its templates expanded.

    404 and 410 raise `SourceNotFound`, other failures `SourceUnreachable`; further `FetchNotAllowed`,
    `SourceTimedOut`, `SourceTooLarge`, `TooManyRedirects`, `SourceMisbehaved`, `InvalidFetchStep`,
    `EventTimeUnreadable`. An answer with the ETag of the state is up to date, whatever its status.
    """
    url = HttpUrl.parse(url_text)
    headers = _headers(step, url, context)
    condition = _condition(state)
    source = shown_url(step.url)
    with Deadline(context.options.total_timeout) as deadline:
        exchange = HttpExchange(source, context, deadline)
        with exchange.get(url, headers | condition) as answer:
            if answer.status == 304 and condition:
                return UpToDate()
            _check_status(answer, source)
            new_state, modified = _state_of(answer, context)
            if new_state is not None and new_state.kind == ETAG and new_state == state:
                return UpToDate()  # a server that knows no conditions
            event_time = _event_time(step, url, modified, context)
            with spooled(source, context) as spool:
                _receive(answer, spool, source, context)
    return Fetched(path=spool.path, size=spool.size, source_state=new_state, event_time=event_time)


def _headers(step: FetchStepUrl, url: HttpUrl, context: FetchContext) -> dict[str, str]:
    headers = {"User-Agent": "odf", "Accept": "*/*", "Accept-Encoding": "identity"}
    if url.authorization is not None:
        headers["Authorization"] = url.authorization
    for header in step.headers or ():
        name = header.name
        value = expand(header.value, context, f"header {name[:100]!r}")
        if not _TOKEN.fullmatch(name) or name.lower() in _OURS or not _FIELD.fullmatch(value):
            raise InvalidFetchStep(
                f"The header {name[:100]!r} of the fetch step cannot be sent: its name is none or belongs to "
                "the connection, or its value has characters that headers lack."
            )
        headers = {key: kept for key, kept in headers.items() if key.lower() != name.lower()}
        headers[name] = value
    return headers


def _condition(state: SourceState | None) -> dict[str, str]:
    """What asks for the file only if it is another than that of the state."""
    if state is None:
        return {}
    if state.kind == ETAG and state.value and _FIELD.fullmatch(state.value):
        return {"If-None-Match": state.value}
    if state.kind == LAST_MODIFIED:
        try:
            moment = Timestamp.parse(state.value).to_datetime()
        except InvalidTimestamp:
            return {}  # not written by a fetch of a file
        return {"If-Modified-Since": format_datetime(moment.replace(microsecond=0), usegmt=True)}
    return {}


def _check_status(answer: Answer, source: str) -> None:
    if answer.status == 200:
        return
    extras = {"status": answer.status}
    if answer.status in (404, 410):
        raise SourceNotFound(f"{source} does not exist, says its server.", objects=(source,), extras=extras)
    raise SourceUnreachable(
        f"{source} answers with status {answer.status} instead of the file.", objects=(source,), extras=extras
    )


def _state_of(answer: Answer, context: FetchContext) -> tuple[SourceState | None, Timestamp | None]:
    """State of the source and, only where there is no ETag, its time of modification."""
    if (etag := answer.header("ETag")) and _FIELD.fullmatch(etag):
        return context.state(ETAG, etag), None
    try:
        moment = parsedate_to_datetime(answer.header("Last-Modified") or "")
        modified = Timestamp.from_datetime(moment if moment.tzinfo else moment.replace(tzinfo=UTC))
    except (ValueError, InvalidTimestamp):
        return None, None  # no header, or one that tells nothing
    return context.state(LAST_MODIFIED, str(modified)), modified


def _event_time(
    step: FetchStepUrl, url: HttpUrl, modified: Timestamp | None, context: FetchContext
) -> Timestamp | None:
    if isinstance(step.event_time, EventTimeSourceFromPath):
        return time_of_path(step.event_time, url.path)
    if isinstance(step.event_time, EventTimeSourceFromSystemTime):
        return context.system_time
    return modified


def _receive(answer: Answer, spool: Spool, source: str, context: FetchContext) -> None:
    coding = _coding(answer, source)
    length = answer.header("Content-Length")
    if coding is None and length is not None and length.isascii() and length.isdigit() and len(length) < 20:
        spool.expect(int(length))
    inflater = Inflater(gzip=coding == "gzip", chunk_bytes=context.options.chunk_bytes) if coding else None
    try:
        while data := answer.read():
            for piece in inflater.feed(data) if inflater else (data,):
                spool.write(piece)
                if inflater:
                    _check_ratio(inflater, source, context)
        if inflater:
            inflater.finish()
    except GzipBroken as error:
        raise SourceMisbehaved(f"The {coding} content encoding of {source} is broken: {error}.") from error


def _coding(answer: Answer, source: str) -> str | None:
    """The content encoding that has to be undone. None was asked for; some servers encode all the same.

    Where the path ends like a compressed file's, the encoding is the file's own and stays: a prepare step
    undoes it.
    """
    coding = (answer.header("Content-Encoding") or "identity").strip().lower().removeprefix("x-")
    if coding in ("identity", ""):
        return None
    if coding == "gzip" and answer.url.path.lower().endswith((".gz", ".tgz")):
        return None
    if coding in ("gzip", "deflate"):
        return coding
    raise SourceMisbehaved(f"{source} sends a content encoding {coding[:100]!r} that nobody asked for.")


def _check_ratio(inflater: Inflater, source: str, context: FetchContext) -> None:
    options = context.options
    if (
        inflater.given > options.ratio_free_bytes
        and inflater.given > inflater.taken * options.max_encoding_ratio
    ):
        raise SourceTooLarge(
            f"{source} sends a content encoding that grows more than {options.max_encoding_ratio} times; "
            "it looks like a decompression bomb."
        )
