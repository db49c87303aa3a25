"""The gates: a query passes when all of its plan is on the lists of what is allowed (spark.md 1.3, 1.4).

Lists of what is forbidden would miss the clock, the user, samples, scripts and whatever a new version
of Spark brings, none of which Spark itself calls nondeterministic. The parsed plan is judged before it is
analysed, for analysing opens files and runs scripts; the analysed plan shows what bare words turned into.
"""

import weakref
from functools import cache
from pathlib import Path
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import SparkSession

from odf_core.engines.errors import EngineFailed, QueryRefused
from odf_core.engines.spark.gates.places import Place, place_at
from odf_core.engines.spark.gates.sentences import reason
from odf_core.engines.spark.gates.understand import query_invalid
from odf_core.engines.spark.java_source import JavaHelper

_LISTS = Path(__file__).with_name("allowed")
_helpers: "weakref.WeakKeyDictionary[Any, JavaHelper]" = weakref.WeakKeyDictionary()


def check_query(session: SparkSession, sql: str, inputs: set[str]) -> None:
    """Looks at a query without running it. It may read the temporary views named `inputs`, nothing else.

    Raises `QueryRefused` for what is not allowed and `QueryInvalid` for what Spark cannot understand, both
    with the place in the query where it is known.
    """
    java = _helper(session)
    jvm: Any = session._jvm
    jvm.SparkSession.setActiveSession(session._jsparkSession)
    setting = java.call("settings", [])
    if setting is not None:
        raise EngineFailed(f"Queries cannot be checked while the setting {setting} is on.")
    state: Any = session._jsparkSession.sessionState()
    names = "\n".join(sorted(name.lower() for name in inputs))
    try:
        parsed = state.sqlParser().parsePlan(sql)
        _refuse(java.call("parsed", [parsed, sql, names]), sql, inputs)
        analysed = state.executePlan(parsed, _skip(session)).analyzed()
    except (AnalysisException, ParseException) as error:
        raise query_invalid(error, sql) from error
    _refuse(java.call("analysed", [analysed, sql, names]), sql, inputs)


def prepare(session: SparkSession) -> None:
    """Compiles the walker, so that the first query does not wait for it."""
    _helper(session)


def _refuse(fault: str | None, sql: str, inputs: set[str]) -> None:
    """Raises `QueryRefused` for a fault that the walker found: `start stop kind name`."""
    if fault is None:
        return
    start, stop, kind, name = fault.split(" ", 3)
    place = place_at(sql, int(start), int(stop) + 1) if int(start) >= 0 else None
    raise QueryRefused(
        f"The query is not allowed{_where(place)}: {reason(kind, name, sorted(inputs))}.",
        objects=[name],
        extras={"kind": kind, "name": name, **({"place": place.to_json()} if place else {})},
    )


def _where(place: Place | None) -> str:
    return f" at line {place.line}, column {place.column} ({place.fragment})" if place else ""


def _helper(session: SparkSession) -> JavaHelper:
    """The compiled walker of this process's Java, with the lists set."""
    context = session.sparkContext
    known = _helpers.get(context)
    if known is None:
        known = JavaHelper(session, "gates/OdfGate.java", "OdfGate")
        known.call("allow", [" ".join(_names(name)) for name in _ORDER])
        _helpers[context] = known
    return known


_ORDER = ("parsed_plans", "analysed_plans", "functions", "table_functions", "expressions")


@cache
def _names(name: str) -> list[str]:
    lines = (_LISTS / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


def _skip(session: SparkSession) -> Any:
    """The mode in which a plan that is a command is not carried out."""
    jvm: Any = session._jvm
    return jvm.org.apache.spark.sql.execution.CommandExecutionMode.SKIP()
