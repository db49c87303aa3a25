"""Files that clients bring to S3 themselves, ahead of the ingest that they are for.

The place is the input of the job to be: in staging, so that what nobody ingests is swept with the uploads
of pushes. A token is good for one job, whose id it holds: sent again, it finds that job. Its holder may
overwrite the file for as long as the URL lives; each attempt of a job reads it in one piece.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import anyio.to_thread

from app.accounts.model import AccountInfo
from app.context import NodeContext
from app.database import connect
from app.ingest.errors import (
    ForeignUpload,
    IngestTooLarge,
    UploadNotFound,
    UploadSizeMismatch,
    UploadUsed,
)
from app.ingest.requests import input_key
from app.ingest.upload_tokens import Upload, read_token, write_token
from app.jobs.service import find_job
from app.keys import own_seed
from app.transfer.object_urls import lifetime_seconds
from odf_core.ingest.read.media_types import guess_media_type, read_step_for
from odf_core.storage import ensure_staging


@dataclass(frozen=True, slots=True)
class PreparedUpload:
    """Where to PUT a file, with which headers beside its length; None: through the node."""

    url: str | None
    headers: tuple[tuple[str, str], ...]
    token: str
    expires_at: datetime


async def prepare_upload(
    node: NodeContext, account: AccountInfo, file_name: str, size: int, media_type: str | None
) -> PreparedUpload:
    """A place for a file of `size` bytes. Its media type is the named one, else that of its name.

    Raises `IngestTooLarge`, `UnsupportedMediaType`, `StoreUnavailable`, `DatabaseUnavailable`.
    """
    most = node.settings.ingest.max_upload_bytes
    if size > most:
        raise IngestTooLarge(
            f"The file has {size} bytes; the node takes {most} in one upload. Ingest it in several parts, or "
            "ask the operator (ingest.max_upload_bytes).",
            objects=[file_name],
        )
    media_type = media_type or guess_media_type(file_name)
    if media_type is not None:
        read_step_for(media_type, None)  # before the bytes are on their way
    now, longest = datetime.now(UTC), node.settings.transfer.session_ttl_seconds
    upload = Upload(
        id=uuid4(),
        owner=account.did,
        file_name=file_name,
        size=size,
        media_type=media_type,
        expires_at=now.replace(microsecond=0) + timedelta(seconds=max(longest, 1)),
    )
    token = write_token(upload, await own_seed(node.engine, "uploads"))
    await anyio.to_thread.run_sync(ensure_staging, node.store)
    if node.settings.transfer.mode == "proxied":
        return PreparedUpload(None, (), token, upload.expires_at)
    lifetime = max(1, min(lifetime_seconds(node, size), int(longest)))
    put = node.presigner.put_urls([(input_key(upload.id), size)], lifetime, now)[0]
    ends_at = min(upload.expires_at, now + timedelta(seconds=lifetime))
    return PreparedUpload(put.url, tuple(put.headers.items()), token, ends_at)


async def open_token(node: NodeContext, account: AccountInfo, token: str) -> Upload:
    """The upload of a token of this account's.

    Raises `UploadTokenInvalid`, `UploadTokenExpired`, `ForeignUpload`.
    """
    upload = read_token(token, await own_seed(node.engine, "uploads"), datetime.now(UTC))
    if upload.owner != account.did:
        raise ForeignUpload("The upload token belongs to another account.")
    return upload


async def find_upload_job(node: NodeContext, upload: Upload, dataset_pk: int) -> UUID | None:
    """The job that the upload has become, None where it has not yet. Raises `UploadUsed`."""
    async with connect(node.engine) as conn:
        job = await find_job(conn, upload.id)
    if job is None:
        return None
    if job.subject_pk != dataset_pk:
        raise UploadUsed(
            f"The file {upload.file_name!r} of this upload token went into another dataset; upload it again.",
            objects=[upload.file_name],
        )
    return job.id


async def require_arrived(node: NodeContext, upload: Upload) -> None:
    """Raises `UploadNotFound`, `UploadSizeMismatch` unless the whole file is there."""
    found = await anyio.to_thread.run_sync(node.store.stat, input_key(upload.id))
    if found is None:
        raise UploadNotFound(
            f"The file {upload.file_name!r} has not arrived; PUT it to the address that came with its token.",
            objects=[upload.file_name],
        )
    require_size(upload.file_name, upload.size, found.size)


def require_size(file_name: str, declared: int, found: int) -> None:
    """Raises `UploadSizeMismatch`."""
    if found != declared:
        raise UploadSizeMismatch(
            f"The file {file_name!r} has {found} bytes where {declared} were declared; upload it again.",
            objects=[file_name],
        )
