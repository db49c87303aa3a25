"""Settings of one small call: compiling code for it takes longer than running it (spark.md 5)."""

from collections.abc import Iterable
from pathlib import Path

from pyspark.sql import SparkSession

from odf_core.engines.exchange import REMOTE

_SMALL_BYTES = 16 << 20
_FOR_SMALL = {
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.leafNodeDefaultParallelism": "1",
}


def tune(session: SparkSession, files: Iterable[str]) -> None:
    """Set `session`, which is of one call only, for files of this size; on S3 they are not called small."""
    paths = list(files)
    if any(path.startswith(REMOTE) for path in paths):
        return  # asking a store for sizes would cost more than it saves
    if sum(Path(path).stat().st_size for path in paths) <= _SMALL_BYTES:
        for name, value in _FOR_SMALL.items():
            session.conf.set(name, value)
