"""`spark.master = spark://…`: a master and two workers of the installed PySpark do the work.

Four JVMs need a minute of a machine with two cores, so it is asked for: ODF_TEST_FULL=1.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.handle import SparkEngine
from odf_core.engines.sandbox.landlock import restricts_ports
from tests.engines.spark_cluster import Cluster
from tests.spark_fixture import shared_engine

pytestmark = [
    pytest.mark.skipif(not os.environ.get("ODF_TEST_FULL"), reason="only with ODF_TEST_FULL=1"),
    pytest.mark.timeout(600),
]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), workers=2)
    yield cluster
    cluster.stop()


def test_a_query_runs_on_the_workers_of_a_cluster(cluster: Cluster, tmp_path: Path) -> None:
    conf = (
        ("spark.driver.bindAddress", "127.0.0.1"),
        ("spark.driver.host", "127.0.0.1"),
        ("spark.executor.memory", "450m"),
        ("spark.sql.shuffle.partitions", "3"),
    )
    engine = SparkEngine(
        replace(shared_engine().options, master=cluster.url, conf=conf, memory="1g", work_dir=tmp_path)
    )
    try:
        with engine.exchange() as exchange:
            path = exchange.inputs / "in.parquet"
            pq.write_table(pa.table({"k": [i % 5 for i in range(1000)], "v": list(range(1000))}), path)
            request = {
                "engine": "spark",
                "steps": [{"alias": None, "query": "select k, sum(v) as s from input group by k order by k"}],
                "inputs": [str(path)],
                "output": str(exchange.folder / "out.parquet"),
            }
            assert engine.run("raw_query", request, deadline=250) == {"num_records": 5}
            sums = pq.read_table(exchange.folder / "out.parquet").column("s").to_pylist()
            assert sums == [sum(range(k, 1000, 5)) for k in range(5)]
    finally:
        engine.stop()
    assert engine.info is not None
    assert engine.info["master"] == cluster.url
    assert "reaches its Spark cluster" in engine.info["fence"]["network"]
    assert engine.info["fence"]["network"].startswith("landlock, TCP to" if restricts_ports() else "none")
    assert list(cluster.folder.glob("worker-*/app-*/*"))  # where a worker ran an executor
