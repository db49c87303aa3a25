"""From errors of the house to HTTP: one table of statuses, one body, and the deployed plain forms.

An error may carry headers of its own in an attribute `http_headers`.

The body is `{"message", "code", "family", "objects", "requestId"}`. Where wire.md 1.2 says what a
deployed client gets (an empty body, a text, `{"message"}` and nothing else), that form is sent
instead, unless the client asks for JSON (`app.http.wants_json`).
"""

import enum
from collections.abc import Mapping
from typing import Any, ClassVar

import orjson
import structlog
from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import HTTPConnection, Request
from starlette.responses import Response
from starlette.websockets import WebSocket

from app.http import request_id, wants_json
from odf_core.errors import InternalError, InvalidInput, NotFound, OdfError
from odf_core.ingest.words import shown

_log = structlog.get_logger(__name__)

RETRY_AFTER_SECONDS = 5
_MOST_FAULTS = 5

STATUS_BY_FAMILY: Mapping[str, int] = {
    "invalid_input": 400,
    "protocol": 400,
    "access": 403,
    "not_found": 404,
    "conflict": 409,
    "limit": 413,
    "integrity": 422,
    "chain": 422,
    "internal": 500,
    "unavailable": 503,
    "unknown": 503,
}

STATUS_BY_CODE: Mapping[str, int] = {
    "anonymous_restricted": 401,
    "method_not_allowed": 405,
    "no_polling_source": 400,  # the dataset is there, the request is not for it
    "proof_unsupported": 501,
    "push_source_not_found": 400,
    "range_not_satisfiable": 416,
    "store_access_denied": 503,  # the node's own credentials, no fault of the caller
    "stored_object_changed": 500,
    "token_refused": 401,
    "unauthenticated": 401,
    "unsupported_input_media_type": 415,
}
"""Leaves whose status is not that of their family."""


class Plain(enum.Enum):
    """How a deployed peer gets an error that has no JSON body of its own there."""

    EMPTY = "empty"
    TEXT = "text"
    MESSAGE = "message"
    """`{"message": …}` and nothing else."""


PLAIN_BY_CODE: Mapping[str, Plain] = {
    "anonymous_restricted": Plain.TEXT,
    "dataset_forbidden": Plain.EMPTY,
    "dataset_id_not_found": Plain.MESSAGE,
    "dataset_not_found": Plain.EMPTY,
    "invalid_dataset_address": Plain.EMPTY,
    "invalid_hash_in_path": Plain.TEXT,
    "malformed_authorization": Plain.TEXT,
    "foreign_account": Plain.MESSAGE,
    "path_not_found": Plain.TEXT,
    "protocol_version_missing": Plain.TEXT,
    "protocol_version_unreadable": Plain.TEXT,
    "protocol_version_unsupported": Plain.MESSAGE,
    "token_refused": Plain.TEXT,
    "unauthenticated": Plain.MESSAGE,
}


class PathNotFound(NotFound):
    """No route has this path."""

    code: ClassVar[str] = "path_not_found"


class MethodNotAllowed(InvalidInput):
    """The path has no such method; `allow` lists those it has."""

    code: ClassVar[str] = "method_not_allowed"

    def __init__(self, allow: str) -> None:
        super().__init__("This address does not have the method of the request.")
        self.http_headers = {"allow": allow} if allow else {}


class InvalidRequest(InvalidInput):
    """A parameter or the body of a request is not what the route reads (see openapi/openapi.json)."""

    code: ClassVar[str] = "invalid_request"


def status_of(error: OdfError) -> int:
    """The HTTP status of an error."""
    return STATUS_BY_CODE.get(error.code, STATUS_BY_FAMILY[error.family])


def error_body(error: OdfError, request_id: str) -> dict[str, Any]:
    """The one JSON body of errors."""
    return {
        "message": error.message,
        "code": error.code,
        "family": error.family,
        "objects": list(error.objects),
        "requestId": request_id,
    }


def error_response(connection: HTTPConnection, error: OdfError) -> Response:
    """The answer to a request, or to a WebSocket handshake, that ended in `error`."""
    status = status_of(error)
    headers: dict[str, str] = {}
    if status == 401:
        headers["www-authenticate"] = "Bearer"
    if status == 503:
        headers["retry-after"] = str(RETRY_AFTER_SECONDS)
    headers.update(getattr(error, "http_headers", {}))
    plain = None if wants_json(connection) else PLAIN_BY_CODE.get(error.code)
    if plain is Plain.EMPTY:
        return Response(status_code=status, headers=headers)
    if plain is Plain.TEXT:
        return Response(error.message, status, headers, media_type="text/plain")
    body = {"message": error.message} if plain is Plain.MESSAGE else error_body(error, request_id(connection))
    return Response(orjson.dumps(body), status, headers, media_type="application/json")


def install(app: FastAPI) -> None:
    """Every error of a route becomes an answer; of a WebSocket before its upgrade, a denial."""

    async def answer(connection: HTTPConnection, error: Exception) -> Response | None:
        known = _known(error)
        connection.scope["odf.error_code"] = known.code
        if status_of(known) >= 500:
            _log.error("request failed", code=known.code, exc_info=error)
        response = error_response(connection, known)
        if isinstance(connection, WebSocket):
            await connection.send_denial_response(response)
            return None  # starlette sends what is returned, and a denial is sent once
        return response

    for kind in (OdfError, HTTPException, RequestValidationError):
        app.add_exception_handler(kind, answer)  # type: ignore[arg-type]


def _known(error: Exception) -> OdfError:
    if isinstance(error, OdfError):
        return error
    if isinstance(error, RequestValidationError):
        faults = [(".".join(map(str, item["loc"])), item["msg"]) for item in error.errors()]
        told = "; ".join(f"{place}: {_clause(words)}" for place, words in faults[:_MOST_FAULTS])
        return InvalidRequest(
            f"The request cannot be read: {told}.", objects=[place for place, _ in faults[:_MOST_FAULTS]]
        )
    if isinstance(error, HTTPException) and error.status_code == 404:
        return PathNotFound("Not Found")
    if isinstance(error, HTTPException) and error.status_code == 405:
        return MethodNotAllowed((error.headers or {}).get("Allow", ""))
    return internal_error()


def _clause(words: str) -> str:
    """What a validator says, for the middle of a sentence: allowed values and bounds are in it."""
    plain = shown(words)
    return plain if plain[:2].isupper() else plain[:1].lower() + plain[1:]


def internal_error() -> InternalError:
    """What a client gets told of a fault of ours: nothing but where to look."""
    return InternalError("The node failed at this request; its log has the details under the request id.")


def failure_response(scope: Mapping[str, Any]) -> Response:
    """The answer where no handler met an exception (`app.ops.requests` catches it)."""
    return error_response(Request(dict(scope)), internal_error())
