"""The current state that a changelog tells: its last record of each key, if that is no retraction."""

from collections.abc import Sequence

from pyspark.sql import DataFrame, Window
from pyspark.sql import functions as F

from odf_core.engines.spark.slices.columns import col
from odf_core.ingest.merge_job import Names

_RANK = "__odf_rank"
RETRACT = 1


def current_state(history: DataFrame, primary_key: Sequence[str], names: Names) -> DataFrame:
    """`history` without its superseded and retracted records (data.md 3.6)."""
    newest_first = Window.partitionBy(*[col(name) for name in primary_key]).orderBy(col(names.offset).desc())
    return (
        history.withColumn(_RANK, F.row_number().over(newest_first))
        .where((col(_RANK) == 1) & (col(names.operation_type) != RETRACT))
        .drop(_RANK)
    )
