"""Addresses of stores."""

from pathlib import Path
from typing import Any

import pytest

from odf_core.storage import (
    DirectoryStore,
    InvalidKey,
    InvalidStoreUrl,
    MemoryStore,
    PrefixStore,
    S3Config,
    StoreAccessDenied,
    open_store,
)
from odf_core.storage.s3 import S3Store
from tests.services import S3Bucket
from tests.storage.conftest import s3_config


def test_directories(tmp_path: Path) -> None:
    folder = tmp_path / "with space"
    for address in (folder, folder.as_uri(), f"file://localhost{folder.as_uri()[7:]}"):
        store = open_store(address)
        assert isinstance(store, DirectoryStore)
        assert store.root == folder


def test_memory() -> None:
    assert isinstance(open_store("memory:"), MemoryStore)


def test_buckets(s3_bucket: S3Bucket, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", s3_bucket.access_key_id)
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", s3_bucket.secret_access_key)
    folder: Any = open_store(f"s3://{s3_bucket.bucket}/some/folder/?endpoint={s3_bucket.endpoint}")
    whole: Any = open_store(s3_config(s3_bucket))
    assert isinstance(folder, PrefixStore)
    assert isinstance(whole, S3Store)
    folder.write("x", b"x", size=1)
    assert whole.read("some/folder/x", max_bytes=1) == b"x"
    whole.close()
    getattr(folder, "_store").close()  # noqa: B009


def test_a_bucket_on_aws(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    store: Any = open_store("s3://bucket?region=eu-west-1")
    assert store._s3.meta.endpoint_url == "https://s3.eu-west-1.amazonaws.com"
    store.close()
    assert issubclass(StoreAccessDenied, Exception)


@pytest.mark.parametrize(
    "address",
    [
        "", "folder", "http://host/x", "file://host/x", "file:", "memory://x", "memory:/x", "s3:bucket", "s3://",
        "s3://bucket?unknown=1", "s3://bucket?addressing_style=sideways", "s3://user:password@bucket/",
        "s3://bucket:9000/x",
    ],
)  # fmt: skip
def test_addresses_of_nothing(address: str) -> None:
    with pytest.raises(InvalidStoreUrl) as refused:
        open_store(address)
    assert refused.value.objects == (address,)


@pytest.mark.parametrize("prefix", ["no-slash", "/x/", "a//", "../"])
def test_views_of_no_folder(prefix: str) -> None:
    with pytest.raises(InvalidKey):
        PrefixStore(MemoryStore(), prefix)


def test_a_configuration_is_a_value() -> None:
    assert S3Config(bucket="b") == S3Config(bucket="b")
