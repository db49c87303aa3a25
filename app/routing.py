"""How routes are declared: GET with its HEAD, since FastAPI adds none by itself (wire.md 9)."""

from collections.abc import Callable
from typing import Any, TypeVar

from fastapi import APIRouter
from pydantic import BaseModel, Field

Endpoint = TypeVar("Endpoint", bound=Callable[..., Any])


class ErrorBody(BaseModel):
    """The body of every error that has one (`app.errors.error_body`)."""

    message: str
    code: str
    family: str
    objects: list[str]
    request_id: str = Field(alias="requestId")


class MessageBody(BaseModel):
    """What a deployed client gets in some places instead of the whole `ErrorBody`."""

    message: str


def refusal(description: str) -> dict[str, Any]:
    """How the OpenAPI document shows an error: the JSON body, or a plain form for deployed clients."""
    return {
        "description": description,
        "model": ErrorBody | MessageBody,
        "content": {"text/plain": {"schema": {"type": "string"}}},
    }


def readable(router: APIRouter, path: str, **options: Any) -> Callable[[Endpoint], Endpoint]:
    """Declare `path` for GET and HEAD; both are in the OpenAPI document, under names of their own."""

    def declare(endpoint: Endpoint) -> Endpoint:
        name = getattr(endpoint, "__name__", "read")
        router.add_api_route(path, endpoint, methods=["GET"], operation_id=name, **options)
        router.add_api_route(path, endpoint, methods=["HEAD"], operation_id=f"{name}_head", **options)
        return endpoint

    return declare
