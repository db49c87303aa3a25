"""A cluster whose workers see nothing of the caller's folders: files go by S3, results come back by S3.

The workers are fenced off from this test's files, so a path that was handed to them would be an error. As
`test_cluster.py`, with a download of 600 MB the first time: ODF_TEST_FULL=1.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from app.ingest.engine import engine_options, slice_urls
from app.settings import load_settings
from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.engines.query_job import Fold, QueryJob, Table
from odf_core.engines.querying import SparkQueries
from odf_core.identity import SHA3_256, DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.ingest.merge_job import OP_COLUMN, MergeJob, Names, Strategy, pack_schema
from tests.engines.hadoop_aws import package_conf
from tests.engines.spark_cluster import Cluster
from tests.services import S3Bucket
from tests.spark_fixture import shared_engine

pytestmark = [
    pytest.mark.skipif(not os.environ.get("ODF_TEST_FULL"), reason="only with ODF_TEST_FULL=1"),
    pytest.mark.timeout(1200),  # five JVMs and 600 MB of classes: minutes where the machine is busy
]

SECONDS = 600.0
KNOWN = pa.schema(
    [
        pa.field("offset", pa.int64()),
        pa.field("op", pa.int32()),
        pa.field("event_time", pa.timestamp("ms", "UTC")),
        pa.field("id", pa.int64()),
        pa.field("name", pa.string()),
    ]
)
NEW = pa.schema([("event_time", pa.timestamp("ms", "UTC")), ("id", pa.int64()), ("name", pa.string())])
QUERY = "select name, count(*) as n, sum(id) as s from t group by name order by name"


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    cluster = Cluster(tmp_path_factory.mktemp("cluster"), workers=2, fenced=True)
    yield cluster
    cluster.stop()


@pytest.fixture
def remote(cluster: Cluster, s3_bucket: S3Bucket, tmp_path: Path) -> Iterator["Remote"]:
    remote = Remote(cluster, s3_bucket, tmp_path)
    yield remote
    remote.engine.stop()


class Remote:
    """An engine on the cluster, as a node beside it makes one from its settings, and the node's bucket."""

    def __init__(self, cluster: Cluster, bucket: S3Bucket, folder: Path) -> None:
        packages, repository = package_conf(folder)
        driver = (
            ("spark.driver.bindAddress", "127.0.0.1"),
            ("spark.driver.host", "127.0.0.1"),
            ("spark.executor.memory", "450m"),
            ("spark.sql.shuffle.partitions", "3"),
        )
        self.bucket, self.client = bucket, bucket.client()
        self.work = f"{bucket.bucket}-work"
        self.client.create_bucket(Bucket=self.work)
        self.settings = load_settings(
            s3={
                "endpoint": bucket.endpoint,
                "region": bucket.region,
                "bucket": bucket.bucket,
                "prefix": "datasets",
                "access_key_id": bucket.access_key_id,
                "secret_access_key": bucket.secret_access_key,
            },
            spark={
                "master": cluster.url,
                "memory": "1g",
                "work_dir": folder / "engine",
                "folders": [repository],
                "conf": dict((*packages, *driver)),
                "exchange": f"s3a://{self.work}",
            },
        )
        runtime = shared_engine().options.runtime_dir
        self.engine = SparkEngine(replace(engine_options(self.settings), runtime_dir=runtime))

    def stored(self, files: tuple[str, ...]) -> tuple[str, ...]:
        """The files as slices in the node's bucket, by their URLs."""
        urls = slice_urls(self.settings)
        assert urls is not None
        dataset = DatasetId(bytes(32))
        found = []
        for number, file in enumerate(files):
            name = Multihash(SHA3_256, bytes([number] * 32))
            url = urls(dataset, ObjectRef(ObjectKind.DATA_SLICE, name, None))
            self.client.upload_file(file, self.bucket.bucket, url.split("/", 3)[3])
            found.append(url)
        return tuple(found)

    def left_over(self) -> list[str]:
        """What is in the exchange."""
        listed = self.client.list_objects_v2(Bucket=self.work)
        return [item["Key"] for item in listed.get("Contents", ())]


