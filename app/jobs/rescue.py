"""Jobs of workers that died go back into the queue."""

import procrastinate
from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncEngine

from app.database import begin

_RESCUE_LOCK = 0x6F64665F6A6F6273  # "odf_jobs"


async def rescue_stalled(engine: AsyncEngine, queue: procrastinate.App, seconds: float) -> int:
    """Give back the jobs of workers that were silent for `seconds`; how many.

    One worker does so at a time: two could give one job back twice, and it would be done twice at once. (It
    would be committed once even so: `app.jobs.service.record_result`.)
    """
    async with begin(engine) as conn:
        locked = await conn.execute(text("SELECT pg_try_advisory_xact_lock(:key)"), {"key": _RESCUE_LOCK})
        if not locked.scalar_one():
            return 0
        stalled = list(await queue.job_manager.get_stalled_jobs(seconds_since_heartbeat=seconds))
        for job in stalled:
            await queue.job_manager.retry_job(job)
    return len(stalled)
