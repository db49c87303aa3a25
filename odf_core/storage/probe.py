"""The self-test of presigned URLs at start: do they work where clients will use them? (peers.md 7)"""

import secrets
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Literal

import urllib3

from odf_core.errors import OdfError
from odf_core.storage.port import ObjectStore
from odf_core.storage.presign import Presigner
from odf_core.storage.staging import STAGING_PREFIX

_LIFETIME_SECONDS = 300
_ANSWER_BYTES = 4096
_SKEW_SECONDS = 120

_HINT = "Set s3.public_endpoint to the address under which clients reach the S3 server."


@dataclass(frozen=True, slots=True)
class ProbeReport:
    """`sentence` says for a person what was found."""

    ok: bool
    sentence: str
    origin: str


class _Failed(Exception):
    """A sentence that ends the probe; never leaves this module."""


def probe_presigned(store: ObjectStore, presigner: Presigner, *, timeout_seconds: float = 5.0) -> ProbeReport:
    """GET an object that the store was given, and PUT one for the store to read, by presigned URLs.

    `store` and `presigner` have to be about the same folder. Raises nothing but what `store` raises
    for a reason of its own: a node may well start while clients cannot reach S3.
    """
    name = f"{STAGING_PREFIX}.probe-{secrets.token_hex(8)}"
    content = secrets.token_hex(16).encode()
    pool = urllib3.PoolManager(
        retries=False, timeout=urllib3.Timeout(connect=timeout_seconds, read=timeout_seconds)
    )
    try:
        _probe_get(pool, store, presigner, f"{name}-get", content)
        _probe_put(pool, store, presigner, f"{name}-put", content)
    except _Failed as failed:
        return ProbeReport(False, str(failed), presigner.origin)
    finally:
        pool.clear()
        store.delete([f"{name}-get", f"{name}-put"])
    return ProbeReport(True, f"Presigned URLs work at {presigner.origin}.", presigner.origin)


def _probe_get(
    pool: urllib3.PoolManager, store: ObjectStore, presigner: Presigner, key: str, content: bytes
) -> None:
    store.write(key, content, size=len(content))
    body = _ask(pool, presigner, "GET", presigner.get_urls([key], _LIFETIME_SECONDS)[0])
    if body != content:
        raise _Failed(
            f"What answers at {presigner.origin} is not the node's bucket: it accepted a signed GET of a "
            f"fresh object and sent other bytes. {_HINT}"
        )


def _probe_put(
    pool: urllib3.PoolManager, store: ObjectStore, presigner: Presigner, key: str, content: bytes
) -> None:
    put = presigner.put_urls([(key, len(content))], _LIFETIME_SECONDS)[0]
    _ask(pool, presigner, "PUT", put.url, content)
    try:
        found = store.read(key, max_bytes=_ANSWER_BYTES)
    except OdfError as error:
        raise _Failed(
            f"A signed PUT at {presigner.origin} was answered well, but the node does not find the object: "
            f"{error.message} {_HINT}"
        ) from error
    if found != content:
        raise _Failed(f"A signed PUT at {presigner.origin} stored other bytes than were sent. {_HINT}")


def _ask(
    pool: urllib3.PoolManager,
    presigner: Presigner,
    method: Literal["GET", "PUT"],
    url: str,
    body: bytes | None = None,
) -> bytes:
    try:
        answer = pool.request(method, url, body=body, preload_content=False, redirect=False)
        try:
            text = answer.read(_ANSWER_BYTES)
        finally:
            answer.close()
    except urllib3.exceptions.HTTPError as error:
        raise _Failed(_unreachable(error, presigner.origin)) from error
    if not 200 <= answer.status < 300:
        raise _Failed(_refused(method, answer, text, presigner.origin))
    return text


def _unreachable(error: urllib3.exceptions.HTTPError, origin: str) -> str:
    reasons: list[tuple[type[Exception], str]] = [
        (urllib3.exceptions.NameResolutionError, "its name is unknown"),
        (urllib3.exceptions.SSLError, "its certificate is not accepted"),
        (urllib3.exceptions.NewConnectionError, "nothing listens there"),
        (urllib3.exceptions.ConnectTimeoutError, "it does not answer"),
        (urllib3.exceptions.ReadTimeoutError, "it accepts connections but does not answer"),
    ]
    reason = next((text for kind, text in reasons if isinstance(error, kind)), type(error).__name__)
    return f"The address of presigned URLs, {origin}, cannot be reached from here: {reason}. {_HINT}"


def _refused(method: str, answer: urllib3.BaseHTTPResponse, text: bytes, origin: str) -> str:
    status = answer.status
    head = f"A signed {method} at {origin} was refused with {status}"
    skew = _clock_skew(answer.headers.get("date"))
    if abs(skew) > _SKEW_SECONDS:
        return f"{head}: the clock there differs from the node's by {skew:.0f} seconds; mend the clocks."
    if 300 <= status < 400:
        return f"{head}: it redirects to {answer.headers.get('location')}, which breaks signatures. {_HINT}"
    if b"SignatureDoesNotMatch" in text:
        return (
            f"{head}: the signature does not fit. Either a proxy changes host or path on the way (both are "
            f"signed), or that server has another secret. {_HINT}"
        )
    if b"InvalidAccessKeyId" in text or b"AccessDenied" in text:
        verb = "read" if method == "GET" else "write"
        return f"{head}: that server does not let the node's access key {verb}."
    if b"NoSuchBucket" in text:
        return f"{head}: that server has no such bucket. {_HINT}"
    if b"NoSuchKey" in text or status == 404:
        return f"{head}: that server does not have the object that the node wrote just now. {_HINT}"
    return f"{head}. {_HINT}"


def _clock_skew(date: str | None) -> float:
    """Seconds by which the other clock is ahead; 0 where it tells no time."""
    try:
        there = parsedate_to_datetime(date or "")
    except ValueError:
        return 0.0
    return (there - datetime.now(UTC)).total_seconds()
