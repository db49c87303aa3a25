"""The queue: which worker takes up which job, and when. Procrastinate's tables, in the schema `jobs`.

Jobs of one dataset have one lock, so that they run one after another in the order in which they came; a
job that is put off keeps its place. The queue forgets a job when it is over: outcomes are in the table
`job`.
"""

from uuid import UUID

import procrastinate
from psycopg.conninfo import make_conninfo
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncConnection

from app.database import database_url, driver_url
from app.settings import DatabaseSettings

SCHEMA = "jobs"
TASK = "odf.run_job"

_deferring = procrastinate.App(connector=procrastinate.PsycopgConnector())
"""Never opened: jobs are put into the queue on the caller's own connection."""


def worker_queue(settings: DatabaseSettings) -> procrastinate.App:
    """The queue for a worker, with connections of its own."""
    url = driver_url(database_url(settings)).set(drivername="postgresql")
    conninfo = make_conninfo(
        url.render_as_string(hide_password=False),
        options=f"-c search_path={SCHEMA}",
        connect_timeout=settings.connect_timeout_seconds,
    )
    return procrastinate.App(
        connector=procrastinate.PsycopgConnector(conninfo=conninfo, min_size=1, max_size=4)
    )


async def enqueue(conn: AsyncConnection, job_id: UUID, lock: str) -> None:
    """Put a job into the queue, in the transaction of `conn`: it is there when the transaction is.

    Jobs of one `lock` run one after another.
    """
    raw = (await conn.get_raw_connection()).driver_connection
    if raw is None:
        raise RuntimeError("the connection has no driver connection")
    await conn.execute(text(f"SET LOCAL search_path TO {SCHEMA}"))
    deferrer = _deferring.configure_task(TASK, lock=lock, connection=raw)
    await deferrer.defer_async(job_id=str(job_id))
    await conn.execute(text("SET LOCAL search_path TO DEFAULT"))
