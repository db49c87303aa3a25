"""What Spark says about a query that it cannot understand, as an error of the project."""

import re

from pyspark.errors import PySparkException

from odf_core.engines.errors import QueryInvalid
from odf_core.engines.spark.gates.places import place_of_exception

_TAG = re.compile(r"^\[[A-Z_.]+\] ")
_STATE = re.compile(r"\s*SQLSTATE: \w{5}\b.*$")
_MOST_CHARS = 1000


_ADVICE = {
    "PARSE_SYNTAX_ERROR": "look for a misspelt word, a missing comma or a bracket just before that place",
    "UNRESOLVED_COLUMN": "`select * from ... limit 1` shows the columns of a table",
    "UNRESOLVED_ROUTINE": "correct the function's name; queries are in Spark SQL",
    "DATATYPE_MISMATCH": "cast one side to the type of the other, as in `cast(x as bigint)`",
    "WRONG_NUM_ARGS": "see the function's arguments in the reference of Spark SQL",
    "MISSING_AGGREGATION": "put the column into GROUP BY, or into a function such as `max(x)`",
    "MISSING_GROUP_BY": "add a GROUP BY with the columns that are not aggregated",
    "AMBIGUOUS_REFERENCE": "say whose column it is, as in `t.x`",
}
"""What to do, by the first part of Spark's name for the trouble."""


def query_invalid(error: PySparkException, sql: str | None = None) -> QueryInvalid:
    """Spark's sentence, with the place where it tells one, and what to do."""
    place = place_of_exception(error, sql)
    where = f" at line {place.line}, column {place.column}" if place else ""
    condition = error.getCondition() or ""
    advice = _ADVICE.get(condition.split(".")[0], "correct the query")
    return QueryInvalid(
        f"The query cannot be understood{where}: {_told(error)}; {advice}.",
        extras={"condition": condition or None, **({"place": place.to_json()} if place else {})},
    )


def _told(error: PySparkException) -> str:
    """Spark's words as a clause; of an unknown column the nearest that there are."""
    parameters = error.getMessageParameters() or {}
    name, nearest = parameters.get("objectName"), parameters.get("proposal")
    if (error.getCondition() or "").startswith("UNRESOLVED_COLUMN") and name:
        return f"there is no column {name}" + (f" (the nearest are {nearest})" if nearest else "")
    return first_line(error).rstrip(". ")


def first_line(error: BaseException) -> str:
    """What an exception says, without Spark's name for it, plans and stack traces."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return _STATE.sub("", _TAG.sub("", text))[:_MOST_CHARS]
