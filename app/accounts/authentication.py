"""From an `Authorization` header to a caller (wire.md 1.2 and 6.1)."""

import hmac
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, select, update
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncEngine

from app.accounts.errors import MalformedAuthorization
from app.accounts.model import ANONYMOUS, AccountInfo, Caller
from app.accounts.tables import AccessToken, Account
from app.accounts.tokens import PersonalToken
from app.database import begin, connect

EXPIRED = "Authentication token expired"
INVALID = "Authentication token invalid"
USE_RESOLUTION = timedelta(minutes=1)
"""How exact `last_used_at` is; a busy token must not write a row at each request."""

_BY_TOKEN = (
    select(
        AccessToken.token_hash,
        AccessToken.expires_at,
        AccessToken.revoked_at,
        AccessToken.last_used_at,
        *Account.__table__.columns,
    )
    .join_from(AccessToken, Account)
    .where(AccessToken.id == bindparam("token_id"))
)


def bearer_token(authorization: str | None) -> str | None:
    """The token of the header, None where there is no header; raises `MalformedAuthorization`."""
    if authorization is None:
        return None
    scheme, _, token = authorization.partition(" ")
    token = token.strip()
    if scheme.lower() != "bearer" or not token:
        raise MalformedAuthorization("Invalid Bearer token header")
    return token


async def authenticate(engine: AsyncEngine, authorization: str | None) -> Caller:
    """Who sends this header. A token that does not count gives an anonymous caller with a `refusal`.

    Raises `MalformedAuthorization`, `DatabaseUnavailable`.
    """
    text = bearer_token(authorization)
    if text is None:
        return ANONYMOUS
    token = PersonalToken.parse(text)
    if token is None:
        return Caller(refusal=INVALID)
    now = datetime.now(UTC)
    async with connect(engine) as conn:
        row = (await conn.execute(_BY_TOKEN, {"token_id": token.id})).one_or_none()
    refusal = _refusal(row, token, now)
    if row is None or refusal is not None:
        return Caller(refusal=refusal)
    if row.last_used_at is None or row.last_used_at < now - USE_RESOLUTION:
        await _note_use(engine, token, now)
    account = AccountInfo(row.id, row.did, row.name, row.display_name, row.is_admin, row.created_at)
    return Caller(account=account, token_id=token.id)


def _refusal(row: Row[*tuple[Any, ...]] | None, token: PersonalToken, now: datetime) -> str | None:
    """Why the token does not count; None where it does."""
    # Compared in constant time, and also where there is no such token.
    matches = hmac.compare_digest(token.secret_hash, bytes(32) if row is None else row.token_hash)
    if row is None or not matches or row.revoked_at is not None:
        return INVALID
    return EXPIRED if row.expires_at is not None and row.expires_at <= now else None


async def _note_use(engine: AsyncEngine, token: PersonalToken, now: datetime) -> None:
    async with begin(engine) as conn:
        await conn.execute(update(AccessToken).where(AccessToken.id == token.id).values(last_used_at=now))