def slices(folder: Path) -> tuple[str, ...]:
    """A history of 900 records in three files, the last of which corrects some of the first."""
    files = []
    for number in range(3):
        ids = [number * 300 + row if number < 2 else row for row in range(300)]
        rows = {
            "offset": [number * 300 + row for row in range(300)],
            "op": [0 if number < 2 else 3] * 300,
            "event_time": [1_700_000_000_000 + row for row in ids],
            "id": ids,
            "name": [f"n{(row + number) % 7}" for row in ids],
        }
        path = folder / f"slice-{number}.parquet"
        pq.write_table(pa.table(rows, KNOWN), path)
        files.append(str(path))
    return tuple(files)


def arrivals(folder: Path) -> str:
    """100 records of which 50 are known, some of them changed."""
    ids = list(range(550, 650))
    rows = {
        "event_time": [1_700_000_000_000 + row for row in ids],
        "id": ids,
        "name": [f"n{i % 5}" for i in ids],
    }
    path = folder / "new.parquet"
    pq.write_table(pa.table(rows, NEW), path)
    return str(path)


def merge_job(kind: Any, new: str, history: tuple[str, ...]) -> MergeJob:
    return MergeJob(
        input_files=(new,),
        input_schema=pack_schema(NEW),
        num_records=100,
        strategy=Strategy(kind=kind, primary_key=("id",)),
        names=Names(),
        history_files=history,
        history_schema=pack_schema(KNOWN),
    )


def merged(engine: SparkEngine, job: MergeJob) -> list[dict[str, Any]]:
    with SparkMerges(engine, SECONDS).merge(job) as outcome:
        return [row for part in outcome.parts for row in pq.read_table(part).to_pylist()]


def test_merges_and_queries_over_s3_on_a_cluster_give_what_they_give_here(
    remote: Remote, cluster: Cluster, tmp_path: Path
) -> None:
    here = slices(tmp_path)
    there = remote.stored(here)
    assert all(url.startswith(f"s3a://{remote.bucket.bucket}/datasets/") for url in there)
    new = arrivals(tmp_path)
    local = shared_engine()
    for kind, records in (("Ledger", 50), ("UpsertStream", 90)):
        result = merged(remote.engine, merge_job(kind, new, there))
        assert result == merged(local, merge_job(kind, new, here))
        assert len([row for row in result if row[OP_COLUMN] == 0]) == 50
        assert len(result) >= records

    fold = Fold(primary_key=("id",), names=Names())
    for sql, folded in ((QUERY, None), (QUERY, fold)):
        answers = []
        for engine, files in ((remote.engine, there), (local, here)):
            table = Table(files=files, schema=pack_schema(KNOWN), offset_column="offset", fold=folded)
            answers.append(SparkQueries(engine, SECONDS).run(QueryJob(sql=sql, tables={"t": table})))
        assert answers[0].equals(answers[1])
        assert sum(answers[0]["n"].to_pylist()) == (900 if folded is None else 600)

    assert list(cluster.folder.glob("worker-*/app-*/*"))  # where a worker ran an executor
    assert not remote.left_over()
    _keeps_its_secret(remote, cluster)


def _keeps_its_secret(remote: Remote, cluster: Cluster) -> None:
    """The key of S3 is in no log and in no command line."""
    secret = remote.bucket.secret_access_key.encode()
    logs = [remote.engine.folders.log, *cluster.folder.rglob("*.log"), *cluster.folder.rglob("std???")]
    assert len(logs) >= 5
    commands = list(Path("/proc").glob("[0-9]*/cmdline"))
    for path in (*logs, *commands):
        try:
            content = path.read_bytes()
        except (FileNotFoundError, ProcessLookupError):
            continue
        assert secret not in content, path
    assert remote.bucket.secret_access_key not in repr(remote.engine.options)
    assert remote.bucket.secret_access_key not in repr(remote.settings)
