"""Our presigned URLs are botocore's, to the letter, at a stopped clock (stack.md 2.8)."""

from datetime import UTC, datetime, timedelta, timezone
from typing import Any

import boto3
import botocore.auth
import botocore.compat
import pytest
from botocore.config import Config

from odf_core.errors import InvalidInput
from odf_core.storage import InvalidKey, InvalidUrlLifetime
from odf_core.storage.credentials import Credentials
from odf_core.storage.presign import PresignedPut, Presigner, expires_at

NOW = datetime(2026, 11, 21, 1, 2, 3, 456789, tzinfo=UTC)
KEYS = ["data/f1620abc", "a b+c/ü~(x)!*'", "100%25/=&?#", "x"]
PLAIN = Credentials("AKIAEXAMPLE", "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY")
TEMPORARY = Credentials("ASIAEXAMPLE", "secret/with+signs", "token/with+signs==" * 10)


class StoppedClock(datetime):
    @classmethod
    def utcnow(cls) -> Any:
        return cls(*NOW.timetuple()[:6])

    @classmethod
    def now(cls, tz: Any = None) -> Any:
        return cls(*NOW.timetuple()[:6], tzinfo=tz)


@pytest.fixture(autouse=True)
def stopped_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    stopped = lambda *_, **__: StoppedClock.utcnow()  # noqa: E731
    monkeypatch.setattr(botocore.auth, "get_current_datetime", stopped, raising=False)
    monkeypatch.setattr(botocore.compat, "get_current_datetime", stopped, raising=False)


def theirs(credentials: Credentials, endpoint: str | None, region: str, style: str) -> Any:
    return boto3.session.Session(
        credentials.access_key_id, credentials.secret_access_key, credentials.session_token
    ).client(
        "s3",
        region_name=region,
        endpoint_url=endpoint,
        config=Config(signature_version="s3v4", s3={"addressing_style": style}),  # type: ignore[arg-type]
    )


@pytest.mark.parametrize("style", ["path", "virtual"])
@pytest.mark.parametrize("credentials", [PLAIN, TEMPORARY], ids=["plain", "temporary"])
@pytest.mark.parametrize(
    ("endpoint", "region"),
    [
        ("http://127.0.0.1:9000", "us-east-1"),
        ("https://s3.example.org", "eu-central-1"),
        ("https://s3.example.org:443", "us-east-1"),
        ("http://s3.example.org:80/", "us-east-1"),
        ("https://example.org/some/base", "us-east-1"),
        (None, "eu-west-1"),
    ],
)
def test_as_botocore_signs(credentials: Credentials, endpoint: str | None, region: str, style: Any) -> None:
    if style == "virtual" and endpoint is not None and "127.0.0.1" in endpoint:
        pytest.skip("botocore does not put a bucket before an IP address")
    client = theirs(credentials, endpoint, region, style)
    signer = Presigner(
        credentials, endpoint=endpoint, region=region, bucket="the-bucket", addressing_style=style
    )
    gets = signer.get_urls(KEYS, 3600, NOW)
    puts = signer.put_urls([(key, 12345) for key in KEYS], 604800, NOW)
    for key, get, put in zip(KEYS, gets, puts, strict=True):
        where = {"Bucket": "the-bucket", "Key": key}
        assert get == client.generate_presigned_url("get_object", where, 3600)
        sized = {**where, "ContentLength": 12345}
        assert put == PresignedPut(client.generate_presigned_url("put_object", sized, 604800), {})
    client.close()


def test_keys_are_below_the_prefix() -> None:
    folder, whole = (
        Presigner(PLAIN, endpoint="http://s3:9000", region="r", bucket="bucket", prefix=prefix)
        for prefix in ("odf/data sets/", "")
    )
    assert folder.get_urls(["a"], 60, NOW) == whole.get_urls(["odf/data sets/a"], 60, NOW)
    assert whole.origin == "http://s3:9000"


def test_the_time_zone_of_the_clock_does_not_matter() -> None:
    signer = Presigner(PLAIN, endpoint="http://s3:9000", region="r", bucket="bucket")
    elsewhere = NOW.astimezone(timezone(timedelta(hours=-9)))
    assert signer.get_urls(["a"], 60, NOW) == signer.get_urls(["a"], 60, elsewhere)


def test_credentials_are_asked_once_per_batch() -> None:
    asked = []

    def role() -> Credentials:
        asked.append(1)
        return Credentials(f"KEY{len(asked)}", "secret", "token")

    signer = Presigner(role, endpoint="http://s3:9000", region="r", bucket="bucket")
    first = signer.get_urls(["a", "b", "c"], 60)
    second = signer.put_urls([("a", 1), ("b", 2)], 60)
    assert all("Credential=KEY1%2F" in url for url in first)
    assert all("Credential=KEY2%2F" in put.url for put in second)
    assert signer.get_urls([], 60) == []


@pytest.mark.parametrize("seconds", [0, -1, 604_801])
def test_lifetimes_have_bounds(seconds: int) -> None:
    signer = Presigner(PLAIN, endpoint="http://s3:9000", region="r", bucket="bucket")
    with pytest.raises(InvalidUrlLifetime):
        signer.get_urls(["a"], seconds)
    with pytest.raises(InvalidUrlLifetime):
        signer.put_urls([("a", 1)], seconds)


def test_what_cannot_be_signed() -> None:
    signer = Presigner(PLAIN, endpoint="http://s3:9000", region="r", bucket="bucket")
    with pytest.raises(InvalidKey):
        signer.get_urls(["good", "../other-bucket/x"], 60)
    for endpoint in ("s3:9000", "ftp://s3", "http://", "nonsense"):
        with pytest.raises(InvalidInput):
            Presigner(PLAIN, endpoint=endpoint, region="r", bucket="bucket")


def test_when_a_url_ends() -> None:
    assert expires_at(60, NOW) == datetime(2026, 11, 21, 1, 3, 3, tzinfo=UTC)
    assert abs(expires_at(60) - datetime.now(UTC) - timedelta(seconds=60)) < timedelta(seconds=5)
