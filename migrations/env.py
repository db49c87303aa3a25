"""Alembic's entry: one transaction under an advisory lock, so that several nodes may start at once."""

from alembic import context
from sqlalchemy import create_engine, func, select
from sqlalchemy.pool import NullPool

from app.tables import metadata

UPGRADE_LOCK = 0x6F64665F6E6F6465  # "odf_node"


def run() -> None:
    """Apply the revisions, on the connection of the caller's configuration."""
    engine = create_engine(context.config.attributes["url"], poolclass=NullPool, hide_parameters=True)
    with engine.connect() as connection:
        context.configure(connection=connection, target_metadata=metadata, compare_type=True)
        with context.begin_transaction():
            connection.execute(select(func.pg_advisory_xact_lock(UPGRADE_LOCK)))
            context.run_migrations()
    engine.dispose()


run()
