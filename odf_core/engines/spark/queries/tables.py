"""Which tables a query names, before any of them is there.

`FROM name` is the dataset at its head; `FROM name VERSION AS OF '…'` (an offset or the hash of a block) and
`FROM name TIMESTAMP AS OF '…'` (a system time) are the dataset as it was. `FROM to_table(name, as_of, at)`
is the state that its changelog tells (data.md 6), as of an offset, block or system time, and of the records
up to the event time `at`; the last two may be left out. The caller finds the datasets and puts views in the
places that are told here.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.query_job import TablePlace
from odf_core.engines.spark.handlers import Progress, register

_RELATION, _TRAVEL, _ALIAS, _WITH = (
    "UnresolvedRelation",
    "RelationTimeTravel",
    "SubqueryAlias",
    "UnresolvedWith",
)
_FUNCTION, _FOLD = "UnresolvedTableValuedFunction", "to_table"
_SUBQUERIES = frozenset({"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery"})


def tables_of(session: SparkSession, sql: str) -> list[TablePlace]:
    """Each place where the query names a table; names that it defines itself are left out.

    Raises what the parser raises.
    """
    plan = session._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    own: set[str] = set()
    found = [_without_alias(item, sql) for item in _walk(plan, own, under_alias=False)]
    return [item for item in found if item.fold or item.name.lower() not in own]


def _without_alias(place: TablePlace, sql: str) -> TablePlace:
    """A call's place, as the parser tells it, takes its alias in: it ends with its parenthesis."""
    if not place.fold:
        return place
    quote = ""
    for position in range(place.start, place.stop + 1):
        letter = sql[position]
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "'\"`":
            quote = letter
        elif letter == ")":
            return msgspec.structs.replace(place, stop=position)
    return place


def _walk(plan: Any, own: set[str], *, under_alias: bool) -> Iterator[TablePlace]:
    kind = plan.getClass().getSimpleName()
    if kind == _TRAVEL:
        yield _travelled(plan, under_alias)
        return
    if kind == _RELATION:
        yield _place(plan, plan, under_alias)
        return
    if kind == _FUNCTION and [name.lower() for name in _items(plan.name())] == [_FOLD]:
        yield _folded(plan, under_alias)
        return
    if kind == _WITH:
        for item in _items(plan.cteRelations()):
            own.add(item._1().lower())
            yield from _walk(item._2(), own, under_alias=True)
    for expression in _items(plan.expressions()):
        yield from _in_expression(expression, own)
    for child in _items(plan.children()):
        yield from _walk(child, own, under_alias=kind == _ALIAS)


def _in_expression(expression: Any, own: set[str]) -> Iterator[TablePlace]:
    """Subqueries hide in expressions: IN, EXISTS, scalar ones."""
    if expression.getClass().getSimpleName() in _SUBQUERIES:
        yield from _walk(expression.plan(), own, under_alias=False)
    for child in _items(expression.children()):
        yield from _in_expression(child, own)


def _place(relation: Any, last: Any, under_alias: bool) -> TablePlace:
    return TablePlace(
        name=".".join(_items(relation.multipartIdentifier())),
        start=_option(relation.origin().startIndex()),
        stop=_option(last.origin().stopIndex()),
        has_alias=under_alias,
    )


def _travelled(travel: Any, under_alias: bool) -> TablePlace:
    place = _place(travel.relation(), travel, under_alias)
    timestamp = _option(travel.timestamp())
    return msgspec.structs.replace(
        place,
        as_of=_option(travel.version()) if timestamp is None else _literal(timestamp),
        as_of_is_time=timestamp is not None,
    )


def _folded(function: Any, under_alias: bool) -> TablePlace:
    arguments = _items(function.functionArgs())
    if not 1 <= len(arguments) <= 3 or arguments[0].getClass().getSimpleName() != "UnresolvedAttribute":
        raise InvalidEngineRequest("to_table takes the name of a dataset, and as texts as_of and at.")
    texts = [_literal(item) for item in arguments[1:]]
    return TablePlace(
        name=".".join(_items(arguments[0].nameParts())),
        start=_option(function.origin().startIndex()),
        stop=_option(function.origin().stopIndex()),
        has_alias=under_alias,
        fold=True,
        as_of=texts[0] if texts else None,
        at=texts[1] if len(texts) > 1 else None,
    )


def _literal(expression: Any) -> str | None:
    if not expression.foldable():
        raise InvalidEngineRequest(
            "A table can be asked for as of a literal only, such as '2024-01-01T00:00:00Z'."
        )
    value = expression.eval(None)
    return None if value is None else str(value)


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]


def _option(option: Any) -> Any:
    return option.get() if option.isDefined() else None


def _handle(
    session: SparkSession, request: dict[str, Any], progress: Progress, workdir: Path
) -> dict[str, Any]:
    sql = request.get("sql")
    if not isinstance(sql, str):
        raise InvalidEngineRequest("A look for tables needs `sql`.")
    return {"tables": msgspec.to_builtins(tables_of(session, sql))}


register("query_tables", _handle)
