"""Upload tokens: what a client was promised a place for, in a form that only this node can have made.

A token is the deployed one (base64url of JSON, the same five fields) with an end and a MAC, which the
deployed one lacks: there whoever knows an account's id can write a token for any object and any size.
"""

import base64
import binascii
import hashlib
import hmac
import json
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from app.ingest.errors import UploadTokenExpired, UploadTokenInvalid

TOKEN_CHARS = 8192
_DOMAIN = b"odf-node upload token v1\n"


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that the account `owner` (its DID) may upload, and ingest once, until `expires_at` (UTC).

    `size` is in bytes; `id` becomes that of the job.
    """

    id: UUID
    owner: str
    file_name: str
    size: int
    media_type: str | None
    expires_at: datetime


def write_token(upload: Upload, key: bytes) -> str:
    """The token of an upload."""
    claims: dict[str, Any] = {
        "upload_id": str(upload.id),
        "file_name": upload.file_name,
        "owner_account_id": upload.owner,
        "content_length": upload.size,
        "expires_at": int(upload.expires_at.timestamp()),
    }
    if upload.media_type is not None:
        claims["content_type"] = upload.media_type
    return base64.urlsafe_b64encode(_text({**claims, "mac": _mac(claims, key)})).decode()


def read_token(token: str, key: bytes, now: datetime) -> Upload:
    """The upload of a token that this node has made. Raises `UploadTokenInvalid`, `UploadTokenExpired`."""
    try:
        if len(token) > TOKEN_CHARS:
            raise ValueError("too long")
        claims = json.loads(base64.b64decode(token + "=" * (-len(token) % 4), altchars=b"-_", validate=True))
        if not isinstance(claims, dict) or not hmac.compare_digest(
            _mac({name: value for name, value in claims.items() if name != "mac"}, key), str(claims["mac"])
        ):
            raise ValueError("another key")
        upload = Upload(
            id=UUID(claims["upload_id"]),
            owner=claims["owner_account_id"],
            file_name=claims["file_name"],
            size=claims["content_length"],
            media_type=claims.get("content_type"),
            expires_at=datetime.fromtimestamp(claims["expires_at"], UTC),
        )
    except (ValueError, KeyError, TypeError, RecursionError, binascii.Error) as error:
        raise UploadTokenInvalid(
            "The upload token is not one of this node's; prepare the upload again."
        ) from error
    if upload.expires_at <= now:
        raise UploadTokenExpired(f"The upload token ended at {upload.expires_at}; prepare the upload again.")
    return upload


def _text(claims: dict[str, Any]) -> bytes:
    return json.dumps(claims, sort_keys=True, separators=(",", ":")).encode()


def _mac(claims: dict[str, Any], key: bytes) -> str:
    return hmac.digest(key, _DOMAIN + _text(claims), hashlib.sha256).hex()
