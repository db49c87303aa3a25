"""A plan of Spark as values: what OdfPlan.java tells of it."""

from collections.abc import Iterator

import msgspec

LEAF = "LogicalRelation"
"""The kind of a node that stands for an input."""


class Expression(msgspec.Struct, frozen=True):
    """An expression; `id` identifies the column that it reads or makes, `window` tells whether an attribute
    is a window of time or a session, as Spark marks them; `micros` is the length of a literal interval of
    days to seconds."""

    kind: str
    id: int | None = None
    name: str = ""
    type: str = ""
    window: str = ""
    distinct: bool = False
    field: int | None = None
    micros: int | None = None
    children: tuple["Expression", ...] = ()

    def walk(self) -> Iterator["Expression"]:
        """This one and all below."""
        yield self
        for child in self.children:
            yield from child.walk()


class Node(msgspec.Struct, frozen=True):
    """A node of a plan, numbered in preorder."""

    number: int
    kind: str
    output: tuple[Expression, ...]
    expressions: tuple[Expression, ...]
    children: tuple["Node", ...]
    keys: tuple[Expression, ...] = ()
    order: tuple[Expression, ...] = ()
    join: str = ""
    file: str = ""

    def walk(self) -> Iterator["Node"]:
        """This node and all below."""
        yield self
        for child in self.children:
            yield from child.walk()


def read_plan(text: str) -> Node:
    """What `OdfPlan.describe` wrote."""
    return msgspec.json.decode(text, type=Node)
