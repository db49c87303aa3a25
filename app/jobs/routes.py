"""Jobs over HTTP: `GET /jobs/{id}`, and the answer of requests that wait for theirs."""

from datetime import datetime
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Response
from pydantic import BaseModel, Field

from app.accounts.routes import REFUSALS, CurrentCaller
from app.http import Node
from app.jobs.errors import error_of
from app.jobs.model import JobInfo, JobState
from app.jobs.service import read_job_of
from app.jobs.waiting import wait_for_job
from app.routing import readable, refusal

router = APIRouter(tags=["jobs"])

_PROGRESS = "progress"


class IngestResult(BaseModel):
    """What an ingest, a pull or a transform came to."""

    result: str = Field(description="`Updated`, or `UpToDate` where there was nothing new.")
    old_head: str = Field(alias="oldHead")
    new_head: str = Field(alias="newHead")
    num_blocks: int = Field(alias="numBlocks")
    num_records: int = Field(alias="numRecords")
    late_records: int | None = Field(
        None, alias="lateRecords", description="Records of inputs that came after their window was closed."
    )
    why: str | None = Field(None, description="Why nothing was added, where nothing was.")


class DatasetVerdict(BaseModel):
    """What a recursive verification found of one dataset; the fields of `VerificationResult`."""

    id: str
    alias: str
    ok: bool
    head: str
    is_attested: bool = Field(alias="isAttested", description="Whether a signed finding was put beside it.")
    integrity: dict[str, Any] | None = None
    replay: dict[str, Any] | None = None
    findings: list[dict[str, Any]] = Field(description="The first ten findings.")
    num_findings: int = Field(alias="numFindings")


class VerificationResult(BaseModel):
    """What a verification found: `integrity` and `replay` are the numbers of both parts."""

    ok: bool = Field(
        description="Nothing is wrong, and all that was asked for was looked at; of a recursive verification "
        "the verdict for everything together."
    )
    head: str = Field(description="The last block of what was verified.")
    integrity: dict[str, Any] | None = None
    replay: dict[str, Any] | None = None
    findings: list[dict[str, Any]] = Field(description="The first hundred findings.")
    num_findings: int = Field(alias="numFindings")
    datasets: list[DatasetVerdict] | None = Field(
        None, description="Of a recursive verification: the verdict of each dataset, inputs first."
    )


class DatasetProgress(BaseModel):
    """How far a dataset is."""

    dataset: str
    phase: str | None = Field(None, description="`blocks`, `rules`, `objects`, `steps`.")
    done: int | None = None
    total: int | None = None


class VerificationProgress(BaseModel):
    """How far a verification is."""

    datasets: int = Field(description="How many there are to be verified.")
    verified: int
    current: list[DatasetProgress]


class MirroredDataset(BaseModel):
    """What became of one dataset."""

    id: str = Field(description="DID of the dataset.")
    dataset: str = Field(description="`account/name` on this node.")
    source: str = Field(description="What it is called at its source: `repository/account/name`.")
    old_head: str | None = Field(None, alias="oldHead")
    new_head: str = Field(alias="newHead")
    num_blocks: int = Field(alias="numBlocks", description="Blocks that came; 0: it was up to date.")
    num_bytes: int = Field(alias="numBytes", description="Bytes of data files that were fetched.")


class MirrorProgress(BaseModel):
    """How far the pull of the dataset is that a mirror is at."""

    source: str
    phase: str = Field(description="`connect`, `blocks`, `objects` or `commit`.")
    count: int = Field(description="Blocks or objects of this phase; 0: not known.")
    count_done: int = Field(alias="countDone")
    bytes: int
    bytes_done: int = Field(alias="bytesDone")


class MirrorResult(BaseModel):
    """What a mirror came to: the datasets in the order of their commits, inputs first."""

    result: str | None = Field(
        None, description="`Updated`, or `UpToDate` where nothing was new; absent while the job runs."
    )
    datasets: list[MirroredDataset]


class JobError(BaseModel):
    """Why a job failed; the fields of `ErrorBody`."""

    message: str
    code: str
    family: str
    objects: list[str]


class JobStatus(BaseModel):
    """A job. `result` grows with each commit and is final when the state is `done`."""

    id: UUID
    kind: str
    state: JobState
    attempts: int = Field(description="How often a worker has begun it; more than once where one died.")
    address: str = Field(description="Where to ask for the job again.")
    created_at: datetime = Field(alias="createdAt")
    started_at: datetime | None = Field(None, alias="startedAt")
    finished_at: datetime | None = Field(None, alias="finishedAt")
    result: IngestResult | MirrorResult | VerificationResult | None = None
    error: JobError | None = None
    progress: MirrorProgress | VerificationProgress | None = Field(
        None, description="Of a mirror or a verification that is under way."
    )


def status_of_job(job: JobInfo) -> JobStatus:
    """The job as clients see it."""
    return JobStatus(
        id=job.id,
        kind=job.kind,
        state=job.state,
        attempts=job.attempts,
        address=f"/jobs/{job.id}",
        createdAt=job.created_at,
        startedAt=job.started_at,
        finishedAt=job.finished_at,
        result=_result(job),
        error=None if job.error is None else JobError(**job.error),
        progress=_progress(job),
    )


def _result(job: JobInfo) -> IngestResult | MirrorResult | VerificationResult | None:
    if job.result is None:
        return None
    match job.kind:
        case "verify" if _PROGRESS in job.result:  # which stands there until there is a result
            return None
        case "verify":
            return VerificationResult(**job.result)
        case "mirror":
            return MirrorResult(**job.result)
        case _:
            return IngestResult(**job.result)


def _progress(job: JobInfo) -> MirrorProgress | VerificationProgress | None:
    """Beside what was committed, until the job is over."""
    if job.is_finished or job.result is None or _PROGRESS not in job.result:
        return None
    told = job.result[_PROGRESS]
    return VerificationProgress(**told) if job.kind == "verify" else MirrorProgress(**told)


ACCEPTED: dict[int | str, dict[str, Any]] = {
    202: {"model": JobStatus, "description": "The job goes on; ask at its address"}
}


async def answer_of_job(node: Node, job_id: UUID) -> Response:
    """The result of a job, waited for as long as the setting says; 202 with the job after that.

    Raises the job's error.
    """
    job = await wait_for_job(node.engine, job_id, node.settings.ingest.wait_seconds)
    if job.error is not None:
        raise error_of(job.error)
    headers = {"location": f"/jobs/{job_id}"}
    result = _result(job)
    if job.is_finished and result is not None:
        body = result.model_dump_json(by_alias=True, exclude_none=True)
        return Response(body, 200, headers, media_type="application/json")
    body = status_of_job(job).model_dump_json(by_alias=True, exclude_none=True)
    return Response(body, 202, headers, media_type="application/json")


@readable(
    router,
    "/jobs/{job_id}",
    summary="A job",
    responses={**REFUSALS, 404: refusal("No such job, or not the caller's")},
    response_model_exclude_none=True,
)
async def read_one_job(
    node: Node,
    caller: CurrentCaller,
    job_id: Annotated[UUID, Path(description="The id that the job was answered with.")],
) -> JobStatus:
    """Where a job stands, for the account that asked for it."""
    caller.require_valid_token()
    return status_of_job(await read_job_of(node.engine, caller, job_id))
