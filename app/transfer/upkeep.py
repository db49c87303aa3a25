"""What has to be done beside the sessions: staged uploads swept, the bucket's heads brought up to date."""

import asyncio
from datetime import UTC, datetime, timedelta
from functools import partial
from uuid import UUID

import anyio.to_thread
import structlog
from sqlalchemy import select

from app.context import NodeContext
from app.database import connect
from app.jobs.service import unfinished_jobs
from app.transfer.landing import follow_heads
from app.transfer.push_sessions import finish_push_session
from app.transfer.tables import PushSession
from odf_core.errors import OdfError
from odf_core.storage import discard_session, sweep

log = structlog.get_logger(__name__)

INTERVAL_SECONDS = 60.0
SESSIONS_PER_ROUND = 100


async def settle_push(node: NodeContext, session_id: UUID, outcome: str) -> None:
    """Remove what a finished session staged; what fails here is repeated by `run_upkeep`."""
    try:
        await anyio.to_thread.run_sync(discard_session, node.store, session_id)
        await finish_push_session(node.engine, session_id, outcome)
    except OdfError as error:
        log.warning("session_not_settled", code=error.code, session_id=str(session_id))


async def sweep_expired(node: NodeContext) -> int:
    """Settle the sessions whose node died or whose time is over; returns how many."""
    async with connect(node.engine) as conn:
        expired = (
            (
                await conn.execute(
                    select(PushSession.id)
                    .where(PushSession.finished_at.is_(None), PushSession.expires_at < datetime.now(UTC))
                    .limit(SESSIONS_PER_ROUND)
                )
            )
            .scalars()
            .all()
        )
    for session_id in expired:
        await settle_push(node, session_id, "expired")
    return len(expired)


async def sweep_stray(node: NodeContext) -> int:
    """Remove staged uploads that came after their session had ended, or that nobody has ingested.

    Inputs of jobs that are still to be done stay, however old. Returns how many went.
    """
    lifetime = timedelta(seconds=2 * node.settings.transfer.session_ttl_seconds)
    waiting = {str(job_id) for job_id in await unfinished_jobs(node.engine, "ingest")}
    return (await anyio.to_thread.run_sync(partial(sweep, node.store, lifetime, keep=waiting))).objects


async def run_upkeep(node: NodeContext) -> None:
    """Repeat both for ever; an outage is logged and ends with the next round that succeeds."""
    while True:
        try:
            behind, expired = await follow_heads(node), await sweep_expired(node)
            stray = await sweep_stray(node)
            if behind or expired or stray:
                log.info("upkeep", heads=behind, expired_sessions=expired, stray_uploads=stray)
        except OdfError as error:
            log.warning("upkeep_failed", code=error.code)
        await asyncio.sleep(INTERVAL_SECONDS)
