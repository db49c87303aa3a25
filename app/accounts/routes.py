"""Who am I, and is my token good (wire.md 6.2, 6.3)."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Response
from pydantic import BaseModel, Field
from starlette.requests import HTTPConnection

from app.accounts.authentication import authenticate
from app.accounts.errors import Unauthenticated
from app.accounts.model import Caller
from app.database import DatabaseUnavailable
from app.http import Node, node_context, wants_json
from app.routing import readable, refusal

router = APIRouter(tags=["accounts"])


async def current_caller(connection: HTTPConnection) -> Caller:
    """The caller of a request or WebSocket handshake; raises `MalformedAuthorization`."""
    return await authenticate(node_context(connection).engine, connection.headers.get("authorization"))


CurrentCaller = Annotated[Caller, Depends(current_caller)]

PATIENCE_SECONDS = 30.0
_POLL_SECONDS = 0.25


async def awaited_caller(connection: HTTPConnection) -> Caller:
    """As `current_caller`, but an absent database is waited for, unless the client asks for JSON.

    A deployed client asks `/platform/token/validate` and has no word for "not now": it fails outright at
    any status but 200, 400 and 401 (wire.md 6.2). It sets itself no time limit, so the node can wait. After
    `PATIENCE_SECONDS` the answer is 503 nonetheless: 400 and 401 would call a good token a bad one.
    """
    loop = asyncio.get_running_loop()
    give_up_at = loop.time() + (0 if wants_json(connection) else PATIENCE_SECONDS)
    while True:
        try:
            return await current_caller(connection)
        except DatabaseUnavailable:
            if loop.time() >= give_up_at:
                raise
            await asyncio.sleep(_POLL_SECONDS)


class OwnAccount(BaseModel):
    """The account that a token belongs to."""

    id: str = Field(description="DID of the account.")
    account_name: str = Field(alias="accountName")


REFUSALS: dict[int | str, dict[str, Any]] = {
    400: refusal("The address or the Authorization header cannot be read"),
    401: refusal("No token where one is needed, or one that is not valid"),
    503: refusal("The database or the object store does not answer"),
}


@readable(router, "/accounts/me", summary="The caller's own account", responses=REFUSALS)
async def read_own_account(node: Node, caller: CurrentCaller) -> OwnAccount:
    if caller.account is None and not node.settings.accounts.anonymous_read:
        caller.require_reader(anonymous_read=False)
    account = caller.require_account()
    return OwnAccount(id=account.did, accountName=account.name)


@readable(
    router,
    "/platform/token/validate",
    summary="Whether the token is valid",
    responses={200: {"description": "The token is valid", "content": {}}, **REFUSALS},
    response_class=Response,
)
async def validate_token(caller: Annotated[Caller, Depends(awaited_caller)]) -> Response:
    if caller.account is None:
        raise Unauthenticated(caller.refusal or "No authentication token provided")
    return Response(status_code=200)
