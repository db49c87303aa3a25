"""Health: whether the process lives, and whether the node can do its work, with reasons."""

import asyncio
from collections.abc import Awaitable
from functools import cache
from typing import Any, Literal

import structlog
from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, Response
from pydantic import BaseModel
from sqlalchemy import text
from starlette.requests import Request

from app.context import NodeContext
from app.database import connect
from app.http import Node
from app.routing import readable
from odf_core.errors import OdfError

PROBE_SECONDS = 3.0

_log = structlog.get_logger(__name__)
router = APIRouter(prefix="/health", tags=["health"])


class Liveness(BaseModel):
    """The process answers."""

    status: Literal["ok"] = "ok"


class Reason(BaseModel):
    """Why the node is not ready: the part that fails, and how."""

    part: Literal["database", "storage", "node"]
    code: str
    message: str


class Readiness(BaseModel):
    """Whether the node can serve; `reasons` is empty when it can."""

    status: Literal["ready", "unready"]
    reasons: list[Reason]


async def check_readiness(node: NodeContext, *, draining: bool = False) -> Readiness:
    """Ask Postgres and S3 for something small, both at once, `PROBE_SECONDS` at most."""
    found = await asyncio.gather(
        _probe("database", _ask_database(node)), _probe("storage", _ask_storage(node))
    )
    reasons = [reason for reason in found if reason is not None]
    if draining:
        reasons.append(Reason(part="node", code="draining", message="The node is about to stop."))
    return Readiness(status="unready" if reasons else "ready", reasons=reasons)


async def _ask_database(node: NodeContext) -> None:
    async with connect(node.engine) as conn:
        await conn.execute(text("SELECT 1 FROM dataset LIMIT 1"))


async def _ask_storage(node: NodeContext) -> None:
    # Threads that hang at a silent S3 are left behind, at most as many as the limiter has places.
    await to_thread.run_sync(node.store.check, abandon_on_cancel=True, limiter=_probes())


@cache
def _probes() -> CapacityLimiter:
    return CapacityLimiter(2)


async def _probe(part: Literal["database", "storage"], question: Awaitable[None]) -> Reason | None:
    try:
        async with asyncio.timeout(PROBE_SECONDS):
            await question
    except OdfError as error:
        return Reason(part=part, code=error.code, message=error.message)
    except TimeoutError:
        return Reason(part=part, code="no_answer", message=f"No answer within {PROBE_SECONDS:g} seconds.")
    except Exception:  # noqa: BLE001 - a probe tells, whatever fails
        _log.exception("readiness probe failed", part=part)
        return Reason(part=part, code="internal_error", message="The probe failed; the log has the details.")
    return None


@readable(router, "/live", summary="The process answers")
async def live() -> Liveness:
    return Liveness()


_UNREADY: dict[int | str, dict[str, Any]] = {503: {"model": Readiness, "description": "Not ready, and why"}}


@readable(router, "/ready", summary="Postgres and S3 answer", responses=_UNREADY)
async def ready(request: Request, response: Response, node: Node) -> Readiness:
    readiness = await check_readiness(node, draining=request.app.state.transfer.draining)
    if readiness.reasons:
        response.status_code = 503
    return readiness
