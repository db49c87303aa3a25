"""Repositories that the operator has registered: the only places that mirrors come from."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import SecretStr
from sqlalchemy import delete, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.engine import Row
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine

from app.accounts.model import AccountInfo
from app.accounts.service import get_account
from app.accounts.tables import Account
from app.database import begin, connect
from app.mirrors.tables import Repository
from odf_core.identity import RepoName
from odf_core.workspace.errors import RepoExists, RepoNotFound
from odf_core.workspace.repos import repo_url


@dataclass(frozen=True, slots=True)
class Registered:
    """A repository; its token is shown there for these accounts and for admins only."""

    name: RepoName
    url: str
    token: SecretStr | None
    account_ids: frozenset[UUID]
    created_at: datetime

    def token_for(self, account: AccountInfo) -> str | None:
        """The token, where the account may use it."""
        if self.token is None or not (account.is_admin or account.id in self.account_ids):
            return None
        return self.token.get_secret_value()


Repositories = Mapping[RepoName, Registered]


def _registered(row: Row[*tuple[Any, ...]]) -> Registered:
    token = None if row.token is None else SecretStr(row.token)
    return Registered(RepoName(row.name), row.url, token, frozenset(row.account_ids), row.created_at)


async def read_repositories(conn: AsyncConnection) -> Repositories:
    """All repositories, in the order of their registration. Raises `DatabaseUnavailable`."""
    rows = await conn.execute(
        select(*Repository.__table__.columns).order_by(Repository.created_at, Repository.name)
    )
    return {found.name: found for found in map(_registered, rows)}


async def register(
    engine: AsyncEngine, name: str, url: str, *, token: str | None, accounts: Iterable[str]
) -> Registered:
    """Register a repository, or change token and accounts of one with this URL.

    Raises `InvalidName`, `InvalidRepoUrl`, `RepoExists` where the name has another URL, `AccountNotFound`,
    `DatabaseUnavailable`.
    """
    valid, kept = RepoName(name), repo_url(url)
    async with begin(engine) as conn:
        known = (await read_repositories(conn)).get(valid)
        if known is not None and known.url != kept:
            raise RepoExists(
                f"Repository {name} is registered as {known.url}; remove it first.", objects=[name]
            )
        ids = [(await get_account(conn, account)).id for account in accounts]
        values = {"url": kept, "token": token, "account_ids": ids}
        stored = str.__str__(valid if known is None else known.name)
        statement = insert(Repository).values(name=stored, **values)
        made = await conn.execute(
            statement.on_conflict_do_update(index_elements=["name"], set_=values).returning(
                *Repository.__table__.columns
            )
        )
        return _registered(made.one())


async def unregister(engine: AsyncEngine, name: str) -> None:
    """Forget a repository; what was mirrored from it stays, and follows it no more.

    Raises `RepoNotFound`, `DatabaseUnavailable`.
    """
    async with begin(engine) as conn:
        gone = await conn.execute(
            delete(Repository).where(func.lower(Repository.name) == name.lower()).returning(Repository.name)
        )
        if gone.scalar_one_or_none() is None:
            raise RepoNotFound(f"There is no repository {name}.", objects=[name])


async def list_repositories(engine: AsyncEngine) -> list[tuple[Registered, list[str]]]:
    """All repositories, with the names of the accounts that may use their tokens."""
    async with connect(engine) as conn:
        found = list((await read_repositories(conn)).values())
        ids = {account for item in found for account in item.account_ids}
        rows = await conn.execute(select(Account.id, Account.name).where(Account.id.in_(ids)))
        names = {row.id: row.name for row in rows}
    return [
        (item, sorted(names[account] for account in item.account_ids if account in names)) for item in found
    ]
