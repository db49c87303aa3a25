"""S3Store when S3 misbehaves: typed errors, within bounded times, and no wrong bytes."""

import io
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pytest

from odf_core.errors import OdfError
from odf_core.storage import (
    BucketNotFound,
    InvalidKey,
    InvalidRange,
    ObjectNotFound,
    S3Config,
    StoreAccessDenied,
    StoreMisbehaved,
    StoreUnavailable,
)
from odf_core.storage.s3 import S3Store
from tests.services import S3Bucket, S3Server
from tests.storage.conftest import s3_config
from tests.storage.fake_s3 import Answer, FakeS3, error
from tests.storage.rclone_process import RcloneProcess

BOUND_SECONDS = 20.0
BIG = 32 << 20  # more than the buffers of a connection hold


@pytest.fixture
def connect() -> Iterator[Callable[..., S3Store]]:
    """Makes impatient stores for an endpoint and closes them."""
    stores: list[S3Store] = []

    def make(endpoint: str, **changes: Any) -> S3Store:
        values: dict[str, Any] = {
            "bucket": "bucket", "endpoint": endpoint, "access_key_id": "key", "secret_access_key": "secret",
            "max_attempts": 2, "connect_seconds": 0.5, "read_seconds": 0.3, "copy_seconds": 0.3, **changes,
        }  # fmt: skip
        stores.append(S3Store(S3Config(**values)))
        return stores[-1]

    yield make
    for store in stores:
        store.close()


Connect = Callable[..., S3Store]

CALLS: dict[str, Callable[[S3Store], object]] = {
    "read": lambda store: store.read("a/b", max_bytes=100),
    "open": lambda store: store.open("a/b"),
    "open part": lambda store: store.open("a/b", start=1, end=3),
    "stat": lambda store: store.stat("a/b"),
    "write": lambda store: store.write("a/b", b"123", size=3),
    "write file": lambda store: store.write("a/b", io.BytesIO(b"123"), size=3),
    "copy": lambda store: store.copy("a/b", "c"),
    "claim": lambda store: store.claim("a/b").__enter__(),
    "delete": lambda store: store.delete(["a/b"]),
    "list": lambda store: list(store.list("a/")),
    "check": lambda store: store.check(),
}


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (error(503, "SlowDown"), StoreUnavailable),
        (error(500, "InternalError"), StoreUnavailable),
        (error(403, "SignatureDoesNotMatch"), StoreAccessDenied),
        (error(403, "AccessDenied"), StoreAccessDenied),
        (error(400, "AccessDenied"), StoreAccessDenied),  # rclone on clocks that differ
        (error(404, "NoSuchBucket"), BucketNotFound),
        (Answer(502, b"<html>proxy</html>"), StoreUnavailable),
    ],
    ids=lambda value: getattr(value, "__name__", None) or f"{value.status} {value.body[-60:-40]!r}",
)
def test_every_refusal_is_typed(connect: Connect, answer: Answer, expected: type[OdfError]) -> None:
    with FakeS3(answer) as fake:
        store = connect(fake.endpoint, max_attempts=1)
        for name, call in CALLS.items():
            try:
                call(store)
            except OdfError as refused:
                # a HEAD has no body that could tell more than its status
                assert isinstance(refused, expected) or fake.seen[-1][0] == "HEAD", (name, refused)
                assert refused.objects
                assert "secret" not in refused.message
            else:
                assert (name, answer.status) == ("stat", 404)  # a missing bucket has no object either


def test_a_busy_server_is_asked_again(connect: Connect) -> None:
    with FakeS3(error(503, "SlowDown"), Answer(200, b"here")) as fake:
        assert connect(fake.endpoint).read("x", max_bytes=10) == b"here"
        assert len(fake.seen) == 2
    with FakeS3(error(500, "InternalError"), Answer(200)) as fake:
        connect(fake.endpoint).write("x", io.BytesIO(b"again"), size=5)
        assert [seen[3] for seen in fake.seen] == [b"again", b"again"]


@pytest.mark.parametrize("length", [5, 2_000_000])
def test_a_body_that_breaks_off(connect: Connect, length: int) -> None:
    with FakeS3(Answer(200, b"cut!", length=length)) as fake:
        store = connect(fake.endpoint)
        with store.open("x") as stream:
            assert stream.size == length
            with pytest.raises(StoreUnavailable):
                while stream.read(1 << 18):
                    pass
        with pytest.raises(StoreUnavailable):
            store.read("x", max_bytes=length)


def test_a_body_that_is_longer_than_said_ends_where_it_should(connect: Connect) -> None:
    with FakeS3(Answer(200, b"0123456789", length=4)) as fake:
        assert connect(fake.endpoint).read("x", max_bytes=100) == b"0123"


PART = {"Content-Range": "bytes 2-4/10"}


@pytest.mark.parametrize("status", [200, 206])
def test_a_part_is_known_by_its_range_not_by_the_status(connect: Connect, status: int) -> None:
    with (
        FakeS3(Answer(status, b"234", PART)) as fake,
        connect(fake.endpoint).open("x", start=2, end=5) as part,
    ):
        assert part.size == 10
        assert part.read(-1) == b"234"
        assert fake.seen[0][2]["Range"] == "bytes=2-4"


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Range": "bytes 2-5/10"},
        {"Content-Range": "bytes 0-2/10"},
        {"Content-Range": "bytes 2-4/3"},
        {"Content-Range": "bytes 2-4/*"},
        {"Content-Range": "octets 2-4/10"},
        {"Content-Range": "bytes 2-4/" + "9" * 400},
    ],
)
def test_another_part_than_asked_for(connect: Connect, headers: dict[str, str]) -> None:
    with FakeS3(Answer(200, b"0123456789", headers)) as fake, pytest.raises(StoreMisbehaved):
        connect(fake.endpoint).open("x", start=2, end=5)


