"""Data into a dataset over HTTP: `POST ingest`, `POST pull`, and the schedule of polls."""

from typing import Annotated, Any
from uuid import uuid4

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
from app.ingest.receiving import checked_key, receive, require_push_source
from app.ingest.requests import IngestRequest, PullRequest
from app.ingest.schedules import read_schedule, remove_schedule, set_schedule, start_pull
from app.jobs.routes import ACCEPTED, IngestResult, answer_of_job
from app.jobs.service import add_job
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


async def _writable(node: NodeContext, caller: Caller, address: DatasetAddress) -> DatasetInfo:
    caller.require_valid_token()
    caller.require_account()
    async with connect(node.engine) as conn:
        return await open_dataset(conn, node, caller, address, Action.WRITE)


@router.post(
    "/ingest",
    summary="Push data into a dataset",
    response_model=IngestResult,
    responses={
        **_WORK,
        413: refusal("More bytes than the node takes"),
        415: refusal("Data of this media type cannot be read"),
    },
    openapi_extra={
        "requestBody": {
            "required": True,
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

    `Content-Type` is the media type of the body; without one it is in the source's own format.
    """
    dataset = await _writable(node, caller, address)
    media_type = request.headers.get("content-type")
    moment = None if event_time is None else str(Timestamp.parse(event_time))
    key = checked_key(idempotency_key)
    await require_push_source(node, dataset, source_name, media_type)
    job_id = uuid4()
    await receive(node, request, job_id)
    async with begin(node.engine) as conn:
        job_id = await add_job(
            conn,
            job_id,
            kind="ingest",
            dataset_pk=dataset.pk,
            account_id=caller.require_account().id,
            request=IngestRequest(source_name, media_type, moment).to_values(),
            idempotency_key=key,
        )
    return await answer_of_job(node, job_id)


@router.post("/pull", summary="Ask a dataset's polling source", response_model=IngestResult, responses=_WORK)
async def pull(
    node: Node,
    caller: CurrentCaller,
    address: Address,
    fetch_uncacheable: Annotated[
        bool,
        Query(alias="fetchUncacheable", description="Also ask a source that tells no state."),
    ] = False,
) -> Response:
    """What the source has that is new is merged with the dataset's history and committed, by a job."""
    dataset = await _writable(node, caller, address)
    async with begin(node.engine) as conn:
        job_id = await start_pull(
            conn, dataset.pk, caller.require_account().id, PullRequest(fetch_uncacheable)
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
    summary="Poll a dataset by the clock",
    responses=_REFUSALS,
    openapi_extra=body_of(ScheduleBody),
)
async def put_schedule(request: Request, node: Node, caller: CurrentCaller, address: Address) -> ScheduleInfo:
    """From now on the polling source is asked at each turn of the cron expression."""
    dataset = await _writable(node, caller, address)
    body = await read_model(request, ScheduleBody, node.settings.bounds.http_body_bytes)
    made = await set_schedule(node, dataset.pk, caller.require_account().id, body.cron)
    return ScheduleInfo(cron=made.cron, nextAt=made.next_at.isoformat())


@router.delete(
    "/schedule", summary="Poll a dataset no more by the clock", status_code=204, responses=_REFUSALS
)
async def delete_schedule(node: Node, caller: CurrentCaller, address: Address) -> Response:
    """The polling source is asked on demand only."""
    await remove_schedule(node, (await _writable(node, caller, address)).pk)
    return Response(status_code=204)


@readable(router, "/schedule", summary="The schedule of a dataset's polls", responses=_REFUSALS)
async def get_schedule(node: Node, caller: CurrentCaller, address: Address) -> ScheduleInfo:
    """When the polling source is asked by itself."""
    dataset = await _writable(node, caller, address)
    found = await read_schedule(node, dataset.pk)
    if found is None:
        raise ScheduleNotFound(f"Dataset {dataset.alias} is not polled by itself.", objects=[dataset.alias])
    return ScheduleInfo(cron=found.cron, nextAt=found.next_at.isoformat())
