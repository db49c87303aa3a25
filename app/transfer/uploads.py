"""PUT of objects through the node, where presigned addresses are not wanted (`transfer.mode = proxied`).

The bytes stream into the staging of an open push session, as a presigned PUT would bring them; admission
is the same. The store checks the length, this route the hash, so that a wrong upload is told at once.
"""

import hashlib
from typing import Annotated, ClassVar
from uuid import UUID

import anyio.from_thread
import anyio.to_thread
from fastapi import APIRouter, Header, Path, Request, Response
from sqlalchemy import func, select

from app.accounts.routes import REFUSALS, CurrentCaller
from app.context import NodeContext
from app.database import connect
from app.datasets.addressing import Address, hash_in_path
from app.datasets.model import DatasetAddress
from app.http import Node
from app.transfer.object_urls import UPLOAD_SESSION_HEADER
from app.transfer.tables import PushSession
from odf_core.errors import InvalidInput, LimitExceeded, NotFound
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.storage import ObjectHashMismatch, staging_key

router = APIRouter(tags=["smart transfer protocol"])

PhysicalHash = Annotated[str, Path(max_length=1024, description="Physical hash of the file, multibase.")]
UploadSession = Annotated[
    UUID | None, Header(alias=UPLOAD_SESSION_HEADER, description="The push session of the file.")
]


class LengthRequired(InvalidInput):
    """An upload has to say its length beforehand."""

    code: ClassVar[str] = "length_required"


class UploadTooLarge(LimitExceeded):
    """An upload of more bytes than an object may have."""

    code: ClassVar[str] = "upload_too_large"


class UploadSessionNotFound(NotFound):
    """The push session of an upload does not exist, is over, or is somebody else's."""

    code: ClassVar[str] = "upload_session_not_found"


@router.put("/data/{physical_hash}", summary="Upload a data slice of an open push", responses=REFUSALS)
async def put_data(
    request: Request,
    node: Node,
    caller: CurrentCaller,
    address: Address,
    physical_hash: PhysicalHash,
    session: UploadSession = None,
) -> Response:
    """The file's bytes, with their length; they become part of the dataset when the push is committed."""
    caller.require_valid_token()
    await _require_session(node, caller.require_account().id, address, session)
    return await _receive(request, node, ObjectKind.DATA_SLICE, hash_in_path(physical_hash), session)


@router.put("/checkpoints/{physical_hash}", summary="Upload a checkpoint of an open push", responses=REFUSALS)
async def put_checkpoint(
    request: Request,
    node: Node,
    caller: CurrentCaller,
    address: Address,
    physical_hash: PhysicalHash,
    session: UploadSession = None,
) -> Response:
    """The file's bytes, with their length; they become part of the dataset when the push is committed."""
    caller.require_valid_token()
    await _require_session(node, caller.require_account().id, address, session)
    return await _receive(request, node, ObjectKind.CHECKPOINT, hash_in_path(physical_hash), session)


async def _require_session(
    node: Node, account_id: UUID, address: DatasetAddress, session: UUID | None
) -> None:
    async with connect(node.engine) as conn:
        found = await conn.execute(
            select(PushSession.id).where(
                PushSession.id == session,
                PushSession.account_id == account_id,
                func.lower(PushSession.dataset_alias) == str(address).lower(),
                PushSession.finished_at.is_(None),
                PushSession.expires_at > func.now(),
            )
        )
    if found.scalar_one_or_none() is None:
        raise UploadSessionNotFound(
            "The upload belongs to no open push session; start the push again.", objects=[session or "none"]
        )


async def _receive(
    request: Request, node: NodeContext, kind: ObjectKind, wanted: Multihash, session: UUID | None
) -> Response:
    length = request.headers.get("content-length")
    if length is None or not length.isdigit():
        raise LengthRequired("An upload needs a Content-Length header; a chunked body is not read.")
    size = int(length)
    if size > node.settings.bounds.object_bytes:
        raise UploadTooLarge(
            f"An object may have {node.settings.bounds.object_bytes} bytes.", objects=[wanted]
        )
    if session is None:
        raise UploadSessionNotFound("The upload names no push session.")
    body = _HashingBody(request)
    key = staging_key(session, ObjectRef(kind, wanted, size))
    await anyio.to_thread.run_sync(lambda: node.store.write(key, body, size=size))
    found = Multihash.parse("f1620" + body.hexdigest())
    if found != wanted:
        await anyio.to_thread.run_sync(node.store.delete, [key])
        raise ObjectHashMismatch(
            f"The bytes sent as {wanted} have the hash {found}.",
            objects=[wanted],
            extras={"found": str(found)},
        )
    return Response(status_code=200)


class _HashingBody:
    """The request's body as a file that a thread reads; one piece at a time is in memory."""

    def __init__(self, request: Request) -> None:
        self._pieces = request.stream()
        self._rest = b""
        self._hash = hashlib.sha3_256()

    def read(self, size: int = -1) -> bytes:
        while not self._rest:
            piece = anyio.from_thread.run(self._next)
            if piece is None:
                return b""
            self._rest = piece
        taken = self._rest if size < 0 else self._rest[:size]
        self._rest = self._rest[len(taken) :]
        self._hash.update(taken)
        return taken

    async def _next(self) -> bytes | None:
        async for piece in self._pieces:
            if piece:
                return piece
        return None

    def hexdigest(self) -> str:
        return self._hash.hexdigest()
