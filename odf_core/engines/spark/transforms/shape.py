"""What a plan asks of incremental evaluation: linear parts, keys, and functions that look at the order.

*Linear* parts give each row of the result for one row of the input: they see new rows only. What stands above
needs the rows that came before. A *key* of that rest is a column that divides it: all groups, windows and
joins keep rows of one value together, so that new rows change the result for their own values alone.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

from odf_core.engines.errors import QueryRefused
from odf_core.engines.spark.transforms.intervals import Span, spans_of
from odf_core.engines.spark.transforms.nodes import LEAF, Expression, Node
from odf_core.engines.spark.transforms.times import Times, times_of

_LINEAR = frozenset({LEAF, "Project", "Filter", "Generate", "Expand", "Union"})
_ROW_BY_ROW = frozenset({"Project", "Filter", "Sort", "Generate", "SubqueryAlias"})
_SUBQUERIES = frozenset({"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery", "InSubquery"})
_ORDERLESS = frozenset(
    {
        "Count",
        "Min",
        "Max",
        "BitAndAgg",
        "BitOrAgg",
        "BitXorAgg",
        "BoolAnd",
        "BoolOr",
        "CountIf",
        "Percentile",
    }
)
_ORDERLESS_EXACT = frozenset({"Sum", "Average"})
_FLOATING = frozenset({"float", "double"})

Key: TypeAlias = Mapping[int, int]
"""For each linear part, by the number of its root, the position of the key among its columns."""


@dataclass(frozen=True, slots=True)
class Shape:
    """How a plan is evaluated. `prefixes` are the roots of its linear parts, from left to right; `keys`
    divide what is above them, `key_outputs` are the positions of those keys in the result that appear there.

    `canonical` are the aggregates and windows whose result would depend on the order of rows. `times` are the
    event times of each linear part, `spans` those of a join within an interval.
    """

    plan: Node
    prefixes: tuple[Node, ...]
    keys: tuple[Key, ...]
    key_outputs: tuple[int, ...]
    canonical: tuple[int, ...]
    times: Mapping[int, Times]
    spans: Mapping[int, Span] | None

    @property
    def is_linear(self) -> bool:
        """Whether there is nothing above the linear parts."""
        return len(self.prefixes) == 1 and self.prefixes[0].number == self.plan.number

    def window_keys(self) -> tuple[int, ...]:
        """Which of `keys` are windows of event time: those that a watermark closes."""
        return tuple(
            index
            for index, key in enumerate(self.keys)
            if all(
                prefix.output[key[prefix.number]].id in self.times[prefix.number].windows
                for prefix in self.prefixes
            )
        )


def shape_of(plan: Node, event_times: Mapping[int, str]) -> Shape:
    """The shape of an optimised plan; `event_times` has the name of the event time for each leaf by number.

    Raises `QueryRefused` for a plan that is not evaluated incrementally.
    """
    _refuse(plan)
    prefixes = tuple(_prefixes(plan))
    if not prefixes:
        raise QueryRefused("The query reads none of its inputs, so no input can ever change its result.")
    if prefixes[0].number != plan.number:
        for prefix in prefixes:
            _refuse_types(prefix)
    held = _Keys({prefix.number for prefix in prefixes}).of(plan)
    keys = [item for item in held if len(item.where) == len(prefixes)]
    keys.sort(key=lambda item: sorted(item.where.items()))
    outputs = [column.id for column in plan.output]
    times = {prefix.number: times_of(prefix, event_times) for prefix in prefixes}
    return Shape(
        plan=plan,
        prefixes=prefixes,
        keys=tuple(item.where for item in keys),
        key_outputs=tuple(
            sorted({outputs.index(id_) for item in keys for id_ in item.ids if id_ in outputs})
        ),
        canonical=tuple(node.number for node in plan.walk() if _depends_on_order(node)),
        times=times,
        spans=spans_of(plan, prefixes, times),
    )


def leaves(node: Node) -> Iterator[Node]:
    """The inputs that are read below a node, from left to right."""
    return (item for item in node.walk() if item.kind == LEAF)


def _is_linear(node: Node) -> bool:
    return node.kind in _LINEAR and all(_is_linear(child) for child in node.children)


def _prefixes(node: Node) -> Iterator[Node]:
    if _is_linear(node):
        yield node
        return
    for child in node.children:
        yield from _prefixes(child)


def _refuse(plan: Node) -> None:
    for node in plan.walk():
        for top in (*node.keys, *node.order, *node.expressions):
            for expression in top.walk():
                if expression.kind in _SUBQUERIES:
                    raise QueryRefused(
                        "The query has a subquery in place of a value, which is not evaluated incrementally; "
                        "write it as a join.",
                        objects=[expression.kind],
                    )
        _refuse_distinct_beside(node)


def _refuse_distinct_beside(node: Node) -> None:
    """A DISTINCT aggregate is planned apart from the others, whose order then is not fixed (spark.md 2.2)."""
    functions = [
        item for top in node.expressions for item in top.walk() if item.kind == "AggregateExpression"
    ]
    if node.kind != "Aggregate" or not any(item.distinct for item in functions):
        return
    for item in functions:
        if not item.distinct and not _is_orderless(item):
            raise QueryRefused(
                f"{item.children[0].kind} looks at the order of rows and cannot stand beside a DISTINCT "
                f"aggregate; compute the two in queries of their own and join them.",
                objects=[item.children[0].kind],
            )


def _refuse_types(node: Node) -> None:
    for column in node.output:
        if "map<" in column.type or "array<" in column.type:
            raise QueryRefused(
                f"Column {column.name} is of the type {column.type}: rows with lists or maps cannot be "
                f"kept from one step to the next; take what you need of it before grouping or joining.",
                objects=[column.name],
            )


def _depends_on_order(node: Node) -> bool:
    if node.kind == "Window":
        return True
    functions = [
        item for top in node.expressions for item in top.walk() if item.kind == "AggregateExpression"
    ]
    return node.kind == "Aggregate" and not all(_is_orderless(item) for item in functions)


def _is_orderless(expression: Expression) -> bool:
    function = expression.children[0]
    if function.kind in _ORDERLESS:
        return True
    types = {child.type for child in function.children}
    return function.kind in _ORDERLESS_EXACT and not types & _FLOATING


@dataclass(slots=True)
class _Held:
    """A key on its way up: where it comes from, and the columns that carry it at this node."""

    where: dict[int, int]
    ids: set[int] = field(default_factory=set)


class _Keys:
    """Follows columns from the linear parts to the result."""

    def __init__(self, roots: set[int]) -> None:
        self._roots = roots

    def of(self, node: Node) -> list[_Held]:
        if node.number in self._roots:
            return [
                _Held({node.number: place}, {column.id})
                for place, column in enumerate(node.output)
                if column.id is not None and _can_be_key(column)
            ]
        if node.kind == "Join":
            return self._join(node)
        if node.kind == "Union":
            return self._union(node)
        if not node.children:
            return []
        held = self.of(node.children[0])
        if node.kind == "Aggregate" or node.kind == "Window":
            columns = {key.id for key in node.keys if key.kind == "AttributeReference"}
            held = [item for item in held if item.ids & columns]
            held = [
                _Held(item.where, item.ids & columns) if node.kind == "Aggregate" else item for item in held
            ]
        elif node.kind not in _ROW_BY_ROW:
            return []
        return [_Held(item.where, _renamed(node, item.ids)) for item in held]

    def _join(self, node: Node) -> list[_Held]:
        left, right = (self.of(child) for child in node.children)
        has_rows = [any(item.number in self._roots for item in child.walk()) for child in node.children]
        outputs = {column.id for column in node.output}
        if not all(has_rows):
            return [_Held(item.where, item.ids & outputs) for item in left or right]
        found = []
        for one_id, other_id in _equal_columns(node):
            for one in left:
                for other in right:
                    if (one_id in one.ids and other_id in other.ids) or (
                        other_id in one.ids and one_id in other.ids
                    ):
                        ids = one.ids | other.ids if node.join == "INNER" else _sure(node, one, other)
                        found.append(_Held({**one.where, **other.where}, ids & outputs))
        return found

    def _union(self, node: Node) -> list[_Held]:
        """Keys that stand at one position in all parts; a part without rows changes nothing."""
        outputs = [column.id for column in node.output]
        held: list[_Held] | None = None
        for child in node.children:
            if not any(item.number in self._roots for item in child.walk()):
                continue
            ids = [column.id for column in child.output]
            here = [
                _Held(item.where, _at(outputs, [ids.index(id_) for id_ in item.ids if id_ in ids]))
                for item in self.of(child)
            ]
            if held is None:
                held = here
            else:
                held = [
                    _Held({**one.where, **other.where}, one.ids & other.ids)
                    for one in held
                    for other in here
                    if one.ids & other.ids
                ]
        return held or []


def _at(ids: list[int | None], places: list[int]) -> set[int]:
    return {found for place in places if (found := ids[place]) is not None}


def _sure(node: Node, one: _Held, other: _Held) -> set[int]:
    """The columns of an outer join that have the key in every row: those of the side that is kept."""
    if node.join in ("LEFT OUTER", "LEFT SEMI", "LEFT ANTI"):
        return one.ids
    return other.ids if node.join == "RIGHT OUTER" else set()


def _equal_columns(node: Node) -> Iterator[tuple[int, int]]:
    """Pairs of columns that the condition of a join equates."""
    pending = list(node.expressions)
    while pending:
        expression = pending.pop()
        if expression.kind == "And":
            pending.extend(expression.children)
        elif expression.kind in ("EqualTo", "EqualNullSafe"):
            one, other = expression.children
            if one.kind == other.kind == "AttributeReference" and one.id is not None and other.id is not None:
                yield one.id, other.id


def _renamed(node: Node, ids: set[int]) -> set[int]:
    """The columns of a node's result that are plain copies of `ids`."""
    outputs = {column.id for column in node.output if column.id is not None}
    found = ids & outputs
    if node.kind in ("Project", "Aggregate"):
        for item in node.expressions:
            if item.kind == "Alias" and item.id is not None and _copied(item.children[0]) in ids:
                found.add(item.id)
    return found


def _copied(expression: Expression) -> int | None:
    """The column that an expression copies: itself, or a window by its start or end, which stand for it."""
    if expression.kind == "AttributeReference":
        return expression.id
    if expression.kind == "GetStructField" and expression.children[0].window == "time":
        return expression.children[0].id
    return None


def _can_be_key(column: Expression) -> bool:
    """Plain values that are equal or not, and windows of time; sessions are merged by new rows."""
    if column.window == "session":
        return False
    if column.window == "time":
        return True
    return column.type not in _FLOATING and not column.type.startswith(("array", "map", "struct", "variant"))
