"""Whether the Spark engine of an environment evaluates anything at all."""

import pyarrow as pa

from odf_core.engines.environments.errors import EngineDoesNotRun
from odf_core.engines.environments.records import Environment
from odf_core.engines.handle import SparkEngine
from odf_core.engines.options import SparkOptions
from odf_core.engines.transforming import SparkTransforms
from odf_core.errors import OdfError
from odf_core.metadata import SqlQueryStep, TransformSql
from odf_core.transform.port import TableSchema
from odf_core.transform.request import DatasetVocabulary

_SECONDS = 180
_COLUMNS = pa.schema(
    [
        pa.field("offset", pa.int64()),
        pa.field("op", pa.int32()),
        pa.field("system_time", pa.timestamp("ms", "UTC")),
        pa.field("event_time", pa.timestamp("ms", "UTC")),
        pa.field("k", pa.utf8()),
        pa.field("v", pa.float64()),
    ]
)
_QUERIES = (
    "select event_time, k, v from t where v > 0",
    "select window.start as event_time, k, sum(v) as v from "
    "(select window(event_time, '1 hour') as window, k, v from t) group by window, k",
)


def prove_spark(environment: Environment, options: SparkOptions) -> None:
    """Has the environment's Spark judge two queries, then ends it. Raises `EngineDoesNotRun`."""
    for told in environment.record.told.engines:
        if told.name != SparkTransforms.name:
            continue
        engine = SparkEngine(options, environment.program(told.identity))
        vocabulary = DatasetVocabulary()
        table = TableSchema("t", _COLUMNS, vocabulary)
        try:
            for query in _QUERIES:
                transform = TransformSql(engine="spark", queries=(SqlQueryStep(query=query),))
                SparkTransforms(engine, _SECONDS).validate(transform, [table], vocabulary)
        except OdfError as error:
            raise EngineDoesNotRun(
                f"Spark {told.packages.get('pyspark', '')} does not run with the code of this release: "
                f"{error.message}",
                extras={"cause": error.code},
            ) from error
        finally:
            engine.stop()
