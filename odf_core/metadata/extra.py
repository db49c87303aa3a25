"""Extra attributes: a JSON object beside the typed properties, in one canonical text (metadata.md 1.1)."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated, Any, NoReturn

from odf_core.limits import Limits
from odf_core.metadata.declare import PlainObject, TextForm
from odf_core.metadata.errors import InvalidExtraAttributes, NestingTooDeep

_DEPTH = Limits().nesting_depth
_MIN_INT, _MAX_INT = -(1 << 63), (1 << 64) - 1
_MOST_PLAIN_DIGITS = 16
_MOST_LEADING_ZEROS = 4


def canonical_json(value: object, depth: int = _DEPTH) -> str:
    """Compact JSON, keys sorted bytewise at every level, numbers as the deployed implementation writes them.

    Raises `InvalidExtraAttributes` for what JSON cannot hold, `NestingTooDeep` beyond `depth` levels.
    """
    if depth < 0:
        raise NestingTooDeep(f"Extra attributes are nested deeper than {_DEPTH} levels.")
    match value:
        case None | bool() | str():
            return _text(value)
        case int():
            return str(value) if _MIN_INT <= value <= _MAX_INT else shortest_float(_as_float(value))
        case float():
            return shortest_float(value)
        case Mapping():
            if not all(isinstance(key, str) for key in value):
                raise InvalidExtraAttributes("A property's name in extra attributes has to be text.")
            items = (f"{_text(key)}:{canonical_json(value[key], depth - 1)}" for key in sorted(value))
            return "{" + ",".join(items) + "}"
        case list() | tuple():
            return "[" + ",".join(canonical_json(item, depth - 1) for item in value) + "]"
    raise InvalidExtraAttributes(f"A value of type {type(value).__name__} has no place in extra attributes.")


def parse_object(text: str) -> str:
    """Canonical text of a JSON object; raises `InvalidExtraAttributes` or `NestingTooDeep`."""
    try:
        value = json.loads(text, parse_constant=refuse_constant, parse_int=parse_json_int)
    except RecursionError as error:
        raise NestingTooDeep(f"Extra attributes are nested deeper than {_DEPTH} levels.") from error
    except ValueError as error:
        raise InvalidExtraAttributes(f"Extra attributes are not JSON: {error}.") from error
    return ExtraAttributes.from_object(value).entries


@dataclass(frozen=True, slots=True, kw_only=True)
class ExtraAttributes(PlainObject):
    """A JSON object as canonical text, so that equal objects are equal values. Make it by `from_object`."""

    entries: Annotated[str, TextForm("JsonObject", parse_object, "A JSON object")]

    @classmethod
    def from_object(cls, value: object) -> "ExtraAttributes":
        """The attributes of a JSON-compatible mapping; raises `InvalidExtraAttributes`, `NestingTooDeep`."""
        if not isinstance(value, Mapping):
            raise InvalidExtraAttributes("Extra attributes have to be a JSON object.")
        return cls(entries=canonical_json(value))

    def to_object(self) -> dict[str, Any]:
        """A new dict of the attributes."""
        value: dict[str, Any] = json.loads(self.entries)
        return value


def refuse_constant(name: str) -> NoReturn:
    raise InvalidExtraAttributes(f"{name} is not a number of JSON.")


def parse_json_int(digits: str) -> int | float:
    # Minus zero exists only as a floating-point number; so does what no 64 bits hold.
    return float(digits) if digits == "-0" or len(digits) > len(str(_MIN_INT)) else int(digits)


def _text(value: str | bool | None) -> str:
    text = json.dumps(value, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InvalidExtraAttributes("Text in extra attributes holds half of a surrogate pair.") from error
    return text


def _as_float(number: int) -> float:
    try:
        return float(number)
    except OverflowError as error:
        raise InvalidExtraAttributes("A number in extra attributes is out of range.") from error


def shortest_float(number: float) -> str:
    """The shortest digits that read back as the number: `1.5`, `100.0`, `0.00001`, `1e16`, `1e-7`."""
    if not math.isfinite(number):
        raise InvalidExtraAttributes("Numbers in extra attributes have to be finite.")
    if number == 0:
        return repr(number)
    sign, digit_tuple, exponent = Decimal(repr(number)).normalize().as_tuple()
    digits, exponent = "".join(map(str, digit_tuple)), int(exponent)
    point = len(digits) + exponent
    if exponent >= 0 and point <= _MOST_PLAIN_DIGITS:
        text = digits + "0" * exponent + ".0"
    elif 0 < point <= _MOST_PLAIN_DIGITS:
        text = f"{digits[:point]}.{digits[point:]}"
    elif -_MOST_LEADING_ZEROS <= point <= 0:
        text = "0." + "0" * -point + digits
    else:
        fraction = f".{digits[1:]}" if len(digits) > 1 else ""
        text = f"{digits[0]}{fraction}e{point - 1}"
    return "-" + text if sign else text
