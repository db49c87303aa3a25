"""The Simple Transfer Protocol: refs, blocks, data, checkpoints (wire.md 1.1, 1.2).

The router has no prefix of its own: `app.main` mounts it below `/{account}/{dataset}` or `/{dataset}`.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Request, Response

from app.accounts.model import Caller
from app.accounts.routes import REFUSALS, CurrentCaller
from app.context import NodeContext
from app.database import connect
from app.datasets.addressing import Address, hash_in_path
from app.datasets.conditional import Delivery, deliver, immutable_cache
from app.datasets.errors import BlockNotFound, DatasetObjectNotFound, RefNotFound
from app.datasets.model import Action, DatasetAddress
from app.datasets.service import HEAD, object_size, open_dataset, read_block
from app.datasets.streaming import ObjectResponse, open_object
from app.http import Node
from app.routing import readable, refusal
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.storage import dataset_prefix, object_key

router = APIRouter(tags=["simple transfer protocol"])

OCTETS = "application/octet-stream"
TEXT = "text/plain; charset=utf-8"
REF_CACHE = "private, no-cache"
"""A reference moves: every use of a cached one asks again, which its entity tag makes cheap."""

BlockHash = Annotated[
    str, Path(max_length=1024, description="Multihash of a block, in any multibase spelling.")
]
PhysicalHash = Annotated[
    str, Path(max_length=1024, description="Physical hash of a file, in any multibase spelling.")
]
RefName = Annotated[str, Path(max_length=256, description="Name of a reference; `head` is the one there is.")]


def _responses(media_type: str) -> dict[int | str, dict[str, Any]]:
    content = {media_type: {"schema": {"type": "string", "format": "binary"}}}
    return {
        200: {"description": "The content", "content": content},
        206: {"description": "The requested range", "content": content},
        304: {"description": "The caller has it already"},
        404: refusal("No such dataset or content, or none that the caller may read"),
        416: refusal("The range starts after the last byte"),
        **REFUSALS,
    }


_OPTIONS: dict[str, Any] = {"response_class": Response, "responses": _responses(OCTETS)}


@readable(
    router,
    "/refs/{reference}",
    summary="A reference",
    response_class=Response,
    responses=_responses("text/plain"),
)
async def read_ref(
    request: Request, node: Node, caller: CurrentCaller, address: Address, reference: RefName
) -> Response:
    """The multihash of the block that the reference points at; no newline follows it."""
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
    if reference != HEAD:
        raise RefNotFound(f"The dataset has no reference {reference}; there is {HEAD}.", objects=[reference])
    text = str(dataset.head)
    delivery = deliver(request.headers, request.method, tag=text, size=len(text), cache=REF_CACHE)
    return _whole(text.encode(), delivery, TEXT)


@readable(router, "/blocks/{block_hash}", summary="A metadata block", **_OPTIONS)
async def read_block_bytes(
    request: Request, node: Node, caller: CurrentCaller, address: Address, block_hash: BlockHash
) -> Response:
    """The block's bytes as they were pushed: they hash to its name, whatever their version."""
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
        wanted = hash_in_path(block_hash)
        data = await read_block(conn, dataset, wanted)
    if data is None:
        raise BlockNotFound(f"The dataset has no block {wanted}.", objects=[wanted])
    cache = immutable_cache(public=dataset.is_public)
    delivery = deliver(request.headers, request.method, tag=str(wanted), size=len(data), cache=cache)
    return _whole(data, delivery, OCTETS)


@readable(router, "/data/{physical_hash}", summary="A data slice", **_OPTIONS)
async def read_data(
    request: Request, node: Node, caller: CurrentCaller, address: Address, physical_hash: PhysicalHash
) -> Response:
    """The slice's bytes."""
    return await _object(request, node, caller, address, ObjectKind.DATA_SLICE, physical_hash)


@readable(router, "/checkpoints/{physical_hash}", summary="A checkpoint", **_OPTIONS)
async def read_checkpoint(
    request: Request, node: Node, caller: CurrentCaller, address: Address, physical_hash: PhysicalHash
) -> Response:
    """The checkpoint's bytes."""
    return await _object(request, node, caller, address, ObjectKind.CHECKPOINT, physical_hash)


async def _object(
    request: Request, node: NodeContext, caller: Caller, address: DatasetAddress, kind: ObjectKind, text: str
) -> Response:
    """Length from the index, bytes from the bucket."""
    async with connect(node.engine) as conn:
        dataset = await open_dataset(conn, node, caller, address, Action.READ)
        wanted = hash_in_path(text)
        size = await object_size(conn, dataset, kind, wanted)
    if size is None:
        raise DatasetObjectNotFound(f"The dataset has no {kind} {wanted}.", objects=[wanted])
    cache = immutable_cache(public=dataset.is_public)
    delivery = deliver(request.headers, request.method, tag=str(wanted), size=size, cache=cache)
    if request.method == "HEAD" or not delivery.has_body or delivery.start == delivery.end:
        return _whole(b"", delivery, OCTETS)
    key = dataset_prefix(dataset.id) + object_key(ObjectRef(kind, wanted, size))
    return ObjectResponse(await open_object(node.store, key, delivery, size), delivery, OCTETS)


def _whole(data: bytes, delivery: Delivery, media_type: str) -> Response:
    return Response(
        data[delivery.start : delivery.end],
        delivery.status,
        {**delivery.headers, "x-content-type-options": "nosniff"},
        media_type if delivery.has_body else None,
    )
