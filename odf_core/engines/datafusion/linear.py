"""Queries whose steps add up to the query over the whole: each row of a result comes of one row of an input.

What else SQL has needs the rows that came before, which this engine does not keep: Spark does. The check is
an allow-list over the plan, so that what a later DataFusion brings is refused until it is looked at.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from odf_core.engines.datafusion.result import Result
from odf_core.engines.datafusion.tables import InputTable
from odf_core.engines.errors import QueryRefused
from odf_core.transform.errors import InvalidQueryResult

_NODES = frozenset({"Projection", "Filter", "SubqueryAlias", "Union", "Unnest", "TableScan"})
_EXPRESSIONS = frozenset(
    {
        "Alias",
        "Between",
        "BinaryExpr",
        "Case",
        "Cast",
        "Column",
        "ILike",
        "InList",
        "IsFalse",
        "IsNotFalse",
        "IsNotNull",
        "IsNotTrue",
        "IsNotUnknown",
        "IsNull",
        "IsTrue",
        "IsUnknown",
        "Like",
        "Literal",
        "Negative",
        "Not",
        "ScalarFunction",
        "SimilarTo",
        "TryCast",
    }
)
_LEAVES = frozenset({"Column", "Literal"})
_WORDS = {
    "Aggregate": "groups rows",
    "Distinct": "drops rows that are equal",
    "Join": "joins rows",
    "Window": "looks at neighbouring rows",
    "WindowExpr": "looks at neighbouring rows",
    "Sort": "puts rows in order",
    "Limit": "limits the number of rows",
    "ScalarSubquery": "has a subquery in place of a value",
    "InSubquery": "has a subquery in a condition",
    "Exists": "has a subquery in a condition",
    "Values": "has rows of its own, which no input gives",
    "EmptyRelation": "has rows of its own, which no input gives",
    "RecursiveQuery": "reads its own result",
}

_Columns = list[tuple[str, bool]]


def check_linear(plan: Any, tables: Sequence[InputTable], result: Result) -> None:
    """Raises `QueryRefused` for a query of another kind, `InvalidQueryResult` for operations that it makes
    up."""
    inputs = {table.name: table for table in tables}
    _check_node(plan, inputs)
    if result.op_place is not None and not _columns(plan, inputs)[result.op_place][1]:
        op = result.names[1]
        raise InvalidQueryResult(
            f"The query computes {op}; it has to be that of its input, unchanged, so that retractions and "
            f"corrections go on.",
            objects=[op],
        )


def _check_node(plan: Any, inputs: Mapping[str, InputTable]) -> None:
    node = _variant(plan)
    kind = type(node).__name__
    if kind not in _NODES:
        raise _refused(kind)
    for expression in _expressions(node):
        _check_expression(expression)
    if kind == "TableScan" and node.table_name() not in inputs:
        raise QueryRefused(
            f"The query reads {node.table_name()!r}, which is none of its inputs.",
            objects=[node.table_name()],
        )
    for child in plan.inputs():
        _check_node(child, inputs)


def _variant(plan: Any) -> Any:
    try:
        return plan.to_variant()
    except Exception as error:
        raise _refused(plan.display().split(":")[0].strip()) from error


def _expressions(node: Any) -> Iterator[Any]:
    match type(node).__name__:
        case "Projection":
            yield from node.projections()
        case "Filter":
            yield node.predicate()


def _check_expression(expression: Any) -> None:
    kind = expression.variant_name()
    if kind not in _EXPRESSIONS:
        raise _refused(kind)
    if kind in _LEAVES:
        return
    try:
        operands = expression.rex_call_operands()
    except Exception as error:
        raise _refused(kind) from error
    for operand in operands:
        _check_expression(operand)


def _refused(kind: str) -> QueryRefused:
    words = _WORDS.get(kind, f"has a {kind}")
    return QueryRefused(
        f"The query {words}: its result over new rows alone would not be its result over all of them. "
        f"DataFusion evaluates projections, filters, UNION ALL and unnest; write it for the engine spark.",
        objects=[kind],
    )


def _columns(plan: Any, inputs: Mapping[str, InputTable]) -> _Columns:
    """The columns that a node gives: their names, and whether they are the operations of an input."""
    node = plan.to_variant()
    match type(node).__name__:
        case "TableScan":
            table = inputs[node.table_name()]
            return [(name, name == table.names[1]) for name in table.rows.column_names]
        case "Projection":
            below = _columns(plan.inputs()[0], inputs)
            return [_projected(item, below) for item in node.projections()]
        case "Union":
            parts = [_columns(child, inputs) for child in plan.inputs()]
            return [(column[0][0], all(is_op for _, is_op in column)) for column in zip(*parts, strict=True)]
    return _columns(plan.inputs()[0], inputs)


def _projected(expression: Any, below: _Columns) -> tuple[str, bool]:
    inner, name = expression, None
    while inner.variant_name() == "Alias":
        name = name or inner.to_variant().alias()
        inner = inner.rex_call_operands()[0]
    if inner.variant_name() != "Column":
        return name or "", False
    source = inner.to_variant().name()
    found = [is_op for below_name, is_op in below if below_name == source]
    return name or source, bool(found) and all(found)
