"""The fixtures themselves: fresh, real, apart from each other."""

from typing import Any

import psycopg
import pytest

from tests.services import S3Bucket


def _connect(url: str) -> psycopg.Connection:
    return psycopg.connect(url.replace("postgresql+psycopg", "postgresql"), autocommit=True)


@pytest.mark.parametrize("round_", [1, 2])
def test_each_test_has_a_database_of_its_own(database_url: str, round_: int) -> None:
    with _connect(database_url) as connection:
        connection.execute("CREATE TABLE only_here (n int)")
        assert connection.execute("SHOW server_version_num").fetchone()[0].startswith("18")  # type: ignore[index]


@pytest.mark.parametrize("round_", [1, 2])
def test_each_test_has_a_bucket_of_its_own(s3_bucket: S3Bucket, s3_client: Any, round_: int) -> None:
    assert s3_client.list_objects_v2(Bucket=s3_bucket.bucket).get("Contents", []) == []
    s3_client.put_object(Bucket=s3_bucket.bucket, Key="a/b", Body=b"bytes")
    assert s3_client.get_object(Bucket=s3_bucket.bucket, Key="a/b")["Body"].read() == b"bytes"
