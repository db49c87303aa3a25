"""The body of an ingest on its way into staging, with what can be told before it is read."""

import tempfile
from typing import BinaryIO
from uuid import UUID

import anyio.to_thread
from fastapi import Request
from starlette.requests import ClientDisconnect

from app.bodies import BodyIncomplete
from app.context import NodeContext
from app.database import connect
from app.datasets.model import DatasetInfo
from app.ingest.errors import IngestTooLarge
from app.ingest.requests import input_key
from app.ingest.upload_tokens import Upload
from app.ingest.uploads import require_size
from app.jobs.errors import IdempotencyKeyInvalid
from app.transfer.chain_index import Head, read_key_blocks
from app.transfer.uploads import LengthRequired
from odf_core.chain import Projection
from odf_core.ingest.read.media_types import read_step_for
from odf_core.ingest.sources import automatic_source, push_source
from odf_core.metadata import read_block
from odf_core.storage import ensure_staging

_KEY_CHARS = 200
_MEMORY_BYTES = 1 << 20
"""A body up to this size never meets the node's disk."""


def checked_key(key: str | None) -> str | None:
    """The idempotency key. Raises `IdempotencyKeyInvalid`."""
    if key is not None and (not 0 < len(key) <= _KEY_CHARS or not key.isprintable()):
        raise IdempotencyKeyInvalid(f"Idempotency-Key takes 1 to {_KEY_CHARS} printable characters.")
    return key


async def require_push_source(
    node: NodeContext,
    dataset: DatasetInfo,
    source_name: str | None,
    media_type: str | None,
    *,
    may_add_source: bool = False,
) -> None:
    """Tell a wrong source or media type before the body is read; the job looks again.

    Raises `PushSourceNotFound`, `PushSourceAmbiguous`, `UnsupportedMediaType`.
    """
    head = Head(dataset.head, dataset.head_sequence_number)
    async with connect(node.engine) as conn:
        stored = await read_key_blocks(conn, dataset.pk, head)
    limits = node.settings.bounds
    projection = Projection.of([read_block(data, None, limits) for data in stored])
    if may_add_source and automatic_source(projection, source_name, media_type) is not None:
        return
    source = push_source(dataset.alias, projection, source_name)
    if media_type is not None:
        read_step_for(media_type, source.read)


async def receive(node: NodeContext, request: Request, job_id: UUID) -> None:
    """Bring the body into staging, under the job's id; memory is bounded, whatever its size.

    Raises `IngestTooLarge`, `BodyIncomplete`, `StoreUnavailable`.
    """
    most = node.settings.ingest.max_bytes
    length = request.headers.get("content-length", "")
    if length.isdigit() and int(length) > most:
        raise _too_large(most)
    await _stage(node, request, job_id, most)


async def receive_upload(node: NodeContext, request: Request, upload: Upload) -> None:
    """Bring a prepared file into staging: all of it, or nothing is left.

    Raises `LengthRequired`, `UploadSizeMismatch`, `BodyIncomplete`, `StoreUnavailable`.
    """
    length = request.headers.get("content-length", "")
    if not length.isdigit():
        raise LengthRequired("An upload needs a Content-Length header; a chunked body is not read.")
    require_size(upload.file_name, upload.size, int(length))
    await _stage(node, request, upload.id, upload.size)


async def _stage(node: NodeContext, request: Request, job_id: UUID, most: int) -> None:
    with tempfile.SpooledTemporaryFile(_MEMORY_BYTES, prefix="odf-ingest-") as body:
        size = await _spool(request, body, most)  # type: ignore[arg-type]
        body.seek(0)

        def stage() -> None:
            ensure_staging(node.store)
            node.store.write(input_key(job_id), body, size=size)

        await anyio.to_thread.run_sync(stage)


async def _spool(request: Request, body: BinaryIO, most: int) -> int:
    size = 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > most:
                raise _too_large(most)
            if size > _MEMORY_BYTES:
                await anyio.to_thread.run_sync(body.write, piece)
            else:
                body.write(piece)
    except ClientDisconnect as error:
        raise BodyIncomplete(f"The body broke off after {size} bytes.") from error
    return size


def _too_large(most: int) -> IngestTooLarge:
    return IngestTooLarge(
        f"The node takes {most} bytes in one ingest; send the data in several, or ask the operator "
        "(ingest.max_bytes)."
    )
