"""Keeps secrets out of the log: tokens, passwords, signed URLs.

Two nets: fields with a telling name lose their value, and every text is searched for what looks like
a secret, also within tracebacks and nested values.
"""

import re
from collections.abc import Mapping, MutableMapping
from typing import Any

REDACTED = "[redacted]"
MAX_DEPTH = 8

_SECRET_NAMES = re.compile(
    r"authorization|cookie|credential|passw|secret|signature|(access|session|refresh)?_?token$|api_?key|private_?key",
    re.IGNORECASE,
)
_SECRET_TEXTS = (
    (re.compile(r"\bka_[0-9A-Za-z]{16,}"), f"ka_{REDACTED}"),
    (re.compile(r"\b(bearer|basic)\s+[^\s\"',;]+", re.IGNORECASE), rf"\1 {REDACTED}"),
    (re.compile(r"\beyJ[\w-]{8,}\.[\w-]+\.[\w-]*"), REDACTED),
    # A presigned URL is a capability as a whole: what is signed stays readable, the proof does not.
    (
        re.compile(
            r"\b((?:X-Amz-(?:Signature|Credential|Security-Token)|Signature|AWSAccessKeyId)=)[^&\s\"']+", re.I
        ),
        rf"\1{REDACTED}",
    ),
    (re.compile(r"(\w[\w+.-]*://[^/\s:@\"']*):[^/\s@\"']+@"), rf"\1:{REDACTED}@"),
)


def redact_text(text: str) -> str:
    """The text without what looks like a secret in it."""
    for pattern, replacement in _SECRET_TEXTS:
        text = pattern.sub(replacement, text)
    return text


def redact(value: Any, depth: int = 0) -> Any:
    """The value with every text in it redacted; what lies deeper than `MAX_DEPTH` is left out."""
    if isinstance(value, str):
        return redact_text(value)
    if value is None or isinstance(value, bool | int | float):
        return value
    if depth >= MAX_DEPTH:
        return "…"
    if isinstance(value, Mapping):
        return {
            str(name): REDACTED if _SECRET_NAMES.search(str(name)) else redact(item, depth + 1)
            for name, item in value.items()
        }
    if isinstance(value, list | tuple | set | frozenset):
        return [redact(item, depth + 1) for item in value]
    if isinstance(value, bytes | bytearray | memoryview):
        return f"<{len(value)} bytes>"
    return redact_text(str(value))


def redact_event(_logger: object, _method: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """The structlog processor; the last one before the event is rendered."""
    kept = {name: event[name] for name in ("_record", "_from_structlog") if name in event}
    cleaned = redact({name: value for name, value in event.items() if name not in kept})
    return {**cleaned, **kept}
