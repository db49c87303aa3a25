"""From a request to ingest to its job: bytes that come along, or that were uploaded before."""

import contextlib
from dataclasses import dataclass
from uuid import UUID, uuid4

import anyio.to_thread
from fastapi import Request

from app.accounts.model import AccountInfo
from app.context import NodeContext
from app.database import begin, connect
from app.datasets.model import DatasetInfo
from app.ingest.receiving import receive, require_push_source
from app.ingest.requests import IngestRequest
from app.ingest.uploads import find_upload_job, open_token, require_arrived
from app.jobs.service import add_job, find_repeated
from odf_core.storage import StoreUnavailable, discard_session


@dataclass(frozen=True, slots=True)
class Push:
    """What was asked: into which dataset, by whom, through which source, under which name."""

    dataset: DatasetInfo
    account: AccountInfo
    source_name: str | None
    event_time: str | None
    idempotency_key: str | None


async def find_earlier(node: NodeContext, push: Push) -> UUID | None:
    """The job of an earlier request with the same idempotency key; its body need not be read again."""
    if push.idempotency_key is None:
        return None
    async with connect(node.engine) as conn:
        return await find_repeated(conn, push.dataset.pk, push.account.id, push.idempotency_key)


async def push_body(node: NodeContext, request: Request, push: Push) -> UUID:
    """The job of the request's own body.

    Raises `PushSourceNotFound`, `PushSourceAmbiguous`, `UnsupportedMediaType`, what `receive` raises.
    """
    media_type = request.headers.get("content-type")
    await require_push_source(node, push.dataset, push.source_name, media_type)
    job_id = uuid4()
    await receive(node, request, job_id)
    added = await _add(node, push, job_id, IngestRequest(push.source_name, media_type, push.event_time))
    if added != job_id:  # the same key came twice at once
        with contextlib.suppress(StoreUnavailable):  # then it is swept later
            await anyio.to_thread.run_sync(discard_session, node.store, job_id)
    return added


async def push_upload(node: NodeContext, push: Push, token: str) -> UUID:
    """The job of an uploaded file; the same one for the same token.

    Raises `UploadTokenInvalid`, `UploadTokenExpired`, `ForeignUpload`, `UploadUsed`, `UploadNotFound`,
    `UploadSizeMismatch`, and of `push_body` what is about sources.
    """
    upload = await open_token(node, push.account, token)
    known = await find_upload_job(node, upload, push.dataset.pk)
    if known is not None:
        return known
    await require_push_source(node, push.dataset, push.source_name, upload.media_type, may_add_source=True)
    await require_arrived(node, upload)
    asked = IngestRequest(push.source_name, upload.media_type, push.event_time, upload.file_name, upload.size)
    return await _add(node, push, upload.id, asked)


async def _add(node: NodeContext, push: Push, job_id: UUID, asked: IngestRequest) -> UUID:
    async with begin(node.engine) as conn:
        return await add_job(
            conn,
            job_id,
            kind="ingest",
            dataset_pk=push.dataset.pk,
            account_id=push.account.id,
            request=asked.to_values(),
            idempotency_key=push.idempotency_key,
        )
