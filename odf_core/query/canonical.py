"""Canonical JSON, in which the parts of an answer are hashed (data.md 6)."""

import json
import math
from typing import Any, ClassVar

from odf_core.errors import InvalidInput


class NotCanonical(InvalidInput):
    """A value that canonical JSON has no form for."""

    code: ClassVar[str] = "not_canonical"


def canonical_json(value: Any) -> bytes:
    """Keys sorted, no white space, everything outside ASCII escaped.

    Keys are sorted by code points, as UTF-8 sorts them. Raises `NotCanonical` for NaN, infinities and what
    is not JSON.
    """
    _check(value)
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False
    ).encode("ascii")


def _check(value: Any) -> None:
    left = [value]
    while left:
        item = left.pop()
        match item:
            case dict():
                if not all(isinstance(key, str) for key in item):
                    raise NotCanonical("An object of JSON has a key that is no text.")
                left.extend(item.values())
            case list() | tuple():
                left.extend(item)
            case float() if not math.isfinite(item):
                raise NotCanonical(f"JSON has no number {item}.")
            case None | bool() | int() | float() | str():
                pass
            case _:
                raise NotCanonical(f"JSON has no value of the type {type(item).__name__}.")
