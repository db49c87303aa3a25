"""Queries to frames: nothing but queries, over nothing but their inputs, giving the same each time."""

import re
from collections.abc import Sequence
from typing import Any

from datafusion import RuntimeEnvBuilder, SessionConfig, SessionContext, SQLOptions

from odf_core.engines.datafusion.tables import InputTable, quoted
from odf_core.engines.errors import EngineFailed, QueryInvalid, QueryRefused
from odf_core.engines.transform_calls import QueryStep
from odf_core.errors import OdfError

UNREPEATABLE = (
    "now",
    "today",
    "current_date",
    "current_time",
    "current_timestamp",
    "rand",
    "random",
    "uuid",
    "version",
)
"""Functions that are taken out: they would give something else each time."""

_QUERIES = SQLOptions().with_allow_ddl(False).with_allow_dml(False).with_allow_statements(False)
_ABSENT = re.compile(r"(?:Invalid function '|No field named \"?)(" + "|".join(UNREPEATABLE) + r")\b", re.I)
_NO_TABLE = re.compile(r"table '(?:datafusion\.public\.)?(.*)' not found")
_NO_QUERY = re.compile(r"(?:DDL|DML|Statement) not supported", re.I)
_MEMORY = re.compile(r"Resources exhausted", re.I)


def new_context(memory_bytes: int) -> SessionContext:
    """One partition, identifiers as they are written, no scratch files (data.md 4.5)."""
    config = SessionConfig(
        {
            "datafusion.sql_parser.enable_ident_normalization": "false",
            "datafusion.execution.time_zone": "+00:00",
        }
    )
    pool = RuntimeEnvBuilder().with_disk_manager_disabled().with_greedy_memory_pool(memory_bytes // 2)
    context = SessionContext(config.with_target_partitions(1), pool)
    for name in UNREPEATABLE:
        context.deregister_udf(name)
    return context


def planned(context: SessionContext, steps: Sequence[QueryStep], tables: Sequence[InputTable]) -> Any:
    """The frame of the result: of the step without an alias, or else of the last.

    Raises `QueryRefused`, `QueryInvalid`.
    """
    if not steps:
        raise QueryInvalid("The transformation has no query.")
    results = [step for step in steps if step.alias is None]
    if len(results) > 1:
        raise QueryInvalid("The transformation has two queries without an alias; only its result has none.")
    result, frame = results[0] if results else steps[-1], None
    for step in steps:
        made = _frame(context, step.query, tables)
        if step is result:
            frame = made
        if step.alias is not None:
            try:
                context.register_view(quoted(step.alias), made)
            except Exception as error:
                raise QueryInvalid(f"The name {step.alias!r} is taken: {_words(error)}.") from error
    return frame


def _frame(context: SessionContext, query: str, tables: Sequence[InputTable]) -> Any:
    try:
        return context.sql_with_options(query, _QUERIES)
    except Exception as error:
        raise _refusal(error, tables) from error


def failed(error: Exception) -> OdfError:
    """What it means that the evaluation of a query ends with `error`."""
    words = _words(error)
    if _MEMORY.search(words):
        return EngineFailed(f"The query needs more memory than it may have: {words}.")
    return QueryInvalid(f"The query fails: {words}.")


def _refusal(error: Exception, tables: Sequence[InputTable]) -> OdfError:
    words = _words(error)
    if (absent := _ABSENT.search(words)) is not None:
        return QueryRefused(
            f"The query uses {absent[1].lower()}, which gives something else each time; take times from "
            f"the inputs.",
            objects=[absent[1].lower()],
        )
    if (missing := _NO_TABLE.search(words)) is not None:
        here = ", ".join(table.name for table in tables) or "none"
        return QueryInvalid(
            f"The query reads {missing[1]!r}, which is none of its inputs (they are: {here}).",
            objects=[missing[1]],
        )
    if _NO_QUERY.search(words):
        return QueryRefused(f"Only queries may be in a transformation: {words}.")
    return QueryInvalid(f"The query cannot run: {words}.")


def _words(error: Exception) -> str:
    """What DataFusion says, without the plans that follow and the names of its layers."""
    return str(error).strip().split("\n")[0].rstrip(".")
