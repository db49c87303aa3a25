"""What PySpark, py4j and Python raise, as errors of the project: foreign exceptions end here."""

import logging

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import AnalysisException, ParseException, PySparkException

from odf_core.engines.errors import EngineFailed, QueryInvalid
from odf_core.engines.spark.gates.places import place_of_exception
from odf_core.errors import OdfError

_log = logging.getLogger(__name__)
_MOST_CHARS = 2000


def as_odf_error(error: Exception) -> OdfError:
    """The error that the caller gets; what is a fault of the engine goes to its log."""
    if isinstance(error, OdfError):
        return error
    if isinstance(error, (AnalysisException, ParseException)):
        return query_invalid(error)
    _log.error("A call failed.", exc_info=error)
    if isinstance(error, PySparkException):
        condition = error.getCondition()
        return EngineFailed(f"Spark failed: {_first_line(error)}", extras={"condition": condition})
    if isinstance(error, Py4JNetworkError):
        return EngineFailed("Spark's Java ended while it worked on the call; the engine's log may say why.")
    if isinstance(error, Py4JError):
        return EngineFailed(f"Spark failed: {_first_line(error)}")
    return EngineFailed(f"The engine failed ({type(error).__name__}): {_first_line(error)}")


def query_invalid(error: PySparkException, sql: str | None = None) -> QueryInvalid:
    """What Spark says about a query that it cannot understand, with the place where it says one."""
    place = place_of_exception(error, sql)
    where = f" at line {place.line}, column {place.column}" if place else ""
    return QueryInvalid(
        f"The query cannot be understood{where}: {_first_line(error)}",
        extras={"condition": error.getCondition(), **({"place": place.to_json()} if place else {})},
    )


def _first_line(error: Exception) -> str:
    """Spark's sentence without its name tag, plan and stack trace."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    text = lines[0] if lines else type(error).__name__
    if text.startswith("["):
        text = text.partition("] ")[2] or text
    return text.removesuffix(" SQLSTATE")[:_MOST_CHARS]
