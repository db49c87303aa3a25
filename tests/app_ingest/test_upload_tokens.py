"""Upload tokens: read by the node that made them, in time, and by nobody else."""

import base64
import json
from datetime import UTC, datetime, timedelta
from uuid import UUID

import pytest

from app.ingest.errors import UploadTokenExpired, UploadTokenInvalid
from app.ingest.upload_tokens import Upload, read_token, write_token

KEY, NOW = b"k" * 32, datetime(2026, 1, 1, tzinfo=UTC)
UPLOAD = Upload(
    UUID("0190a0a0-0000-7000-8000-000000000001"),
    "did:odf:fed01",
    "Übersicht.csv",
    1 << 40,
    "text/csv",
    NOW + timedelta(hours=1),
)


def claims(token: str) -> dict[str, object]:
    found: dict[str, object] = json.loads(base64.urlsafe_b64decode(token))
    return found


def token_of(found: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(found).encode()).decode()


def test_a_token_says_what_was_promised() -> None:
    token = write_token(UPLOAD, KEY)
    assert read_token(token, KEY, NOW) == UPLOAD
    assert read_token(token.rstrip("="), KEY, NOW) == UPLOAD  # lost on its way through some address bar
    assert {  # the fields of the deployed token
        name: claims(token)[name]
        for name in ("upload_id", "file_name", "owner_account_id", "content_length", "content_type")
    } == {
        "upload_id": str(UPLOAD.id),
        "file_name": "Übersicht.csv",
        "owner_account_id": "did:odf:fed01",
        "content_length": 1 << 40,
        "content_type": "text/csv",
    }


def test_a_token_ends() -> None:
    token = write_token(UPLOAD, KEY)
    assert read_token(token, KEY, UPLOAD.expires_at - timedelta(seconds=1)) == UPLOAD
    with pytest.raises(UploadTokenExpired):
        read_token(token, KEY, UPLOAD.expires_at)


@pytest.mark.parametrize(
    "change",
    [
        {"upload_id": "0190a0a0-0000-7000-8000-000000000002"},
        {"owner_account_id": "did:odf:fed02"},
        {"content_length": 1},
        {"content_type": "application/json"},
        {"expires_at": 1 << 40},
        {"expires_at": 1 << 400},
        {"more": 1},
        {"mac": ""},
        {"mac": None},
        {"mac": "ü"},
    ],
)
def test_a_changed_claim_is_refused(change: dict[str, object]) -> None:
    with pytest.raises(UploadTokenInvalid):
        read_token(token_of(claims(write_token(UPLOAD, KEY)) | change), KEY, NOW)


@pytest.mark.parametrize(
    "token",
    [
        "",
        "x",
        "ü",
        "====",
        "a" * 10_000,
        *map(token_of, ([], {}, None, {"mac": 1}, "[" * 100)),
        "W1tb" * 2000,
    ],
)
def test_what_is_no_token_is_refused(token: str) -> None:
    with pytest.raises(UploadTokenInvalid):
        read_token(token, KEY, NOW)


def test_a_token_of_another_node_is_refused() -> None:
    with pytest.raises(UploadTokenInvalid):
        read_token(write_token(UPLOAD, b"x" * 32), KEY, NOW)
