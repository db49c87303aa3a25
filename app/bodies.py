"""Bodies of requests that are read whole: within a bound, whatever their headers say."""

from typing import Any, ClassVar, TypeVar

from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect, Request

from odf_core.errors import InvalidInput, LimitExceeded

Model = TypeVar("Model", bound=BaseModel)

A_MANIFEST: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {
            "application/yaml": {"schema": {"type": "string"}},
            "application/json": {"schema": {"type": "object"}},
        },
    }
}
"""What OpenAPI says of a body that is a manifest; it is read by its bytes, so FastAPI cannot tell."""


class BodyTooLarge(LimitExceeded):
    """The body of a request is larger than its route reads."""

    code: ClassVar[str] = "body_too_large"


class BodyIncomplete(InvalidInput):
    """The body of a request ended before its length."""

    code: ClassVar[str] = "body_incomplete"


async def read_body(request: Request, most: int) -> bytes:
    """The whole body. Raises `BodyTooLarge`, `BodyIncomplete`."""
    pieces, size = [], 0
    try:
        async for piece in request.stream():
            size += len(piece)
            if size > most:
                raise BodyTooLarge(f"The body of this request may have {most} bytes.")
            pieces.append(piece)
    except ClientDisconnect as error:
        raise BodyIncomplete(f"The body broke off after {size} bytes.") from error
    return b"".join(pieces)


async def read_model(request: Request, model: type[Model], most: int) -> Model:
    """The body as `model`. Raises `BodyTooLarge`, `BodyIncomplete`, and what becomes `InvalidRequest`."""
    text = await read_body(request, most)
    try:
        return model.model_validate_json(text)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_url=False, include_context=False)) from error


def body_of(model: type[BaseModel]) -> dict[str, Any]:
    """How the OpenAPI document shows a body that a route reads by `read_model`."""
    schema = model.model_json_schema(by_alias=True)
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}
