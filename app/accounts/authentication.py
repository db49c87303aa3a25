"""From an `Authorization` header to a caller (wire.md 1.2 and 6.1)."""

import hmac
from datetime import UTC, datetime, timedelta

from sqlalchemy import or_, select, update
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.accounts.errors import MalformedAuthorization
from app.accounts.model import ANONYMOUS, AccountInfo, Caller
from app.accounts.tables import AccessToken, Account
from app.accounts.tokens import PersonalToken
from app.database import begin

EXPIRED = "Authentication token expired"
INVALID = "Authentication token invalid"
USE_RESOLUTION = timedelta(minutes=1)
"""How exact `last_used_at` is; a busy token must not write a row at each request."""


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
    async with begin(engine) as conn:
        return await _caller_of(conn, token, datetime.now(UTC))


async def _caller_of(conn: AsyncConnection, token: PersonalToken, now: datetime) -> Caller:
    columns = (
        AccessToken.token_hash,
        AccessToken.expires_at,
        AccessToken.revoked_at,
        *Account.__table__.columns,
    )
    found = await conn.execute(
        select(*columns).join_from(AccessToken, Account).where(AccessToken.id == token.id)
    )
    row = found.one_or_none()
    # Compared in constant time, and also where there is no such token.
    matches = hmac.compare_digest(token.secret_hash, bytes(32) if row is None else row.token_hash)
    if row is None or not matches or row.revoked_at is not None:
        return Caller(refusal=INVALID)
    if row.expires_at is not None and row.expires_at <= now:
        return Caller(refusal=EXPIRED)
    await _note_use(conn, token, now)
    account = AccountInfo(row.id, row.did, row.name, row.display_name, row.is_admin, row.created_at)
    return Caller(account=account, token_id=token.id)


async def _note_use(conn: AsyncConnection, token: PersonalToken, now: datetime) -> None:
    stale = or_(AccessToken.last_used_at.is_(None), AccessToken.last_used_at < now - USE_RESOLUTION)
    await conn.execute(update(AccessToken).where(AccessToken.id == token.id, stale).values(last_used_at=now))
