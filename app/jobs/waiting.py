"""Waiting for a job from within a request."""

import asyncio
from uuid import UUID

from sqlalchemy.ext.asyncio import AsyncEngine

from app.jobs.model import JobInfo
from app.jobs.service import read_job

_FIRST_LOOK_SECONDS, _LONGEST_PAUSE_SECONDS = 0.05, 0.5


async def wait_for_job(engine: AsyncEngine, job_id: UUID, seconds: float) -> JobInfo:
    """The job when it is over, or as it is after `seconds`. Raises `JobNotFound`, `DatabaseUnavailable`."""
    loop = asyncio.get_running_loop()
    give_up_at, pause = loop.time() + seconds, _FIRST_LOOK_SECONDS
    while True:
        job = await read_job(engine, job_id)
        left = give_up_at - loop.time()
        if job.is_finished or left <= 0:
            return job
        await asyncio.sleep(min(pause, left))
        pause = min(pause * 1.5, _LONGEST_PAUSE_SECONDS)
