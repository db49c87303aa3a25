"""Postgres as the adapter sees it: engine, transactions, migrations, and where its errors end.

`begin` and `connect` are the only ways in. They turn what SQLAlchemy and psycopg raise when the
server is away into errors of the family *unavailable*, and a connection that ends during COMMIT into
*outcome unknown* (style.md: "refused" and "unknown" are two failures).
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar

import psycopg
from alembic import command
from alembic.config import Config
from sqlalchemy import MetaData
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, InterfaceError, OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.orm import DeclarativeBase

import migrations
from app.settings import DatabaseSettings, SettingsInvalid
from odf_core.errors import OutcomeUnknown, Unavailable

NAMING = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}


class DatabaseUnavailable(Unavailable):
    """Postgres does not answer, or has no connection or time left for this call."""

    code: ClassVar[str] = "database_unavailable"


class DatabaseSchemaMissing(Unavailable):
    """The database is there, but the tables of this version are not."""

    code: ClassVar[str] = "database_schema_missing"


class CommitOutcomeUnknown(OutcomeUnknown):
    """The connection ended while a transaction was being committed."""

    code: ClassVar[str] = "commit_outcome_unknown"


class Base(DeclarativeBase):
    """Root of all tables; every constraint has a name, so that migrations can speak of it."""

    metadata = MetaData(naming_convention=NAMING)


def driver_url(url: str) -> URL:
    """The URL with psycopg 3 as driver; raises `SettingsInvalid`."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        raise SettingsInvalid("database.url is not a URL such as postgresql://user@host/name.") from error
    if parsed.drivername not in ("postgresql", "postgres", "postgresql+psycopg"):
        raise SettingsInvalid(
            f"database.url has to be a postgresql:// URL; {parsed.drivername} is not supported."
        )
    return parsed.set(drivername="postgresql+psycopg")


def database_url(settings: DatabaseSettings) -> str:
    """The URL as it was set, with its password; raises `SettingsInvalid` where there is none."""
    if settings.url is None:
        raise SettingsInvalid(
            "database.url is not set: give the URL of a Postgres, or set embedded.enabled.",
            objects=["database.url"],
        )
    return settings.url.get_secret_value()


def create_engine(settings: DatabaseSettings) -> AsyncEngine:
    """The pool of connections; nothing connects before the first use."""
    options = {
        "statement_timeout": settings.statement_timeout_seconds,
        "lock_timeout": settings.lock_timeout_seconds,
        "idle_in_transaction_session_timeout": settings.idle_transaction_seconds,
    }
    return create_async_engine(
        driver_url(database_url(settings)),
        pool_size=settings.pool_size,
        max_overflow=settings.pool_overflow,
        pool_timeout=settings.pool_timeout_seconds,
        pool_pre_ping=True,  # free on a socket, and no error after Postgres was restarted (stack.md 5.2)
        hide_parameters=True,
        skip_autocommit_rollback=True,
        connect_args={
            "connect_timeout": settings.connect_timeout_seconds,
            "options": " ".join(f"-c {name}={int(seconds * 1000)}" for name, seconds in options.items()),
        },
    )


@asynccontextmanager
async def connect(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A connection for reading, each statement for itself; raises `DatabaseUnavailable`."""
    try:
        async with engine.connect() as conn:
            # Without a transaction two round trips fewer; READ COMMITTED would show no less.
            await conn.execution_options(isolation_level="AUTOCOMMIT")
            yield conn
    except (DBAPIError, PoolTimeout, psycopg.Error) as error:
        raise _translated(error) from error


@asynccontextmanager
async def begin(engine: AsyncEngine) -> AsyncIterator[AsyncConnection]:
    """A transaction, committed at the end of the block and rolled back when it raises.

    Raises `DatabaseUnavailable` (nothing was changed) or `CommitOutcomeUnknown`.
    """
    committing = False
    try:
        async with engine.connect() as conn:
            transaction = await conn.begin()
            try:
                yield conn
            except BaseException:
                await _roll_back(conn)
                raise
            committing = True
            await transaction.commit()
    except (DBAPIError, PoolTimeout, psycopg.Error) as error:
        raise _translated(error, committing=committing) from error


async def _roll_back(conn: AsyncConnection) -> None:
    """Undo; where the connection is gone the server has done so, and the first error is the one to tell."""
    try:
        await conn.rollback()
    except (DBAPIError, psycopg.Error):
        await conn.invalidate()


def _translated(error: Exception, *, committing: bool = False) -> Exception:
    """The error of the house for one that means "not now"; a fault of ours stays what it is."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    if committing and isinstance(error, OperationalError | InterfaceError | psycopg.OperationalError):
        return CommitOutcomeUnknown(
            "The connection to the database ended while a change was being committed; "
            "look whether it is there before you repeat it."
        )
    if isinstance(error, PoolTimeout):
        return DatabaseUnavailable("All connections to the database are in use; try again shortly.")
    if isinstance(cause, psycopg.errors.QueryCanceled | psycopg.errors.LockNotAvailable):
        return DatabaseUnavailable("The database did not finish in time; try again shortly.")
    if isinstance(cause, psycopg.errors.UndefinedTable):
        return DatabaseSchemaMissing(
            "The database lacks the tables of this version; run `odf admin migrate`, or start the node."
        )
    if isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError):
        return DatabaseUnavailable("The database does not answer; try again shortly.")
    return error


def alembic_config(url: str) -> Config:
    """Alembic's configuration for the migrations that are shipped with this package."""
    config = Config()
    folder = Path(str(migrations.__file__)).parent
    config.set_main_option("script_location", str(folder).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    config.attributes["url"] = driver_url(url)
    return config


def upgrade(url: str) -> None:
    """Bring the schema to the newest revision; several nodes may do so at once.

    Synchronous, to be called before the loop runs. Raises `DatabaseUnavailable`.
    """
    try:
        command.upgrade(alembic_config(url), "head")
    except (OperationalError, InterfaceError) as error:
        raise _translated(error) from error
