"""What PySpark, py4j and Python raise, as errors of the project: foreign exceptions end here."""

import logging

from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import AnalysisException, ParseException, PySparkException

from odf_core.engines.errors import EngineDied, EngineFailed
from odf_core.engines.spark.gates.understand import first_line, query_invalid
from odf_core.errors import OdfError

_log = logging.getLogger(__name__)


def as_odf_error(error: Exception) -> OdfError:
    """The error that the caller gets; what is a fault of the engine goes to its log."""
    if isinstance(error, OdfError):
        return error
    if isinstance(error, (AnalysisException, ParseException)):
        return query_invalid(error)
    _log.error("A call failed.", exc_info=error)
    if isinstance(error, (Py4JNetworkError, ConnectionError)):
        return EngineDied("Spark's Java ended while it worked on the call; the engine's log may say why.")
    if isinstance(error, PySparkException):
        condition = error.getCondition()
        return EngineFailed(f"Spark failed: {first_line(error)}", extras={"condition": condition})
    if isinstance(error, Py4JError):
        return EngineFailed(f"Spark failed: {first_line(error)}")
    return EngineFailed(f"The engine failed ({type(error).__name__}): {first_line(error)}")
