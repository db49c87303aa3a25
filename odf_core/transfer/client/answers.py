"""What an HTTP answer means to the client: errors from statuses, expired URLs, ranges."""

import json
import re
import shlex
from collections.abc import Mapping

from odf_core.errors import OdfError
from odf_core.transfer.client.errors import (
    RemoteDatasetNotFound,
    RemoteForbidden,
    RemoteRefused,
    RemoteTokenRefused,
    RemoteUnauthenticated,
    RemoteUnavailable,
    UnexpectedAnswer,
)
from odf_core.transfer.client.urls import origin_of

RETRIED_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Statuses after which the same request may succeed."""

_SHOWN_CHARS = 300
_EXPIRED = re.compile(rb"AccessDenied|ExpiredToken|Request has expired|RequestExpired|expired", re.IGNORECASE)
_CONTENT_RANGE = re.compile(r"bytes (\d+)-(\d+)/(\d+|\*)")


def refusal(
    status: int, headers: Mapping[str, str], body: bytes, url: str, *, with_token: bool = True
) -> OdfError:
    """The error of a status that is no success (wire.md 1.2), with the peer's own sentence.

    Who asked without a token learns how to log in: to nobody a private dataset is not there at all.
    """
    said = peer_sentence(body)
    extras: dict[str, object] = {"status": status, "retryAfter": retry_after(headers)}
    extras |= peer_facts(body)
    told = f" It says: {said}" if said else ""
    if status in RETRIED_STATUSES:
        return RemoteUnavailable(f"The node answered {status}.{told}", objects=[url], extras=extras)
    if status == 401 and with_token:
        return RemoteTokenRefused(
            f"{origin_of(url)} does not accept the token; {login_hint(url)}.{told}",
            objects=[url],
            extras=extras,
        )
    if status == 401:
        return RemoteUnauthenticated(
            f"{origin_of(url)} wants to know who asks; {login_hint(url)}.{told}", objects=[url], extras=extras
        )
    if status == 403:
        who = "The account of the token in use may not do this"
        why = who if with_token else f"Nobody may do this without a token; {login_hint(url)}"
        return RemoteForbidden(f"{why}.{told}", objects=[url], extras=extras)
    if status == 404:
        why = unseen(url, with_token=with_token)
        return RemoteDatasetNotFound(
            f"The node has no such dataset, or {why}.{told}", objects=[url], extras=extras
        )
    if 400 <= status < 500:
        return RemoteRefused(f"The node refused the request ({status}).{told}", objects=[url], extras=extras)
    return UnexpectedAnswer(f"The node answered with status {status}.{told}", objects=[url], extras=extras)


def login_hint(url: str) -> str:
    """How to log in where `url` is."""
    return f"log in with `odf login {shlex.quote(origin_of(url))}`"


def unseen(url: str, *, with_token: bool) -> str:
    """Why a dataset that is there may seem not to be."""
    return "it is not shown to this caller" if with_token else f"it is private: {login_hint(url)}"


def peer_sentence(body: bytes) -> str:
    """The message in an error body (JSON `message`, `error`, or plain text), made safe to print."""
    text = body[: 16 * 1024].decode("utf-8", "replace").strip()
    try:
        parsed = json.loads(text)
    except ValueError:
        parsed = None
    if isinstance(parsed, dict):
        error = parsed.get("error")
        nested = error.get("message") if isinstance(error, dict) else error
        found = parsed.get("message") or nested
        text = found if isinstance(found, str) else ""
    elif text.startswith("<"):
        match = re.search(r"<Message>(.*?)</Message>", text, re.DOTALL)
        text = match[1] if match else ""
    return printable(text)


def peer_facts(body: bytes) -> dict[str, object]:
    """The code and the request id in a node's error body, by which its log can be searched."""
    try:
        parsed = json.loads(body[: 16 * 1024])
    except ValueError:
        return {}
    if not isinstance(parsed, dict):
        return {}
    found = {"peerCode": parsed.get("code"), "requestId": parsed.get("requestId")}
    return {name: printable(value) for name, value in found.items() if isinstance(value, str)}


def printable(text: str) -> str:
    """A peer's text on one line, without control characters, cut to 300 characters."""
    line = " ".join("".join(char if char.isprintable() else " " for char in text).split())
    return line if len(line) <= _SHOWN_CHARS else line[:_SHOWN_CHARS] + "…"


def says_expired(status: int, body: bytes) -> bool:
    """Whether a storage's refusal may be about the age of the URL (stack.md 2.9)."""
    return status in (400, 403) and _EXPIRED.search(body[: 16 * 1024]) is not None


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a `Retry-After` header; None where it is absent or a date."""
    text = (headers.get("Retry-After") or "").strip()
    return float(text) if text.isascii() and text.isdigit() and len(text) < 7 else None


def content_range_start(headers: Mapping[str, str]) -> int | None:
    """First byte that a ranged answer holds, None without a readable `Content-Range`."""
    match = _CONTENT_RANGE.fullmatch((headers.get("Content-Range") or "").strip())
    return int(match[1]) if match and len(match[1]) < 20 else None


def content_length(headers: Mapping[str, str]) -> int | None:
    """Length of the body as announced, None where it is not."""
    text = (headers.get("Content-Length") or "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 20 else None
