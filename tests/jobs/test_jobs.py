"""Jobs without an engine: their queue, their attempts and their outcomes, on a real Postgres."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy import text

from app.accounts.service import ensure_account
from app.context import NodeContext
from app.database import begin
from app.ingest.requests import input_key
from app.ingest.uploads import open_token, prepare_upload
from app.jobs.errors import JobNotFound, JobSuperseded, error_of, error_values
from app.jobs.model import JobInfo
from app.jobs.service import (
    add_job,
    begin_job,
    fail_job,
    find_waiting,
    forget_jobs,
    read_job,
    record_result,
)
from app.jobs.worker import Worker
from app.transfer.upkeep import sweep_stray
from app.wiring import open_node
from odf_core.errors import Conflict, InternalError
from odf_core.storage import STAGING_PREFIX
from tests.node_worker import worker_settings
from tests.services import S3Bucket

RESULT = {"result": "UpToDate", "oldHead": "f", "newHead": "f", "numBlocks": 0, "numRecords": 0}


@pytest.fixture
async def context(database_url: str, s3_bucket: S3Bucket, tmp_path) -> AsyncIterator[NodeContext]:  # type: ignore[no-untyped-def]
    settings = worker_settings(database_url, s3_bucket, tmp_path, jobs={"max_attempts": 2})
    async with open_node(settings) as node:
        yield node


async def new_job(node: NodeContext, key: str | None = None, dataset: int = 1) -> UUID:
    account = await ensure_account(node.engine, "alice")
    async with begin(node.engine) as conn:
        await conn.execute(
            text(
                "INSERT INTO dataset (id, dataset_id, owner_id, name, visibility, kind) "
                "VALUES (:id, :did, :owner, :name, 'public', 'Root') ON CONFLICT DO NOTHING"
            ),
            {"id": dataset, "did": f"fed01{dataset}", "owner": account.id, "name": f"d{dataset}"},
        )
        return await add_job(
            conn,
            uuid4(),
            kind="pull",
            dataset_pk=dataset,
            account_id=account.id,
            request={},
            idempotency_key=key,
        )


async def record(node: NodeContext, job: JobInfo) -> None:
    async with begin(node.engine) as conn:
        await record_result(conn, job.id, RESULT, attempt=job.attempts, is_final=True)


async def test_a_job_is_begun_and_ended_once(context: NodeContext) -> None:
    job_id = await new_job(context)
    first = await begin_job(context.engine, job_id)
    again = await begin_job(context.engine, job_id)  # its worker was thought dead
    assert first is not None and again is not None and again.attempts == 2
    with pytest.raises(JobSuperseded):
        await record(context, first)
    await record(context, again)
    done = await read_job(context.engine, job_id)
    assert (done.state, done.result, done.is_finished) == ("done", RESULT, True)
    assert await begin_job(context.engine, job_id) is None
    with pytest.raises(JobSuperseded):
        await record(context, again)
    await fail_job(context.engine, job_id, Conflict("too late"))
    assert (await read_job(context.engine, job_id)).state == "done"


async def test_a_key_makes_one_job(context: NodeContext) -> None:
    first = await new_job(context, "a")
    assert await new_job(context, "a") == first
    assert await new_job(context, "b") != first
    assert await new_job(context, "a", dataset=2) != first
    assert await new_job(context) != await new_job(context)


async def test_a_job_that_is_rolled_back_is_in_no_queue(context: NodeContext) -> None:
    account = await ensure_account(context.engine, "alice")
    await new_job(context)
    with pytest.raises(ZeroDivisionError):
        async with begin(context.engine) as conn:
            await add_job(conn, uuid4(), kind="pull", dataset_pk=1, account_id=account.id, request={})
            raise ZeroDivisionError
    async with begin(context.engine) as conn:
        assert (await conn.execute(text("SELECT count(*) FROM jobs.procrastinate_jobs"))).scalar_one() == 1
        assert await find_waiting(conn, "pull", 1) is not None
        assert await find_waiting(conn, "ingest", 1) is None


async def run_until_done(context: NodeContext, work, jobs: list[UUID]) -> None:  # type: ignore[no-untyped-def]
    running = asyncio.create_task(Worker(context, work).run())
    try:
        async with asyncio.timeout(30):
            while not all([(await read_job(context.engine, job)).is_finished for job in jobs]):
                if running.done():
                    running.result()
                await asyncio.sleep(0.05)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)


async def test_jobs_of_one_dataset_run_in_their_order(context: NodeContext) -> None:
    jobs = [await new_job(context) for _ in range(5)]
    done: list[UUID] = []

    async def work(job: JobInfo) -> None:
        done.append(job.id)
        await record(context, job)

    await run_until_done(context, work, jobs)
    assert done == jobs


async def test_faults_and_refusals_end_a_job_and_tell_why(context: NodeContext) -> None:
    jobs = [await new_job(context), await new_job(context), await new_job(context)]

    async def work(job: JobInfo) -> None:
        if job.id == jobs[0]:
            raise Conflict("Somebody else was faster.", objects=["x"])
        if job.id == jobs[1]:
            raise ZeroDivisionError("secret")
        await record(context, job)

    await run_until_done(context, work, jobs)
    refused, broken, good = [await read_job(context.engine, job) for job in jobs]
    assert refused.error == {
        "code": "conflict",
        "family": "conflict",
        "message": "Somebody else was faster.",
        "objects": ["x"],
    }
    assert broken.error is not None and broken.error["code"] == "internal_error"
    assert "secret" not in broken.error["message"]
    assert good.state == "done"


async def test_a_job_that_kills_its_workers_is_given_up(context: NodeContext) -> None:
    job_id = await new_job(context)
    for _ in range(2):
        await begin_job(context.engine, job_id)

    async def work(job: JobInfo) -> None:
        raise AssertionError("it must not be begun again")

    await run_until_done(context, work, [job_id])
    job = await read_job(context.engine, job_id)
    assert job.error is not None and job.error["code"] == "job_abandoned"


async def test_only_inputs_that_nobody_waits_for_are_swept(context: NodeContext) -> None:
    """Bodies and uploads alike lie in staging, under the id of the job that they are or would be for."""
    account = await ensure_account(context.engine, "alice")
    waiting, done = await new_job(context), await new_job(context)
    for job_id in (waiting, done):
        async with begin(context.engine) as conn:
            await conn.execute(text("UPDATE job SET kind = 'ingest' WHERE id = :id"), {"id": job_id})
    await fail_job(context.engine, done, Conflict("x"))
    prepared = await prepare_upload(context, account, "x.csv", 1, None)
    abandoned = (await open_token(context, account, prepared.token)).id
    for job_id in (waiting, done, abandoned):
        context.store.write(input_key(job_id), b"x", size=1)
    assert await sweep_stray(context) == 0
    transfer = context.settings.transfer.model_copy(update={"session_ttl_seconds": -60})
    later = replace(context, settings=context.settings.model_copy(update={"transfer": transfer}))
    assert await sweep_stray(later) == 2
    assert [item.key for item in context.store.list(STAGING_PREFIX)] == [input_key(waiting)]


async def test_old_jobs_are_forgotten(context: NodeContext) -> None:
    job_id = await new_job(context)
    await fail_job(context.engine, job_id, Conflict("x"))
    assert await forget_jobs(context.engine, timedelta(hours=1)) == 0
    assert await forget_jobs(context.engine, timedelta(0)) == 1
    with pytest.raises(JobNotFound):
        await read_job(context.engine, job_id)


def test_an_error_keeps_code_and_family_through_the_database() -> None:
    error = error_of(error_values(JobNotFound("gone", objects=[1])))
    assert (error.code, error.family, error.message, error.objects) == (
        "job_not_found",
        "not_found",
        "gone",
        ("1",),
    )
    assert isinstance(error_of({"family": "unheard"}), InternalError)
