"""What Spark says about a query that it cannot understand, as an error of the project."""

import re

from pyspark.errors import PySparkException

from odf_core.engines.errors import QueryInvalid
from odf_core.engines.spark.gates.places import place_of_exception

_TAG = re.compile(r"^\[[A-Z_.]+\] ")
_STATE = re.compile(r"\s*SQLSTATE: \w{5}\b.*$")
_MOST_CHARS = 1000


def query_invalid(error: PySparkException, sql: str | None = None) -> QueryInvalid:
    """Spark's sentence, with the place where it tells one."""
    place = place_of_exception(error, sql)
    where = f" at line {place.line}, column {place.column}" if place else ""
    return QueryInvalid(
        f"The query cannot be understood{where}: {first_line(error)}",
        extras={"condition": error.getCondition(), **({"place": place.to_json()} if place else {})},
    )


def first_line(error: BaseException) -> str:
    """What an exception says, without Spark's name for it, plans and stack traces."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    return _STATE.sub("", _TAG.sub("", text))[:_MOST_CHARS]
