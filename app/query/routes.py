"""`GET|POST /query` and `POST /verify` (data.md 6)."""

from typing import Annotated, Any

import orjson
from fastapi import APIRouter, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from app.accounts.model import Caller
from app.accounts.routes import REFUSALS, CurrentCaller
from app.bodies import body_of, read_model
from app.context import NodeContext
from app.http import Node
from app.query.keys import signing_key
from app.query.model import Include, QueryAnswer, QueryRequest, VerifyAnswer, VerifyRequest
from app.query.run import answer
from app.query.verification import verify_answer
from app.routing import refusal
from odf_core.query.commitment import Commitment, sign

router = APIRouter(tags=["queries"])

_REFUSALS: dict[int | str, dict[str, Any]] = {
    **REFUSALS,
    404: refusal("A dataset or block that does not exist, or that the caller may not read"),
    413: refusal("More records or more data than the node takes on"),
}


@router.get(
    "/query",
    operation_id="query_by_url",
    summary="Ask in SQL",
    response_model=QueryAnswer,
    responses=_REFUSALS,
)
async def get_query(
    node: Node,
    caller: CurrentCaller,
    query: Annotated[str, Query(max_length=100_000)],
    query_dialect: Annotated[str | None, Query(alias="queryDialect", max_length=100)] = None,
    data_format: Annotated[str | None, Query(alias="dataFormat", max_length=100)] = None,
    include: Annotated[
        str | None, Query(max_length=100, description="`Input`, `Proof`, `Schema`, comma-separated.")
    ] = None,
    schema_format: Annotated[str | None, Query(alias="schemaFormat", max_length=100)] = None,
    skip: Annotated[int, Query(ge=0)] = 0,
    limit: Annotated[int, Query(ge=0)] = 100,
) -> Response:
    """As `POST /query`, without a list of datasets."""
    told = {
        "query": query,
        "queryDialect": query_dialect,
        "dataFormat": data_format,
        "include": None if include is None else include.split(","),
        "schemaFormat": schema_format,
        "skip": skip,
        "limit": limit,
    }
    try:
        request = QueryRequest.model_validate(
            {name: value for name, value in told.items() if value is not None}
        )
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error
    return await _answered(node, caller, request)


@router.post(
    "/query",
    summary="Ask in SQL",
    response_model=QueryAnswer,
    responses=_REFUSALS,
    openapi_extra=body_of(QueryRequest),
)
async def post_query(request: Request, node: Node, caller: CurrentCaller) -> Response:
    """SQL over datasets that the caller may read: Spark's, or DataFusion's (`SqlDataFusion`), which needs no
    JVM and has no `to_table` and no `AS OF`. A table is a dataset, as of its head or of a block.

    With `include` of `Proof` the answer is signed: `POST /verify` holds it against the datasets again.
    """
    told = await read_model(request, QueryRequest, node.settings.bounds.http_body_bytes)
    return await _answered(node, caller, told)


async def _answered(node: NodeContext, caller: Caller, request: QueryRequest) -> Response:
    caller.require_reader(anonymous_read=node.settings.accounts.anonymous_read)
    done = await answer(node, caller, request)
    body: dict[str, Any] = {"output": done.output}
    if Include.INPUT in request.include:
        body["input"] = request.to_input(done.pinned)
    if Include.PROOF in request.include:
        commitment = Commitment.of(body["input"], done.output)
        body["subQueries"] = []
        body["commitment"] = commitment.to_json()
        body["proof"] = sign(commitment, await signing_key(node))
    return Response(orjson.dumps(body), media_type="application/json")


@router.post(
    "/verify",
    summary="Whether a signed answer is good",
    response_model=VerifyAnswer,
    responses={
        **_REFUSALS,
        400: {"model": VerifyAnswer, "description": "It is not, or cannot be read"},
        501: refusal("A proof of a type that is not checked here"),
    },
    openapi_extra=body_of(VerifyRequest),
)
async def post_verify(request: Request, node: Node, caller: CurrentCaller) -> Response:
    """The hashes and the signature are checked, and the query is run again on the same blocks."""
    caller.require_reader(anonymous_read=node.settings.accounts.anonymous_read)
    told = await read_model(request, VerifyRequest, node.settings.bounds.http_body_bytes)
    error = await verify_answer(node, caller, told)
    body = {"ok": True} if error is None else {"ok": False, "error": error}
    return Response(orjson.dumps(body), 200 if error is None else 400, media_type="application/json")
