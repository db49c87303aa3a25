"""Which columns of a linear part have the event time of its rows, or windows of it.

Only of these a watermark says that no row will come any more: a window of another time, or of one that was
moved, may well be open when its end has passed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from odf_core.engines.spark.transforms.nodes import LEAF, Expression, Node


@dataclass(frozen=True, slots=True)
class Times:
    """Identities of columns: plain copies of the event time, and windows that were made of it."""

    copies: frozenset[int] = frozenset()
    windows: frozenset[int] = frozenset()


def times_of(node: Node, names: Mapping[int, str]) -> Times:
    """The times among the columns of a linear part; `names` has the event time's name for each leaf."""
    if node.kind == LEAF:
        return Times(frozenset(_id(column) for column in node.output if column.name == names[node.number]))
    below = [times_of(child, names) for child in node.children]
    outputs = [_id(column) for column in node.output]
    if node.kind == "Project":
        return _made([node.expressions], outputs, below[0])
    if node.kind == "Expand":
        width = len(outputs)
        projected = node.expressions[: len(node.expressions) - width]
        rows = [projected[start : start + width] for start in range(0, len(projected), width)]
        return _made(rows, outputs, below[0])
    if node.kind == "Union":
        rows = [child.output for child in node.children]
        each = [_made([row], outputs, known) for row, known in zip(rows, below, strict=True)]
        return Times(
            frozenset.intersection(*(item.copies for item in each)),
            frozenset.intersection(*(item.windows for item in each)),
        )
    return below[0]


def _made(rows: Sequence[Sequence[Expression]], outputs: Sequence[int], below: Times) -> Times:
    """The times among columns that are made by `rows` of expressions, one for each copy of a row."""
    copies, windows = set(), set()
    for place, id_ in enumerate(outputs):
        made = [_value(row[place]) for row in rows]
        if all(item.kind == "AttributeReference" and item.id in below.copies for item in made):
            copies.add(id_)
        elif all(_is_window(item, below) for item in made):
            windows.add(id_)
    return Times(frozenset(copies), frozenset(windows))


def _value(expression: Expression) -> Expression:
    return expression.children[0] if expression.kind == "Alias" else expression


def _is_window(expression: Expression, below: Times) -> bool:
    """Whether Spark made it by window() from nothing but the event time."""
    if expression.kind == "AttributeReference":
        return expression.id in below.windows
    if expression.kind != "CreateNamedStruct":
        return False
    instants = [
        item.children[0]
        for item in expression.walk()
        if item.kind == "PreciseTimestampConversion" and item.type == "bigint"
    ]
    columns = [item for item in expression.walk() if item.kind == "AttributeReference"]
    return bool(instants) and all(
        item.kind == "AttributeReference" and item.id in below.copies for item in (*instants, *columns)
    )


def _id(column: Expression) -> int:
    return -1 if column.id is None else column.id
