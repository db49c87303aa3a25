"""Stores to test: `store` is each implementation in turn, on real servers where it needs one.

own_rclone     (session) an rclone with remote control; nothing kills it
mortal_rclone  a further one for tests that kill or pause it
embedded       an EmbeddedS3Store in a bucket of its own on `own_rclone`
gap_errors     what a reader of `store` may get while an object is replaced
s3_store       an S3Store on the run's server, in a bucket of its own
"""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from odf_core.errors import OdfError
from odf_core.storage import (
    DirectoryStore,
    MemoryStore,
    ObjectNotFound,
    ObjectStore,
    PrefixStore,
    S3Config,
    StoreUnavailable,
)
from odf_core.storage.embedded import EmbeddedS3Store
from odf_core.storage.s3 import S3Store
from tests.services import S3Bucket, S3Server, fresh_bucket
from tests.storage.rclone_process import RcloneProcess

KINDS = ["memory", "directory", "s3", "embedded", "view of directory", "view of s3", "view of embedded"]
_numbers = itertools.count(1)


@pytest.fixture(scope="session")
def own_rclone() -> Iterator[RcloneProcess]:
    with RcloneProcess() as process:
        yield process


@pytest.fixture
def mortal_rclone() -> Iterator[RcloneProcess]:
    with RcloneProcess() as process:
        yield process


def s3_config(bucket: S3Bucket) -> S3Config:
    return S3Config(
        bucket=bucket.bucket,
        endpoint=bucket.endpoint,
        region=bucket.region,
        access_key_id=bucket.access_key_id,
        secret_access_key=bucket.secret_access_key,
    )


@pytest.fixture
def s3_store(s3_server: S3Server, s3_client: Any) -> Iterator[S3Store]:
    store = S3Store(s3_config(fresh_bucket(s3_server, s3_client)))
    yield store
    store.close()


@pytest.fixture
def embedded(own_rclone: RcloneProcess) -> Iterator[EmbeddedS3Store]:
    name = f"embedded-{next(_numbers)}"
    own_rclone.make_bucket(name)
    store = own_rclone.embedded_store(name)
    yield store
    store.close()


@pytest.fixture
def gap_errors(request: pytest.FixtureRequest) -> tuple[type[OdfError], ...]:
    """What a reader may get while an object is *replaced*.

    Nothing, but through rclone 1.75.2: it unlinks the old file before it renames the new one, so an
    object is away for a moment (docs/adr/0003-embedded-promotion.md). AWS replaces without a gap.
    """
    kind = request.node.callspec.params["store"]
    return (ObjectNotFound, StoreUnavailable) if kind.endswith("s3") else ()


@pytest.fixture(params=KINDS)
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    kind = request.param.removeprefix("view of ")
    made: ObjectStore
    if kind == "memory":
        made = MemoryStore()
    elif kind == "directory":
        made = DirectoryStore(tmp_path / "store")
    else:
        made = request.getfixturevalue({"s3": "s3_store", "embedded": "embedded"}[kind])
    return made if kind == request.param else PrefixStore(made, "deep/er/")
