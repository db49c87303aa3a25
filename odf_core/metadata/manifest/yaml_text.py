"""YAML text: the JSON-compatible part of YAML 1.2, read without surprises and written as the reference does.

Read: several documents, block and flow style. Refused: anchors, aliases, tags, keys that are not text,
keys given twice. Plain scalars mean what the reference's library takes them for (metadata.md 5.7).
"""

import math
import re
from collections.abc import Iterator
from typing import Any

import yaml

from odf_core.metadata.errors import InvalidManifest, NestingTooDeep
from odf_core.metadata.extra import shortest_float

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_Dumper: Any = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
_UNLIMITED_WIDTH = (1 << 31) - 1

_NULLS = frozenset(("", "~", "null", "Null", "NULL"))
_BOOLS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
_FLOATS = {
    **dict.fromkeys((".inf", ".Inf", ".INF", "+.inf", "+.Inf", "+.INF"), math.inf),
    **dict.fromkeys(("-.inf", "-.Inf", "-.INF"), -math.inf),
    **dict.fromkeys((".nan", ".NaN", ".NAN"), math.nan),
}
_LEADING_ZERO = re.compile(r"[-+]?0[0-9]+")
_INT = re.compile(r"[-+]?(?:0x[0-9A-Fa-f]{1,32}|0o[0-7]{1,43}|0b[01]{1,128}|[0-9]{1,39})")
_FLOAT = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MIN_INT, _MAX_INT = -(1 << 127), (1 << 128) - 1
_RADIX = {"x": 16, "o": 8, "b": 2}


def load_yaml(text: str, max_depth: int) -> list[Any]:
    """The documents of a text as JSON-compatible values; raises `InvalidManifest` or `NestingTooDeep`."""
    try:
        return list(_documents(yaml.parse(text, Loader=_Loader), max_depth))
    except (yaml.YAMLError, UnicodeError) as error:
        place = getattr(error, "problem_mark", None)
        where = f" at line {place.line + 1}, column {place.column + 1}" if place is not None else ""
        problem = getattr(error, "problem", None) or getattr(error, "reason", None) or "unreadable text"
        raise InvalidManifest(f"The manifest is not YAML: {problem}{where}.") from error


def dump_yaml(value: Any) -> str:
    """The text of a JSON-compatible value: block style, sequences at the indentation of their key."""
    events = [
        yaml.StreamStartEvent(),
        yaml.DocumentStartEvent(explicit=False),
        *_events(value),
        yaml.DocumentEndEvent(explicit=False),
        yaml.StreamEndEvent(),
    ]
    text: str = yaml.emit(events, Dumper=_Dumper, width=_UNLIMITED_WIDTH, allow_unicode=True)
    return text


def plain_scalar(text: str) -> Any:
    """What an unquoted scalar means: null, a boolean, a number or text."""
    if text in _NULLS:
        return None
    if text in _BOOLS:
        return _BOOLS[text]
    if text in _FLOATS:
        return _FLOATS[text]
    if _LEADING_ZERO.fullmatch(text):
        return text
    if _INT.fullmatch(text):
        unsigned = text.lstrip("-+")
        number = int(unsigned, _RADIX.get(unsigned[1:2], 10)) if unsigned[0] == "0" else int(unsigned)
        number = -number if text[0] == "-" else number
        if _MIN_INT <= number <= _MAX_INT:
            return number
    if _FLOAT.fullmatch(text) and math.isfinite(float(text)):
        return float(text)
    return text


def _documents(events: Iterator[Any], max_depth: int) -> Iterator[Any]:
    """Composes values without recursion, so that depth is bounded by a number and not by the stack."""
    stack: list[tuple[Any, list[str]]] = []
    document: list[Any] = []
    for event in events:
        if isinstance(event, yaml.NodeEvent):
            _check_node(event)
        match event:
            case yaml.DocumentStartEvent():
                document = []
            case yaml.ScalarEvent():
                _place(
                    stack, document, plain_scalar(event.value) if event.implicit[0] else event.value, event
                )
            case yaml.MappingStartEvent() | yaml.SequenceStartEvent():
                if len(stack) >= max_depth:
                    raise NestingTooDeep(f"The manifest is nested deeper than {max_depth} levels.")
                value: Any = {} if isinstance(event, yaml.MappingStartEvent) else []
                _place(stack, document, value, event)
                stack.append((value, []))
            case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                stack.pop()
            case yaml.DocumentEndEvent():
                yield document[0]


def _check_node(event: Any) -> None:
    what = None
    if isinstance(event, yaml.AliasEvent):
        what = "an alias"
    elif event.anchor is not None:
        what = "an anchor"
    elif event.tag is not None:
        what = "a tag"
    if what is not None:
        raise InvalidManifest(
            f"The manifest uses {what} at line {event.start_mark.line + 1}; "
            "only the JSON-compatible part of YAML is read."
        )


def _place(stack: list[tuple[Any, list[str]]], document: list[Any], value: Any, event: Any) -> None:
    """Puts a value into the innermost collection; in a mapping, every second one is a key."""
    if not stack:
        document.append(value)
        return
    collection, pending = stack[-1]
    if isinstance(collection, list):
        collection.append(value)
    elif pending:
        collection[pending.pop()] = value
    else:
        line = event.start_mark.line + 1
        if not isinstance(value, str):
            raise InvalidManifest(f"A property's name at line {line} of the manifest is not text.")
        if value in collection:
            raise InvalidManifest(f"The manifest has a property twice at line {line}.", objects=[value[:80]])
        pending.append(value)


def _events(value: Any) -> Iterator[Any]:
    match value:
        case dict():
            yield yaml.MappingStartEvent(None, None, implicit=True, flow_style=False)
            for key, part in value.items():
                yield from _events(key)
                yield from _events(part)
            yield yaml.MappingEndEvent()
        case list() | tuple():
            yield yaml.SequenceStartEvent(None, None, implicit=True, flow_style=False)
            for part in value:
                yield from _events(part)
            yield yaml.SequenceEndEvent()
        case _:
            text, style = _scalar(value)
            yield yaml.ScalarEvent(None, None, (True, True), text, style=style)


def _scalar(value: Any) -> tuple[str, str | None]:
    """Text and style: a block literal for several lines, quotes where the text would mean something else."""
    match value:
        case None:
            return "null", None
        case bool():
            return ("true" if value else "false"), None
        case int():
            return str(value), None
        case float():
            return shortest_float(value), None
    text = str(value)
    if "\n" in text:
        return text, "|"
    return text, (None if isinstance(plain_scalar(text), str) else "'")
