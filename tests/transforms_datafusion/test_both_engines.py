"""The same query on both engines, through the same port: the same rows, operations, offsets and hashes."""

import pyarrow as pa
import pytest

from odf_core.engines.datafusion.transform import DataFusionTransforms
from odf_core.engines.transforming import SparkTransforms
from tests.spark_fixture import spark_engine
from tests.transforms_spark.stepping import Derived, Input

__all__ = ["spark_engine"]

COLUMNS = pa.schema([pa.field("k", pa.string()), pa.field("v", pa.float64()), pa.field("n", pa.int64())])
RECORDS = [
    (0, 1, "x", 0.1, 1),
    (0, 2, "y", float("nan"), 2),
    (0, 2, None, -0.0, -1),
    (2, 1, "x", 0.1, 1),
    (3, 1, "x", 0.2, 5),
    (1, 2, "y", float("nan"), 2),
    (2, 2, None, -0.0, -1),
    (3, 2, "z", None, 4),
]
QUERIES = {
    "filter": "select op, event_time, k, v, n from a where n > 0",
    "project": "select op, event_time, upper(k) as k, v * 2 as v, n + 1 as n from a",
    "union": "select op, event_time, k, n from a where n > 0 union all "
    "select op, event_time, k, -n as n from a",
    "two_steps": [
        ("kept", "select op, event_time, k, n from a where n <> 2"),
        (None, "select op, event_time, k, case when n > 3 then 'many' else 'few' end as c from kept"),
    ],
}


@pytest.mark.parametrize("name", sorted(QUERIES))
def test_both_engines_leave_the_same(name, spark_engine, tmp_path):
    source = Input("a", COLUMNS, tmp_path)
    slices = [source.slice(RECORDS[:3]), source.slice(RECORDS[3:])]
    told = []
    for engine in (SparkTransforms(spark_engine, 120.0), DataFusionTransforms()):
        made = Derived(engine, [source], QUERIES[name], tmp_path, version=engine.version())
        steps = [made.step([part], [place]) for place, part in enumerate(slices)]
        told.append([(step.logical_hash, step.interval, step.watermark) for step in steps])
        assert all(
            step.table.schema.names[:4] == ["offset", "op", "system_time", "event_time"] for step in steps
        )
    assert told[0] == told[1]
