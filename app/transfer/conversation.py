"""The loop that every session runs: read a text, act on its event, tell a failure on the right channel.

What a session means is in `pull` and `push`; what its messages look like is in the dialect.
"""

import asyncio
from collections.abc import Iterable
from typing import Protocol

import structlog

from app.transfer.channel import Channel, PeerGone
from odf_core.errors import InternalError, OdfError
from odf_core.transfer import CloseFrame, Outgoing, TextMessage
from odf_core.transfer.errors import SessionExpired

log = structlog.get_logger(__name__)

SMALL_TEXT_BYTES = 256 * 1024


class FailableSession(Protocol):
    """The part of a server session that the loop needs."""

    @property
    def is_failed(self) -> bool: ...

    def fail(self, error: OdfError) -> tuple[Outgoing, ...]: ...


class Conversation(Protocol):
    """One pull or push: reads one message and answers it; `finished` ends it in success."""

    channel: Channel

    @property
    def session(self) -> FailableSession: ...

    @property
    def finished(self) -> bool: ...

    async def step(self) -> None: ...


async def converse(talk: Conversation, *, lifetime_seconds: float, close_wait_seconds: float) -> str:
    """Run a conversation to its end and return its outcome: `done`, `peer_gone` or an error's code.

    Nothing is raised: whatever goes wrong is told to the peer (wire.md 3.6) and logged.
    """
    try:
        async with asyncio.timeout(lifetime_seconds):
            while not talk.finished:
                try:
                    await talk.step()
                except PeerGone:
                    return PeerGone.code
                except OdfError as error:
                    if await _tell(talk, error):
                        await talk.channel.drain(close_wait_seconds)
                        return error.code
        await talk.channel.drain(close_wait_seconds)
    except PeerGone:
        return PeerGone.code
    except TimeoutError:
        return await _end(
            talk,
            SessionExpired("The session lasted longer than the node keeps its uploads; start it again."),
            close_wait_seconds,
        )
    except Exception as error:
        log.exception("session_failed", error=type(error).__name__)
        fault = InternalError("The node failed at this; its log has the details under the request id.")
        return await _end(talk, fault, close_wait_seconds)
    else:
        return "done"


async def _end(talk: Conversation, error: OdfError, close_wait_seconds: float) -> str:
    try:
        await _tell(talk, error)
        await talk.channel.drain(close_wait_seconds)
    except PeerGone:
        log.info("peer_gone_before_it_was_told", code=error.code)
    return error.code


async def _tell(talk: Conversation, error: OdfError) -> bool:
    """Send what the dialect has for `error`; False when it is put off to the peer's next message."""
    log.info("session_refused", code=error.code, family=error.family, objects=error.objects[:20])
    for outgoing in talk.session.fail(error):
        await send(talk.channel, outgoing)
    return talk.session.is_failed


async def send(channel: Channel, outgoing: Outgoing, *, frame_bytes: int = SMALL_TEXT_BYTES) -> None:
    """One message or close frame; a big text leaves in pieces."""
    if isinstance(outgoing, CloseFrame):
        await channel.close(outgoing.code, outgoing.reason)
    elif outgoing.size <= SMALL_TEXT_BYTES:
        await channel.send_text(outgoing.to_text())
    else:
        await channel.send_chunks(outgoing.chunks(), outgoing.size, frame_bytes)


async def send_all(channel: Channel, messages: Iterable[TextMessage], *, frame_bytes: int) -> None:
    for message in messages:
        await send(channel, message, frame_bytes=frame_bytes)
