"""Accounts and personal tokens: made, listed, revoked. Nothing here knows HTTP."""

from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID

from sqlalchemy import func, insert, select, update
from sqlalchemy.dialects.postgresql import insert as pg_insert
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.accounts.errors import AccountNameReserved, AccountNameTaken, AccountNotFound, TokenNotFound
from app.accounts.model import AccountInfo, TokenInfo
from app.accounts.tables import AccessToken, Account
from app.accounts.tokens import PersonalToken
from app.database import begin, connect
from odf_core.identity import AccountId, AccountName

RESERVED_NAMES = frozenset(
    {
        "accounts",
        "datasets",
        "graphql",
        "health",
        "info",
        "jobs",
        "mirrors",
        "odata",
        "openapi.json",
        "platform",
        "query",
        "system",
        "verify",
    }
)
"""First segments of the node's own addresses; neither an account nor a single tenant's dataset has one."""

_COLUMNS = tuple(Account.__table__.columns)


@dataclass(frozen=True, slots=True)
class NewToken:
    """A token just made; `text` is the only time that its secret is seen."""

    info: TokenInfo
    text: str = field(repr=False)


async def create_account(
    engine: AsyncEngine, name: str, *, display_name: str | None = None, is_admin: bool = False
) -> AccountInfo:
    """A new account with a DID of its own.

    Raises `InvalidName`, `AccountNameReserved`, `AccountNameTaken`.
    """
    async with begin(engine) as conn:
        made = await add_account(conn, name, display_name=display_name, is_admin=is_admin)
    if made is None:
        raise AccountNameTaken(f"There is an account {name} already; choose another name.", objects=[name])
    return made


async def ensure_account(engine: AsyncEngine, name: str) -> AccountInfo:
    """The account of this name, made if it is not there."""
    async with begin(engine) as conn:
        return await add_account(conn, name) or await get_account(conn, name)


async def add_account(
    conn: AsyncConnection,
    name: str,
    *,
    did: str | None = None,
    display_name: str | None = None,
    is_admin: bool = False,
) -> AccountInfo | None:
    """Insert an account; None where its name or DID is taken."""
    valid = AccountName(name)
    if valid.folded in RESERVED_NAMES:
        raise AccountNameReserved(
            f"{name} is part of the node's own addresses; choose another account name.", objects=[name]
        )
    values = {
        "did": did or str(AccountId.generate()[0]),
        "name": str(valid),
        "display_name": display_name,
        "is_admin": is_admin,
    }
    statement = pg_insert(Account).values(**values).on_conflict_do_nothing().returning(*_COLUMNS)
    row = (await conn.execute(statement)).one_or_none()
    return None if row is None else AccountInfo(**row._mapping)


async def find_account(conn: AsyncConnection, name: str) -> AccountInfo | None:
    """The account of this name in any case of its letters."""
    found = await conn.execute(select(*_COLUMNS).where(func.lower(Account.name) == name.lower()))
    row = found.one_or_none()
    return None if row is None else AccountInfo(**row._mapping)


async def find_account_by_id(conn: AsyncConnection, account_id: UUID) -> AccountInfo | None:
    """The account of this id."""
    row = (await conn.execute(select(*_COLUMNS).where(Account.id == account_id))).one_or_none()
    return None if row is None else AccountInfo(**row._mapping)


async def get_account(conn: AsyncConnection, name: str) -> AccountInfo:
    """As `find_account`; raises `AccountNotFound`."""
    account = await find_account(conn, name)
    if account is None:
        raise AccountNotFound(f"There is no account {name}; `odf admin` can make it.", objects=[name])
    return account


async def list_accounts(engine: AsyncEngine) -> list[AccountInfo]:
    """All accounts by name."""
    async with connect(engine) as conn:
        rows = await conn.execute(select(*_COLUMNS).order_by(func.lower(Account.name)))
        return [AccountInfo(**row._mapping) for row in rows]


async def create_token(
    engine: AsyncEngine, account_name: str, token_name: str, *, expires_at: datetime | None = None
) -> NewToken:
    """A personal token for the account; raises `AccountNotFound`."""
    token = PersonalToken.generate()
    async with begin(engine) as conn:
        account = await get_account(conn, account_name)
        statement = (
            insert(AccessToken)
            .values(
                id=token.id,
                account_id=account.id,
                name=token_name,
                token_hash=token.secret_hash,
                expires_at=expires_at,
            )
            .returning(AccessToken.created_at)
        )
        created_at = (await conn.execute(statement)).scalar_one()
    return NewToken(
        TokenInfo(token.id, account.name, token_name, created_at, expires_at, None, None), token.text
    )


async def list_tokens(engine: AsyncEngine, account_name: str) -> list[TokenInfo]:
    """The account's tokens, newest first; raises `AccountNotFound`."""
    async with connect(engine) as conn:
        account = await get_account(conn, account_name)
        rows = await conn.execute(
            select(
                AccessToken.id,
                AccessToken.name,
                AccessToken.created_at,
                AccessToken.expires_at,
                AccessToken.last_used_at,
                AccessToken.revoked_at,
            )
            .where(AccessToken.account_id == account.id)
            .order_by(AccessToken.created_at.desc())
        )
        return [TokenInfo(account=account.name, **row._mapping) for row in rows]


async def revoke_token(engine: AsyncEngine, token_id: UUID) -> None:
    """End a token now; a revoked one stays revoked. Raises `TokenNotFound`."""
    async with begin(engine) as conn:
        statement = (
            update(AccessToken)
            .where(AccessToken.id == token_id)
            .values(revoked_at=func.coalesce(AccessToken.revoked_at, datetime.now(UTC)))
        )
        if (await conn.execute(statement)).rowcount == 0:
            raise TokenNotFound(f"There is no token {token_id}.", objects=[token_id])
