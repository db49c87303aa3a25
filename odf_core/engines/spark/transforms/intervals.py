"""Joins of two linear parts whose event times are at most so far apart: how long a row can find partners.

The times of a pair differ by at least `low` and at most `high`. A row that came in time is not before the
watermark, so a row is late when even the latest partner that fits it would be; and a row is held while a
row that is not late could join it, or could change what was told of it.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from odf_core.engines.spark.transforms.nodes import Expression, Node
from odf_core.engines.spark.transforms.times import Times

_TURNED = {
    "LessThan": "GreaterThan",
    "LessThanOrEqual": "GreaterThanOrEqual",
    "GreaterThan": "LessThan",
    "GreaterThanOrEqual": "LessThanOrEqual",
}
_UPPER = ("LessThan", "LessThanOrEqual")
_KEEPS_LEFT = ("LEFT OUTER", "LEFT SEMI", "LEFT ANTI")
_PASSING = frozenset({"Project", "Filter", "Generate"})


@dataclass(frozen=True, slots=True)
class Span:
    """Of the rows of a linear part: the position of their event time, and for how many microseconds after
    it a row is accepted, and held."""

    place: int
    accepted: int
    held: int


def spans_of(plan: Node, prefixes: tuple[Node, ...], times: Mapping[int, Times]) -> Mapping[int, Span] | None:
    """The spans of both sides by the numbers of their parts, where the query is such a join with nothing
    above it that looks at more than one row; else None."""
    node = plan
    while node.kind in _PASSING:
        (node,) = node.children
    if node.kind != "Join" or {child.number for child in node.children} != {item.number for item in prefixes}:
        return None
    left, right = node.children
    places = {
        (one, other): (left_id, right_id)
        for one, left_id in _copies(left, times)
        for other, right_id in _copies(right, times)
    }
    for (one, other), ids in places.items():
        low, high = _bounds(node, *ids)
        if low is not None and high is not None and low <= high:
            found = _spans(node.join, low, high)
            if found is not None:
                return {left.number: Span(one, *found[0]), right.number: Span(other, *found[1])}
    return None


def _copies(node: Node, times: Mapping[int, Times]) -> list[tuple[int, int]]:
    return [
        (place, column.id)
        for place, column in enumerate(node.output)
        if column.id is not None and column.id in times[node.number].copies and column.type == "timestamp"
    ]


def _spans(join: str, low: int, high: int) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """Accepted and held of the left and of the right side; the right's time is the later one by `low` to
    `high`."""
    left, right = max(high, 0), max(-low, 0)
    held_left, held_right = max(left, high + right), max(right, -low + left)
    if join in _KEEPS_LEFT:
        # What was told of a row that is held must still show all its partners.
        held_right = max(held_right, -low + held_left)
    elif join == "RIGHT OUTER":
        held_left = max(held_left, high + held_right)
    elif join != "INNER":
        return None
    return (left, held_left), (right, held_right)


def _bounds(join: Node, left: int, right: int) -> tuple[int | None, int | None]:
    """By how many microseconds the time `right` is at least and at most later than `left`."""
    low: int | None = None
    high: int | None = None
    for kind, difference, limit in _comparisons(join):
        if difference == (right, left):
            upper, value = kind in _UPPER, limit
        elif difference == (left, right):
            upper, value = kind not in _UPPER, -limit
        else:
            continue
        if upper:
            high = value if high is None else min(high, value)
        else:
            low = value if low is None else max(low, value)
    return low, high


def _comparisons(join: Node) -> Iterator[tuple[str, tuple[int, int], int]]:
    """Conditions of the form `one - other < limit`, one and other by their identities."""
    pending = list(join.expressions)
    while pending:
        expression = pending.pop()
        if expression.kind == "And":
            pending.extend(expression.children)
        elif expression.kind in _TURNED:
            one, other = expression.children
            yield from _compared(expression.kind, one, other)
            yield from _compared(_TURNED[expression.kind], other, one)


def _compared(kind: str, one: Expression, other: Expression) -> Iterator[tuple[str, tuple[int, int], int]]:
    if one.kind == "SubtractTimestamps" and other.micros is not None:
        earlier, later = (_moved(item) for item in one.children)
        if earlier is not None and later is not None:
            yield kind, (earlier[0], later[0]), other.micros - earlier[1] + later[1]
        return
    first, second = _moved(one), _moved(other)
    if first is not None and second is not None:
        yield kind, (first[0], second[0]), second[1] - first[1]


def _moved(expression: Expression) -> tuple[int, int] | None:
    """A column, and by how many microseconds it is moved."""
    if expression.kind == "AttributeReference" and expression.id is not None:
        return expression.id, 0
    if expression.kind == "TimestampAddInterval":
        column, interval = expression.children
        below = _moved(column)
        if below is not None and interval.micros is not None:
            return below[0], below[1] + interval.micros
    return None
