"""Conditions and ranges of HTTP (RFC 9110) for content that never changes.

Only single ranges are served; several at once, other units and what cannot be read are ignored, as
the standard allows.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from app.datasets.errors import RangeNotSatisfiable

YEAR_SECONDS = 31_536_000
_RANGE = re.compile(r"bytes=\s*(\d{0,19})-(\d{0,19})\s*", re.IGNORECASE)
_TAGS = re.compile(r'(?:W/)?"([^"]*)"')


@dataclass(frozen=True, slots=True)
class Delivery:
    """What to answer: bytes `start` to `end` (exclusive) with `status` and `headers`, or a 304 without."""

    status: int
    start: int
    end: int
    headers: Mapping[str, str]

    @property
    def has_body(self) -> bool:
        return self.status != 304


def immutable_cache(*, public: bool) -> str:
    """Caching of what a hash names; shared caches may keep only what everybody may read."""
    return f"{'public' if public else 'private'}, max-age={YEAR_SECONDS}, immutable"


def matches_etag(header: str | None, tag: str) -> bool:
    """Whether an `If-None-Match` list has the tag, `W/` or not."""
    if header is None:
        return False
    return header.strip() == "*" or tag in _TAGS.findall(header)


def deliver(request: Mapping[str, str], method: str, *, tag: str, size: int, cache: str) -> Delivery:
    """Settle conditions and range of a request for `size` bytes whose entity tag is `tag`.

    Raises `RangeNotSatisfiable`.
    """
    headers = {"etag": f'"{tag}"', "cache-control": cache, "accept-ranges": "bytes"}
    if matches_etag(request.get("if-none-match"), tag):
        return Delivery(304, 0, 0, headers)
    wanted = _range(request, tag) if method == "GET" else None
    interval = None if wanted is None else _interval(wanted, size)
    if interval is None:
        return Delivery(200, 0, size, {**headers, "content-length": str(size)})
    start, end = interval
    headers |= {"content-range": f"bytes {start}-{end - 1}/{size}", "content-length": str(end - start)}
    return Delivery(206, start, end, headers)


def _range(request: Mapping[str, str], tag: str) -> tuple[str, str] | None:
    """First and last position as written, where a range is asked for and `If-Range` lets it."""
    match = _RANGE.fullmatch(request.get("range", ""))
    if match is None or (match[1] == "" and match[2] == ""):
        return None
    if_range = request.get("if-range")
    # A weak tag or a date never holds here: a date because none is sent, a weak one by the standard.
    if if_range is not None and if_range.strip() != f'"{tag}"':
        return None
    return match[1], match[2]


def _interval(wanted: tuple[str, str], size: int) -> tuple[int, int] | None:
    """Start and exclusive end within `size`; None where last comes before first, which is no range."""
    first, last = wanted
    if first == "":
        length = min(int(last), size)
        if length == 0:
            raise RangeNotSatisfiable(size)
        return size - length, size
    start = int(first)
    if last != "" and int(last) < start:
        return None
    if start >= size:
        raise RangeNotSatisfiable(size)
    return start, size if last == "" else min(int(last) + 1, size)