def test_a_refused_part_and_a_refused_key(connect: Connect) -> None:
    with FakeS3(error(416, "InvalidRange")) as fake, pytest.raises(InvalidRange):
        connect(fake.endpoint).open("x", start=2, end=5)
    with FakeS3(error(400, "KeyTooLongError")) as fake, pytest.raises(InvalidKey):
        connect(fake.endpoint).write("x", b"", size=0)


def test_a_server_that_does_not_answer(connect: Connect) -> None:
    release = threading.Event()
    with FakeS3(Answer(wait=release)) as fake:
        store = connect(fake.endpoint, max_attempts=1)
        for call in CALLS.values():
            started = time.monotonic()
            with pytest.raises(StoreUnavailable):
                call(store)
            assert time.monotonic() - started < BOUND_SECONDS
        release.set()


def test_what_is_not_deleted_is_told(connect: Connect) -> None:
    body = b"""<DeleteResult><Error><Key>a/2</Key><Code>InternalError</Code></Error>
        <Error><Key>a/3</Key><Code>NoSuchKey</Code></Error></DeleteResult>"""
    with FakeS3(Answer(200, body)) as fake, pytest.raises(StoreUnavailable) as refused:
        connect(fake.endpoint).delete(["a/1", "a/2", "a/3"])
    assert refused.value.objects == ("a/2",)


def test_nothing_is_asked_for_that_servers_differ_in(connect: Connect) -> None:
    """No checksums, conditions, subresources or chunked bodies (stack.md 2.3, 2.9)."""
    with FakeS3(Answer(200)) as fake:
        store = connect(fake.endpoint)
        store.write("x", io.BytesIO(b"12345"), size=5)
        with store.open("x"):
            pass
        list(store.list(""))
        store.copy("x", "y")
        store.stat("x")
    for _, path, headers, _ in fake.seen:
        names = {name.lower() for name in headers}
        assert not {name for name in names if "checksum" in name or name.startswith("if-")}, headers
        assert not names & {"transfer-encoding", "content-encoding", "x-amz-trailer"}
        assert "tagging" not in path
    assert fake.seen[0][2]["Content-Length"] == "5"


def test_a_wrong_secret_and_a_missing_bucket(s3_bucket: S3Bucket) -> None:
    cases: list[tuple[dict[str, Any], type[OdfError]]] = [
        ({"secret_access_key": "not the secret"}, StoreAccessDenied),
        ({"access_key_id": "nobody"}, StoreAccessDenied),
        ({"bucket": "no-such-bucket"}, BucketNotFound),
    ]
    for changes, expected in cases:
        store = S3Store(replace(s3_config(s3_bucket), **changes))
        with pytest.raises(expected):
            store.check()
        with pytest.raises(expected):
            store.write("x", b"x", size=1)
        with pytest.raises(expected):
            store.read("x", max_bytes=1)
        store.close()


def test_no_credentials_anywhere(monkeypatch: pytest.MonkeyPatch, s3_server: S3Server) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", "/dev/null")
    monkeypatch.setenv("AWS_CONFIG_FILE", "/dev/null")
    store = S3Store(S3Config(bucket="bucket", endpoint=s3_server.endpoint))
    with pytest.raises(StoreAccessDenied):
        store.read("x", max_bytes=1)
    with pytest.raises(StoreAccessDenied):
        store.credentials()
    store.close()


def test_secrets_stay_out_of_texts() -> None:
    config = S3Config(bucket="b", access_key_id="a", secret_access_key="hidden", session_token="hidden")
    assert "hidden" not in repr(config)


def test_s3_gone_and_back(mortal_rclone: RcloneProcess) -> None:
    """Away: a typed error in bounded time for every call. Back: the next call succeeds."""
    mortal_rclone.make_bucket("bucket")
    store = S3Store(mortal_rclone.config("bucket", max_attempts=1, read_seconds=0.3, copy_seconds=0.3))
    store.write("a/b", bytes(BIG), size=BIG)
    stream = store.open("a/b")
    assert stream.read(10)
    mortal_rclone.kill()
    with pytest.raises(StoreUnavailable):
        stream.read(-1)
    stream.close()
    assert_unavailable(store)
    mortal_rclone.start()
    assert len(store.read("a/b", max_bytes=BIG)) == BIG
    mortal_rclone.pause()  # accepts connections, never answers
    assert_unavailable(store)
    mortal_rclone.resume()
    # Under keys of its own: what was sent meanwhile may be carried out now.
    store.write("again", b"123", size=3)
    store.copy("again", "copied")
    assert store.read("copied", max_bytes=10) == b"123"
    with pytest.raises(ObjectNotFound):
        store.open("d")
    store.close()


def assert_unavailable(store: S3Store) -> None:
    for name, call in CALLS.items():
        started = time.monotonic()
        with pytest.raises(StoreUnavailable):
            call(store)
        assert time.monotonic() - started < BOUND_SECONDS, name


def test_boto3_is_imported_by_who_needs_it_only() -> None:
    """The command line opens local datasets without the third of a second that boto3 takes."""
    code = "import sys, odf_core.storage, odf_core.storage.presign; sys.exit('boto3' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
