"""Text from a peer to models: one place where foreign parsers meet foreign text."""

from typing import TypeVar

import msgspec
from pydantic import BaseModel, ValidationError

from odf_core.transfer.errors import MalformedMessage

M = TypeVar("M", bound=BaseModel)
S = TypeVar("S")


def to_bytes(text: bytes | str) -> bytes:
    """UTF-8 of a message; raises MalformedMessage for what is none."""
    try:
        if isinstance(text, str):
            return text.encode("utf-8")
        if not text.isascii():
            # The parsers do not look into fields that they skip.
            text.decode("utf-8")
    except UnicodeError as error:
        raise MalformedMessage("The message is not valid Unicode.") from error
    return text


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
