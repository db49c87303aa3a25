"""What engine and caller say to each other: names of services, and errors as JSON objects."""

from collections.abc import Iterator, Mapping
from typing import Any

from odf_core.engines.errors import EngineFailed
from odf_core.errors import OdfError

SLICES_SERVICE = "odf.engine.Slices"
RUN = "Run"
ENGINE_SERVICE = "engine.Engine"
"""The service that deployed coordinators call (data.md 4.3)."""
RAW_QUERY = "ExecuteRawQuery"
TRANSFORM = "ExecuteTransform"


def channel_options(message_bytes: int) -> list[tuple[str, int]]:
    """gRPC's options for both sides."""
    return [
        ("grpc.max_receive_message_length", message_bytes),
        ("grpc.max_send_message_length", message_bytes),
        ("grpc.so_reuseport", 0),
    ]


def describe(error: OdfError) -> dict[str, Any]:
    """What the engine sends of an error."""
    return error.diagnostics()


def error_of(told: Mapping[str, Any]) -> OdfError:
    """The error that the engine told: of the class that has its code, else an `EngineFailed` that says it.

    Only classes whose module has been imported are found; a caller that means to catch an error has
    imported it.
    """
    code, family = str(told.get("code")), str(told.get("family"))
    message = str(told.get("message", "The engine told an error without a message."))
    objects = [str(item) for item in told.get("objects", ())]
    extras = dict(told.get("extras", {}))
    for cls in _descendants(OdfError):
        if vars(cls).get("code") == code and cls.family == family:
            error = cls.__new__(cls)
            OdfError.__init__(error, message, objects=objects, extras=extras)
            return error
    return EngineFailed(message, objects=objects, extras={**extras, "engine_code": code, "family": family})


def _descendants(cls: type[OdfError]) -> Iterator[type[OdfError]]:
    for child in cls.__subclasses__():
        yield child
        yield from _descendants(child)
