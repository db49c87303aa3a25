"""Types of fields that both dialects have: hashes, identifiers, integers, URLs, each bounded."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any, TypeVar

from pydantic import AfterValidator, AwareDatetime, Field, PlainValidator, WithJsonSchema

from odf_core.identity import SHA3_256, DatasetId, Multihash
from odf_core.transfer.errors import UnknownHashCode

T = TypeVar("T")

Json = dict[str, object]
"""A JSON object to send."""

_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_CONTROL = re.compile(r"[\x00-\x08\x0a-\x1f\x7f]")
_WEB_URL = re.compile(r"https?://[^\s/]", re.IGNORECASE)


def _text_of(kind: type[T], parse: Callable[[str], T]) -> Callable[[Any], T]:
    def validate(value: Any) -> T:
        if isinstance(value, kind):
            return value
        if not isinstance(value, str):
            raise ValueError("a string is needed")  # noqa: TRY004 - what pydantic collects
        return parse(value)

    return validate


def _object_hash(text: str) -> Multihash:
    parsed = Multihash.parse(text)
    if parsed.code != SHA3_256:
        raise UnknownHashCode(
            f"Hash {parsed} is of code 0x{parsed.code:x}; blocks and objects have SHA3-256.", objects=[parsed]
        )
    return parsed


def _header_name(text: str) -> str:
    if _HEADER_NAME.fullmatch(text) is None:
        raise ValueError("not a name of an HTTP header")
    return text


def _header_value(text: str) -> str:
    if _CONTROL.search(text):
        raise ValueError("not a value of an HTTP header")
    return text


def _web_url(text: str) -> str:
    if _WEB_URL.match(text) is None or _CONTROL.search(text):
        raise ValueError("not an http or https URL")
    return text


def utc_text(moment: datetime | None) -> str | None:
    """RFC 3339 in UTC, with a fraction only where there is one; None stays None."""
    return None if moment is None else moment.astimezone(UTC).isoformat().replace("+00:00", "Z")


def hash_text(value: Multihash | None) -> str | None:
    """Base16 text of a hash; None stays None."""
    return None if value is None else str(value)


HashText = Annotated[
    Multihash,
    PlainValidator(_text_of(Multihash, _object_hash)),
    WithJsonSchema(
        {
            "type": "string",
            "description": "SHA3-256 multihash in multibase; the node writes base16.",
            "pattern": "^[fFbBzmuU]",
        }
    ),
]
"""Hash of a block or object (metadata.md 3)."""

DatasetIdText = Annotated[
    DatasetId,
    PlainValidator(_text_of(DatasetId, DatasetId.parse)),
    WithJsonSchema({"type": "string", "description": "Identity of a dataset.", "pattern": "^did:odf:"}),
]
"""Identity of a dataset."""

U32 = Annotated[int, Field(ge=0, le=2**32 - 1)]
U64 = Annotated[int, Field(ge=0, le=2**64 - 1)]
I32Count = Annotated[int, Field(ge=0, le=2**31 - 1)]

WebUrl = Annotated[str, Field(max_length=16_384), AfterValidator(_web_url)]
HeaderName = Annotated[str, Field(max_length=256), AfterValidator(_header_name)]
HeaderValue = Annotated[str, Field(max_length=16_384), AfterValidator(_header_value)]
Moment = AwareDatetime
"""RFC 3339 with an offset."""
