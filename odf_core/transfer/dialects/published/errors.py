"""Errors on the wire of the published dialect: one DatasetError, then the end (wire-published.md)."""

import re
from typing import Any

import orjson
from pydantic import ValidationError
from pydantic.alias_generators import to_camel, to_snake

from odf_core.errors import OdfError
from odf_core.transfer.dialects.peer_errors import peer_error
from odf_core.transfer.dialects.published.structures import DatasetError
from odf_core.transfer.dialects.reasons import clean, fit_reason
from odf_core.transfer.frames import CLOSE_INTERNAL, Outgoing, TextMessage
from odf_core.transfer.model import CloseFrame

_MOST_OBJECTS = 1000
_MOST_CHARS = 8192
_CODE = re.compile(r"[a-z][a-z0-9_]{2,62}")


def encode(error: OdfError) -> tuple[Outgoing, ...]:
    """The error in full as text, then a close that tells it in short."""
    extras: dict[str, Any] = {to_camel(name): value for name, value in error.extras.items()}
    extras["family"] = error.family
    extras["objects"] = list(error.objects[:_MOST_OBJECTS])
    if len(error.objects) > _MOST_OBJECTS:
        extras["objectsInTotal"] = len(error.objects)
    details = {"errorCode": error.code, "description": error.message[:_MOST_CHARS], "extras": extras}
    text = orjson.dumps(_clean({"errorDetails": details}), default=str, option=orjson.OPT_NON_STR_KEYS)
    return TextMessage(text), CloseFrame(CLOSE_INTERNAL, _reason(error))


def _reason(error: OdfError) -> str:
    """A DatasetError cut to fit, for a client that looks at the close only."""
    return fit_reason(
        lambda text: {"errorDetails": {"errorCode": error.code, "description": text}}, error.message
    )


def decode(data: bytes | str) -> OdfError | None:
    """The error of a DatasetError, text or close reason; None for anything else."""
    try:
        details = DatasetError.model_validate_json(data).error_details
    except ValidationError:
        return None
    extras = {to_snake(name): value for name, value in (details.extras or {}).items()}
    family = extras.pop("family", None)
    objects = extras.pop("objects", None)
    return peer_error(
        details.error_code,
        details.description,
        objects if isinstance(objects, list) else (),
        extras,
        family if isinstance(family, str) and _CODE.fullmatch(details.error_code) else None,
    )


def _clean(value: Any) -> Any:
    """The value with clean texts."""
    if isinstance(value, str):
        return clean(value)
    if isinstance(value, dict):
        return {_clean(name): _clean(item) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return value
