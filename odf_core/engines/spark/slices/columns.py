"""Columns by name: quoting, and the names that no dataset has."""

from pyspark.sql import Column
from pyspark.sql import functions as F

from odf_core.ingest.merge_job import OP_COLUMN

ROW = "__odf_row"
"""Place of a record in the source: the last tie-breaker of every order."""

OP = OP_COLUMN
OLD = "__odf_old_"
"""Before the names of columns of the current state."""


def col(name: str) -> Column:
    """The column of exactly this name, whatever characters it has."""
    return F.col("`" + name.replace("`", "``") + "`")


def old(name: str) -> Column:
    """The column of the current state."""
    return col(OLD + name)
