"""Addresses of the Smart Transfer Protocol: `pull` and `push` of a dataset, and uploads in proxied mode.

The router has no prefix: `app.main` mounts it below `/{account}/{dataset}` or `/{dataset}`.
"""

from contextlib import aclosing
from typing import Any

import structlog
from fastapi import APIRouter, WebSocket

from app.context import NodeContext
from app.datasets.addressing import dataset_address
from app.http import node_context
from app.transfer import uploads
from app.transfer.channel import Channel
from app.transfer.conversation import Conversation, converse
from app.transfer.handshake import dialect_of, open_pull, open_push
from app.transfer.pull import PullConversation
from app.transfer.push import PushConversation
from app.transfer.runtime import TransferRuntime
from app.transfer.upkeep import settle_push

router = APIRouter(tags=["smart transfer protocol"])
router.include_router(uploads.router)

log = structlog.get_logger(__name__)


@router.websocket("/pull")
async def pull(socket: WebSocket) -> None:
    """Blocks in one archive, then addresses of objects as often as they are asked for (wire.md 3.4)."""
    node = node_context(socket)
    dialect = dialect_of(socket)
    opened = await open_pull(socket, node, dataset_address(socket))
    runtime = transfer_runtime(socket)
    with runtime.session():
        channel = await _accept(socket, dialect.subprotocol)
        talk = PullConversation(node, channel, dialect, opened.target, opened.dataset, runtime.archives)
        async with aclosing(talk):
            await _run(node, talk, verb="pull", dialect=dialect.name, dataset=str(opened.target.alias))


@router.websocket("/push")
async def push(socket: WebSocket) -> None:
    """Blocks, uploads into staging, admission, commit (wire.md 3.5)."""
    node = node_context(socket)
    dialect = dialect_of(socket)
    opened = await open_push(socket, node, dataset_address(socket))
    with transfer_runtime(socket).session():
        channel = await _accept(socket, dialect.subprotocol)
        talk = PushConversation(node, channel, dialect, opened.target, opened.account.id)
        async with aclosing(talk):
            outcome = await _run(
                node, talk, verb="push", dialect=dialect.name, dataset=str(opened.target.alias)
            )
        if talk.has_session:
            await settle_push(node, talk.session_id, outcome)


def transfer_runtime(socket: WebSocket) -> TransferRuntime:
    """What the sessions of this process share."""
    runtime: TransferRuntime = socket.app.state.transfer
    return runtime


async def _accept(socket: WebSocket, subprotocol: str | None) -> Channel:
    """Upgrade; a subprotocol only to a client that offered it (wire.md 2)."""
    await socket.accept(subprotocol=subprotocol)
    return Channel(socket)


async def _run(node: NodeContext, talk: Conversation, **facts: Any) -> str:
    settings = node.settings.transfer
    with structlog.contextvars.bound_contextvars(**facts):
        try:
            outcome = await converse(
                talk,
                lifetime_seconds=settings.session_ttl_seconds,
                close_wait_seconds=settings.close_wait_seconds,
            )
        finally:
            await talk.channel.abandon()
        log.info("session", outcome=outcome)
    return outcome
