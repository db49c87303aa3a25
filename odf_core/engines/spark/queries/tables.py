"""Which tables a query names, before any of them is there.

`FROM name` is the dataset at its head; `FROM name VERSION AS OF '…'` (an offset or the hash of a block) and
`FROM name TIMESTAMP AS OF '…'` (a system time) are the dataset as it was. `FROM to_table(name, as_of, at)`
is the state that its changelog tells (data.md 6), as of an offset, block or system time, and of the records
up to the event time `at`; the last two may be left out, null, or named (`at => '…'`). The caller finds the
datasets and puts views in the places that are told here.
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
_LITERAL = "Literal"
_ARGUMENTS = ("as_of", "at")
_USAGE = (
    "to_table takes the name of a dataset, and as texts as_of (an offset, the hash of a block or a system "
    "time) and at (an event time)."
)
_MOMENTS = frozenset({"timestamp", "timestamp_ntz", "timestamp_ltz", "date"})
_SUBQUERIES = frozenset({"ScalarSubquery", "Exists", "ListQuery", "LateralSubquery"})


def tables_of(session: SparkSession, sql: str) -> list[TablePlace]:
    """Each place where the query names a table; names that it defines itself are left out.

    Raises what the parser raises.
    """
    plan = session._jsparkSession.sessionState().sqlParser().parsePlan(sql)
    own: set[str] = set()
    found = [_without_alias(item, sql) for item in _walk(plan, sql, own, under_alias=False)]
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


def _walk(plan: Any, sql: str, own: set[str], *, under_alias: bool) -> Iterator[TablePlace]:
    kind = plan.getClass().getSimpleName()
    if kind == _TRAVEL:
        yield _travelled(plan, sql, under_alias)
        return
    if kind == _RELATION:
        yield _place(plan, plan, under_alias)
        return
    if kind == _FUNCTION and [name.lower() for name in _items(plan.name())] == [_FOLD]:
        yield _folded(plan, sql, under_alias)
        return
    if kind == _WITH:
        for item in _items(plan.cteRelations()):
            own.add(item._1().lower())
            yield from _walk(item._2(), sql, own, under_alias=True)
    for expression in _items(plan.expressions()):
        yield from _in_expression(expression, sql, own)
    for child in _items(plan.children()):
        yield from _walk(child, sql, own, under_alias=kind == _ALIAS)


def _in_expression(expression: Any, sql: str, own: set[str]) -> Iterator[TablePlace]:
    """Subqueries hide in expressions: IN, EXISTS, scalar ones."""
    if expression.getClass().getSimpleName() in _SUBQUERIES:
        yield from _walk(expression.plan(), sql, own, under_alias=False)
    for child in _items(expression.children()):
        yield from _in_expression(child, sql, own)


def _place(relation: Any, last: Any, under_alias: bool) -> TablePlace:
    return TablePlace(
        name=".".join(_items(relation.multipartIdentifier())),
        start=_option(relation.origin().startIndex()),
        stop=_option(last.origin().stopIndex()),
        has_alias=under_alias,
    )


def _travelled(travel: Any, sql: str, under_alias: bool) -> TablePlace:
    place = _place(travel.relation(), travel, under_alias)
    timestamp = _option(travel.timestamp())
    return msgspec.structs.replace(
        place,
        as_of=_option(travel.version()) if timestamp is None else _literal(timestamp, sql),
        as_of_is_time=timestamp is not None,
    )


def _folded(function: Any, sql: str, under_alias: bool) -> TablePlace:
    table, *others = _items(function.functionArgs())
    told: dict[str, str | None] = {}
    for name, item in zip(_ARGUMENTS, others, strict=False):
        if item.getClass().getSimpleName() == "NamedArgumentExpression":
            name, item = item.key().lower(), item.value()
        if name in told or name not in _ARGUMENTS:
            raise InvalidEngineRequest(_USAGE)
        told[name] = None if _is_null(item) else _literal(item, sql)
    if table.getClass().getSimpleName() != "UnresolvedAttribute" or len(others) > len(_ARGUMENTS):
        raise InvalidEngineRequest(_USAGE)
    return TablePlace(
        name=".".join(_items(table.nameParts())),
        start=_option(function.origin().startIndex()),
        stop=_option(function.origin().stopIndex()),
        has_alias=under_alias,
        fold=True,
        as_of=told.get("as_of"),
        at=told.get("at"),
    )


def _is_null(expression: Any) -> bool:
    return expression.getClass().getSimpleName() == _LITERAL and expression.value() is None


def _literal(expression: Any, sql: str) -> str:
    """The text of a literal; of a date or timestamp what the query has in its quotes, whatever it became:
    'now' became what the clock said, and is then no time."""
    if expression.getClass().getSimpleName() == _LITERAL and not _is_null(expression):
        if expression.dataType().typeName() not in _MOMENTS:
            return str(expression.value())
        origin = expression.origin()
        written = sql[_option(origin.startIndex()) : _option(origin.stopIndex()) + 1]
        return written.partition("'")[2].rstrip("'")
    raise InvalidEngineRequest(
        "A table can be asked for as of a literal only, such as '2024-01-01T00:00:00Z'."
    )


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
