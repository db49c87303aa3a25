"""Data into a dataset over HTTP: `POST ingest`, `POST pull`, and the schedule of polls."""

from typing import Annotated, Any

from fastapi import APIRouter, Header, Query, Request, Response
from pydantic import BaseModel, Field

from app.accounts.model import Caller
from app.accounts.routes import REFUSALS, CurrentCaller
from app.bodies import body_of, read_model
from app.context import NodeContext
from app.database import begin, connect
from app.datasets.addressing import Address
from app.datasets.model import Action, DatasetAddress, DatasetInfo
from app.datasets.service import open_dataset
from app.http import Node
from app.ingest.errors import ScheduleNotFound
from app.ingest.pushing import Push, find_earlier, push_body, push_upload
from app.ingest.receiving import checked_key
from app.ingest.requests import PullRequest
from app.ingest.schedules import read_schedule, remove_schedule, set_schedule, start_pull
from app.ingest.upload_tokens import TOKEN_CHARS
from app.jobs.routes import ACCEPTED, IngestResult, answer_of_job
from app.routing import readable, refusal
from odf_core.metadata import Timestamp

router = APIRouter(tags=["ingest"])

_REFUSALS: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    403: refusal("The caller may read the dataset, but not write to it; or the node forbids the source"),
    404: refusal("No such dataset, or none that the caller may read"),
    409: refusal("The dataset changed meanwhile"),
}
_WORK: dict[int | str, dict[str, Any]] = {**ACCEPTED, **_REFUSALS}


async def _own(
    node: NodeContext, caller: Caller, address: DatasetAddress, action: Action = Action.MANAGE
) -> DatasetInfo:
    caller.require_valid_token()
    caller.require_account()
    async with connect(node.engine) as conn:
        return await open_dataset(conn, node, caller, address, action)


@router.post(
    "/ingest",
    summary="Push data into a dataset",
    response_model=IngestResult,
    responses={
        **_WORK,
        404: refusal("No such dataset, or none that the caller may read; or the upload has not arrived"),
        409: refusal("The dataset changed meanwhile; or the upload went into another dataset"),
        413: refusal("More bytes than the node takes"),
        415: refusal("Data of this media type cannot be read"),
    },
    openapi_extra={
        "requestBody": {
            "required": False,
            "content": {"*/*": {"schema": {"type": "string", "format": "binary"}}},
        }
    },
)
async def ingest(
    request: Request,
    node: Node,
    caller: CurrentCaller,
    address: Address,
    source_name: Annotated[
        str | None,
        Query(alias="sourceName", max_length=1024, description="The push source, where there are several."),
    ] = None,
    upload_token: Annotated[
        str | None,
        Query(
            alias="uploadToken",
            max_length=TOKEN_CHARS,
            description="Ingest a file that was uploaded before, instead of the body.",
        ),
    ] = None,
    event_time: Annotated[
        str | None,
        Header(alias="odf-event-time", description="RFC 3339: the event time of records that carry none."),
    ] = None,
    idempotency_key: Annotated[
        str | None,
        Header(
            alias="idempotency-key",
            description="The client's name for this request: sent again, it is ingested once.",
        ),
    ] = None,
) -> Response:
    """The body's records are merged with the dataset's history and committed, once, by a job.

    `Content-Type` is the media type of the body; without one it is in the source's own format. A file that
    was uploaded before (`POST /platform/file/upload/prepare`) goes by its token, with the media type that it
    was prepared with; the same token again is the same job. A dataset that has no source gets one of the
    file's format with it, named `auto`, which appends.
    """
    dataset = await _own(node, caller, address, Action.WRITE)
    moment = None if event_time is None else str(Timestamp.parse(event_time))
    key = checked_key(idempotency_key)
    push = Push(dataset, caller.require_account(), source_name, moment, key)
    job_id = await find_earlier(node, push)
    if job_id is None and upload_token is not None:
        job_id = await push_upload(node, push, upload_token)
    elif job_id is None:
        job_id = await push_body(node, request, push)
    return await answer_of_job(node, job_id)


@router.post("/pull", summary="Bring a dataset up to date", response_model=IngestResult, responses=_WORK)
async def pull(
    node: Node,
    caller: CurrentCaller,
    address: Address,
    fetch_uncacheable: Annotated[
        bool,
        Query(alias="fetchUncacheable", description="Also ask a source that tells no state."),
    ] = False,
) -> Response:
    """By a job: what the polling source has that is new is merged with the dataset's history and committed;
    of a derivative dataset, the query is evaluated over what is new in its inputs; of a mirror, its source
    is asked.
    """
    dataset = await _own(node, caller, address)
    async with begin(node.engine) as conn:
        job_id = await start_pull(
            conn, dataset.pk, dataset.kind, caller.require_account().id, PullRequest(fetch_uncacheable)
        )
    return await answer_of_job(node, job_id)


class ScheduleBody(BaseModel):
    """When a dataset's source is asked by itself."""

    cron: str = Field(
        max_length=200,
        description="Minute, hour, day of the month, month, day of the week; in UTC.",
        examples=["30 6 * * 1-5"],
    )


class ScheduleInfo(ScheduleBody):
    """A schedule with its next turn."""

    next_at: str = Field(alias="nextAt", description="When the source is asked next, RFC 3339.")


@router.put(
    "/schedule",
    summary="Bring a dataset up to date by the clock",
    responses=_REFUSALS,
    openapi_extra=body_of(ScheduleBody),
)
async def put_schedule(request: Request, node: Node, caller: CurrentCaller, address: Address) -> ScheduleInfo:
    """From now on a source is asked, or a query evaluated, at each turn of the cron expression."""
    dataset = await _own(node, caller, address)
    body = await read_model(request, ScheduleBody, node.settings.bounds.http_body_bytes)
    made = await set_schedule(node, dataset.pk, caller.require_account().id, body.cron)
    return ScheduleInfo(cron=made.cron, nextAt=made.next_at.isoformat())


@router.delete(
    "/schedule", summary="Poll a dataset no more by the clock", status_code=204, responses=_REFUSALS
)
async def delete_schedule(node: Node, caller: CurrentCaller, address: Address) -> Response:
    """The polling source is asked on demand only."""
    await remove_schedule(node, (await _own(node, caller, address)).pk)
    return Response(status_code=204)


@readable(router, "/schedule", summary="The schedule of a dataset's polls", responses=_REFUSALS)
async def get_schedule(node: Node, caller: CurrentCaller, address: Address) -> ScheduleInfo:
    """When the polling source is asked by itself."""
    dataset = await _own(node, caller, address)
    found = await read_schedule(node, dataset.pk)
    if found is None:
        raise ScheduleNotFound(f"Dataset {dataset.alias} is not polled by itself.", objects=[dataset.alias])
    return ScheduleInfo(cron=found.cron, nextAt=found.next_at.isoformat())
