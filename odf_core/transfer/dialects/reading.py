"""Text from a peer to models: one place where foreign parsers meet foreign text."""

from typing import TypeVar

import msgspec
from pydantic import BaseModel, ValidationError

from odf_core.transfer.errors import MalformedMessage

M = TypeVar("M", bound=BaseModel)
S = TypeVar("S")


def to_bytes(text: bytes | str) -> bytes:
    """UTF-8 of a message; raises MalformedMessage for text that has none (lone surrogates)."""
    if isinstance(text, bytes):
        return text
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise MalformedMessage("The message is not valid Unicode.") from error


def read_model(model: type[M], data: bytes, what: object) -> M:
    """A small message as its model; raises MalformedMessage, and what identifiers raise."""
    try:
        return model.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False, include_input=False)[0]
        place = ".".join(str(step) for step in first["loc"]) or "message"
        raise MalformedMessage(f"Not a {what}: {place}: {first['msg']}.") from error


def read_struct(struct: type[S], data: bytes, what: object) -> S:
    """A message with a payload, cut open without reading the payload; raises MalformedMessage."""
    try:
        return msgspec.json.decode(data, type=struct)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        reason = "nested too deeply" if isinstance(error, RecursionError) else str(error)
        raise MalformedMessage(f"Not a {what}: {reason}.") from error


def top_level_keys(data: bytes, what: object) -> frozenset[str]:
    """Names of the fields of a JSON object; raises MalformedMessage for anything else."""
    return frozenset(read_struct(dict[str, msgspec.Raw], data, what))
