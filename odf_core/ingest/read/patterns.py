"""Date and timestamp formats of read steps: letters as Java writes them, or `%` directives.

A format becomes a regular expression with one group for each part of a moment. Java's square brackets
(optional parts), quotes and repeated letters are understood; so are the common directives of strptime.
"""

import re
from dataclasses import dataclass

from odf_core.ingest.read.errors import InvalidReadOption

RFC3339 = "rfc3339"
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_LONGEST = 200

_NAME = r"[A-Za-z]{3,9}"
_OFFSET = r"Z|z|[+-]\d{2}(?::?\d{2})?"
# Part and expression of a run of letters; where the run's length matters, "{n}" stands for it.
_JAVA: dict[str, tuple[tuple[int, str, str], ...]] = {
    "y": ((2, "year2", r"\d{2}"), (99, "year", r"\d{4}")),
    "u": ((2, "year2", r"\d{2}"), (99, "year", r"\d{4}")),
    "M": ((1, "month", r"\d{1,2}"), (2, "month", r"\d{2}"), (99, "month_name", _NAME)),
    "L": ((1, "month", r"\d{1,2}"), (2, "month", r"\d{2}"), (99, "month_name", _NAME)),
    "d": ((1, "day", r"\d{1,2}"), (99, "day", r"\d{2}")),
    "H": ((1, "hour", r"\d{1,2}"), (99, "hour", r"\d{2}")),
    "h": ((1, "hour12", r"\d{1,2}"), (99, "hour12", r"\d{2}")),
    "m": ((1, "minute", r"\d{1,2}"), (99, "minute", r"\d{2}")),
    "s": ((1, "second", r"\d{1,2}"), (99, "second", r"\d{2}")),
    "S": ((9, "fraction", r"\d{n}"),),
    "n": ((99, "fraction", r"\d{1,9}"),),
    "a": ((99, "half", r"[AaPp]\.?[Mm]\.?"),),
    "X": ((99, "zone", _OFFSET),),
    "x": ((99, "zone", _OFFSET),),
    "Z": ((99, "zone", _OFFSET),),
    "z": ((99, "zone", rf"UTC|GMT|{_OFFSET}"),),
    "E": ((99, "weekday", _NAME),),
}
_DIRECTIVES = {
    "Y": ("year", r"\d{4}"),
    "y": ("year2", r"\d{2}"),
    "m": ("month", r"\d{1,2}"),
    "b": ("month_name", _NAME),
    "B": ("month_name", _NAME),
    "h": ("month_name", _NAME),
    "d": ("day", r"\d{1,2}"),
    "e": ("day", r" ?\d{1,2}"),
    "H": ("hour", r"\d{1,2}"),
    "I": ("hour12", r"\d{1,2}"),
    "M": ("minute", r"\d{1,2}"),
    "S": ("second", r"\d{1,2}"),
    "f": ("fraction", r"\d{1,9}"),
    "p": ("half", r"[AaPp]\.?[Mm]\.?"),
    "z": ("zone", _OFFSET),
    "Z": ("zone", rf"UTC|GMT|{_OFFSET}"),
    "a": ("weekday", _NAME),
    "A": ("weekday", _NAME),
}
_SHORTHANDS = {"%T": "%H:%M:%S", "%F": "%Y-%m-%d", "%R": "%H:%M", "%D": "%m/%d/%y", "%.f": "[.%f]"}


@dataclass(frozen=True, slots=True)
class Pattern:
    """A format as it was written, its expression, and the parts (group names) that it has."""

    text: str
    expression: str
    parts: frozenset[str]


def compile_pattern(text: str | None, *, option: str) -> Pattern | None:
    """The pattern of a format; None for RFC 3339, the default. Raises `InvalidReadOption`."""
    if text is None or text.strip().lower() in (RFC3339, ""):
        return None
    if len(text) > _LONGEST:
        raise InvalidReadOption(f"The {option} of the read step is longer than {_LONGEST} letters.")
    pieces = _from_directives(text, option) if "%" in text else _from_java(text, option)
    expression = f"^(?:{''.join(pieces)})$"
    try:
        parts = frozenset(re.compile(expression).groupindex)
    except re.error as error:
        raise _fault(option, text, f"it is not well formed ({error})") from error
    if not parts & {"year", "year2"} or not parts & {"month", "month_name"} or "day" not in parts:
        raise _fault(option, text, "it does not tell year, month and day")
    return Pattern(text, expression, parts)


def _from_java(text: str, option: str) -> list[str]:
    pieces = []
    for match in re.finditer(r"'((?:[^']|'')*)'|([A-Za-z])\2*|(\[)|(\])|([^A-Za-z])", text):
        literal, letter, opening, closing, sign = match.groups()
        if literal is not None:
            pieces.append(re.escape(literal.replace("''", "'") or "'"))
        elif letter is not None:
            pieces.append(_java_part(letter, len(match[0]), text, option))
        elif opening or closing:
            pieces.append("(?:" if opening else ")?")
        else:
            pieces.append(re.escape(sign))
    return pieces


def _java_part(letter: str, length: int, text: str, option: str) -> str:
    for most, part, expression in _JAVA.get(letter, ()):
        if length <= most:
            return f"(?P<{part}>{expression.replace('{n}', f'{{{length}}}')})"
    raise _fault(option, text, f"{letter * length!r} in it is not supported")


def _from_directives(text: str, option: str) -> list[str]:
    for shorthand, meaning in _SHORTHANDS.items():
        text = text.replace(shorthand, meaning)
    pieces = []
    for match in re.finditer(r"%(.)|(\[\.%f\])|([^%])|%$", text.replace("[.%f]", "%.")):
        directive, _, sign = match.groups()
        if sign is not None:
            pieces.append(re.escape(sign))
        elif directive == "%":
            pieces.append("%")
        elif directive == ".":
            pieces.append(r"(?:\.(?P<fraction>\d{1,9}))?")
        elif directive in _DIRECTIVES:
            part, expression = _DIRECTIVES[directive]
            pieces.append(f"(?P<{part}>{expression})")
        else:
            raise _fault(option, text, f"{match[0]!r} in it is not supported")
    return pieces


def _fault(option: str, text: str, why: str) -> InvalidReadOption:
    return InvalidReadOption(
        f"The {option} {text!r} of the read step cannot be used: {why}; rfc3339 and patterns such as "
        "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX] can.",
        objects=[option],
    )
