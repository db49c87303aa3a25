"""The fetch phase of a polling source (data.md 3.1)."""

from urllib.parse import urlsplit

from odf_core.ingest.errors import FetchStepUnsupported, InvalidFetchStep
from odf_core.ingest.fetch.container import fetch_container
from odf_core.ingest.fetch.files_glob import fetch_glob
from odf_core.ingest.fetch.local import fetch_file
from odf_core.ingest.fetch.mqtt import fetch_mqtt
from odf_core.ingest.fetch.templates import expand
from odf_core.ingest.fetch.values import FetchContext, Fetched, UpToDate
from odf_core.metadata.events import SourceState
from odf_core.metadata.sources import (
    FetchStep,
    FetchStepContainer,
    FetchStepEthereumLogs,
    FetchStepFilesGlob,
    FetchStepMqtt,
    FetchStepUrl,
    SourceCachingForever,
)


def fetch(step: FetchStep, state: SourceState | None, context: FetchContext) -> Fetched | UpToDate:
    """Raw bytes that are newer than `state`, or that there are none.

    Where the context keeps savepoints, bytes that an earlier run fetched for the same step and state and
    did not commit are used again. No file is left over when it raises: errors of
    `odf_core.ingest.errors`, each by the source's protocol.
    """
    store = context.savepoints
    if store is None:
        return _fetch(step, state, context)
    key = store.key(step, state, context)
    if (kept := store.find(key)) is not None:
        return kept
    fetched = _fetch(step, state, context)
    return fetched if isinstance(fetched, UpToDate) else store.keep(key, fetched)


def _fetch(step: FetchStep, state: SourceState | None, context: FetchContext) -> Fetched | UpToDate:
    match step:
        case FetchStepUrl():
            return _fetch_url(step, state, context)
        case FetchStepFilesGlob():
            return fetch_glob(step, state, context)
        case FetchStepContainer():
            return fetch_container(step, state, context)
        case FetchStepMqtt():
            return fetch_mqtt(step, context)
        case FetchStepEthereumLogs():
            raise FetchStepUnsupported(
                "Logs of Ethereum chains are not fetched by this program; fetch them with another tool and "
                "push the result."
            )


def _fetch_url(step: FetchStepUrl, state: SourceState | None, context: FetchContext) -> Fetched | UpToDate:
    if state is not None and isinstance(step.cache, SourceCachingForever):
        return UpToDate()
    if len(step.url) > context.options.max_path_chars:
        raise InvalidFetchStep(f"The URL is longer than {context.options.max_path_chars} characters.")
    text = expand(step.url, context, "url")
    try:
        parts = urlsplit(text)
        _ = parts.port
    except ValueError as error:
        raise InvalidFetchStep(f"The URL of the fetch step is none: {error}.") from error
    match parts.scheme:
        # Only who fetches from the web waits for its libraries: `odf ingest` of a file does not.
        case "http" | "https":
            from odf_core.ingest.fetch.http import fetch_http

            return fetch_http(step, text, state, context)
        case "ftp":
            from odf_core.ingest.fetch.ftp import fetch_ftp

            return fetch_ftp(step, parts, context)
        case "file":
            return fetch_file(step, parts, state, context)
    raise InvalidFetchStep(
        f"The URL {text[:8]!r}… has no scheme that can be fetched: http, https, ftp or file (file:///path)."
        if not parts.scheme
        else f"URLs of the scheme {parts.scheme[:30]!r} cannot be fetched; http, https, ftp and file can."
    )
