"""Stores to test: `store` is each implementation in turn, on real servers where it needs one.

mortal_rclone  an rclone of the test's own, to kill or pause
embedded       an EmbeddedS3Store on the run's server, in `embedded_bucket`
gap_errors     what a reader of `store` may get while an object is replaced
s3_store       an S3Store on the run's server, in a bucket of its own
"""

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from app.embedded.s3 import CONTROL_SOCKET
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
from odf_core.storage.control import RcloneControl
from odf_core.storage.embedded import EmbeddedS3Store
from odf_core.storage.s3 import S3Store
from odf_core.storage.s3_client import S3Clients
from tests.services import Addresses, S3Bucket, S3Server, fresh_bucket
from tests.storage.rclone_process import RcloneProcess

KINDS = ["memory", "directory", "s3", "embedded", "view of embedded"]


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


@pytest.fixture(scope="session")
def s3_clients(s3_server: S3Server) -> Iterator[S3Clients]:
    """Made once: it takes a third of a second."""
    clients = S3Clients(s3_config(S3Bucket(**asdict(s3_server), bucket="any")))
    yield clients
    clients.close()


@pytest.fixture
def s3_store(s3_server: S3Server, s3_client: Any, s3_clients: S3Clients) -> S3Store:
    return S3Store(s3_config(fresh_bucket(s3_server, s3_client)), clients=s3_clients)


@pytest.fixture
def embedded_bucket(s3_server: S3Server, s3_client: Any) -> S3Bucket:
    return fresh_bucket(s3_server, s3_client)


@pytest.fixture
def embedded(services: Addresses, embedded_bucket: S3Bucket, s3_clients: S3Clients) -> EmbeddedS3Store:
    server = S3Store(s3_config(embedded_bucket), clients=s3_clients)
    control = RcloneControl(Path(services.socket_dir) / CONTROL_SOCKET)
    return EmbeddedS3Store(embedded_bucket.root, embedded_bucket.bucket, server, control)


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
