"""The database as an adapter: migrations, and where foreign errors end."""

import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import psycopg
import pytest
from alembic import command
from sqlalchemy import create_engine as create_sync_engine
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from app.database import (
    CommitOutcomeUnknown,
    DatabaseUnavailable,
    alembic_config,
    begin,
    connect,
    create_engine,
    database_url,
    driver_url,
    upgrade,
)
from app.settings import DatabaseSettings, SettingsInvalid
from app.tables import metadata

ROOT = Path(__file__).resolve().parents[2]


def settings(url: str, **more: object) -> DatabaseSettings:
    return DatabaseSettings.model_validate({"url": url, **more})


@pytest.fixture
async def engine(database_url: str) -> AsyncIterator[AsyncEngine]:
    made = create_engine(settings(database_url, statement_timeout_seconds=1, lock_timeout_seconds=1))
    yield made
    await made.dispose()


def test_the_migrations_make_the_tables_of_the_code(database_url: str) -> None:
    command.check(alembic_config(database_url))


def test_every_constraint_has_a_name() -> None:
    for table in metadata.tables.values():
        for constraint in table.constraints:
            assert constraint.name, table.name


def test_down_and_up_again_by_several_at_once(database_url: str) -> None:
    command.downgrade(alembic_config(database_url), "base")
    sync = create_sync_engine(driver_url(database_url))
    with sync.connect() as conn:
        tables = conn.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars()
        assert set(tables) == {"alembic_version"}
    sync.dispose()
    program = "import sys; from app.database import upgrade; upgrade(sys.argv[1])"
    started = [subprocess.Popen([sys.executable, "-c", program, database_url], cwd=ROOT) for _ in range(3)]
    assert [process.wait(60) for process in started] == [0, 0, 0]
    command.check(alembic_config(database_url))


def test_a_server_that_is_away_is_unavailable(tmp_path: object) -> None:
    with pytest.raises(DatabaseUnavailable):
        upgrade(f"postgresql://odf@/odf?host={tmp_path}")


@pytest.mark.parametrize("url", ["mysql://x/y", "no url", "sqlite://"])
def test_other_databases_are_refused(url: str) -> None:
    with pytest.raises(SettingsInvalid):
        driver_url(url)


def test_a_missing_url_is_a_sentence() -> None:
    with pytest.raises(SettingsInvalid, match=r"database\.url is not set"):
        database_url(DatabaseSettings())


async def test_timeouts_are_unavailable(engine: AsyncEngine) -> None:
    with pytest.raises(DatabaseUnavailable, match="in time"):
        async with connect(engine) as conn:
            await conn.execute(text("SELECT pg_sleep(5)"))


async def test_a_lock_that_is_held_is_unavailable(engine: AsyncEngine) -> None:
    async with begin(engine) as holder:
        await holder.execute(text("LOCK TABLE dataset"))
        with pytest.raises(DatabaseUnavailable):
            async with begin(engine) as conn:
                await conn.execute(text("LOCK TABLE dataset"))


async def test_an_error_of_ours_stays_what_it_is(engine: AsyncEngine) -> None:
    from sqlalchemy.exc import ProgrammingError

    with pytest.raises(ProgrammingError):
        async with connect(engine) as conn:
            await conn.execute(text("SELECT nonsense"))
    with pytest.raises(KeyError):
        async with begin(engine):
            raise KeyError("ours")


async def _kill(engine: AsyncEngine, pid: int) -> None:
    async with connect(engine) as conn:
        await conn.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid})


async def test_a_connection_that_dies_before_commit_changed_nothing(engine: AsyncEngine) -> None:
    with pytest.raises(DatabaseUnavailable):
        async with begin(engine) as conn:
            pid = (await conn.execute(text("SELECT pg_backend_pid()"))).scalar_one()
            await conn.execute(
                text("INSERT INTO account (id, did, name) VALUES (gen_random_uuid(), 'd', 'n')")
            )
            await _kill(engine, pid)
            await conn.execute(text("SELECT 1"))
    async with connect(engine) as conn:
        assert (await conn.execute(text("SELECT count(*) FROM account"))).scalar_one() == 0


async def test_a_connection_that_dies_at_commit_leaves_the_outcome_open(engine: AsyncEngine) -> None:
    with pytest.raises(CommitOutcomeUnknown):
        async with begin(engine) as conn:
            pid = (await conn.execute(text("SELECT pg_backend_pid()"))).scalar_one()
            await _kill(engine, pid)


async def test_errors_of_the_driver_itself_are_turned_too(engine: AsyncEngine) -> None:
    with pytest.raises(DatabaseUnavailable):
        async with begin(engine):
            raise psycopg.OperationalError("during COPY")


async def test_an_exhausted_pool_is_unavailable(database_url: str) -> None:
    small = create_engine(settings(database_url, pool_size=1, pool_overflow=0, pool_timeout_seconds=0.2))
    async with connect(small):
        with pytest.raises(DatabaseUnavailable, match="in use"):
            async with connect(small):
                pass
    await small.dispose()
