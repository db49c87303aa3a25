"""What holders of presigned URLs can and cannot do, on a real S3 server."""

import http.client
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from urllib.parse import urlsplit

import pytest

from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.storage import (
    ObjectStore,
    PrefixStore,
    ensure_staging,
    hash_stream,
    object_key,
    staging_key,
)
from odf_core.storage.embedded import EmbeddedS3Store
from odf_core.storage.presign import Presigner
from odf_core.storage.s3 import S3Store
from tests.services import S3Bucket
from tests.storage.conftest import s3_config

Bucket = tuple[ObjectStore, Presigner]
PREFIX = "some/folder/"


@pytest.fixture(params=["s3", "embedded"])
def bucket(request: pytest.FixtureRequest) -> Iterator[Bucket]:
    """A store and the signer for it, both about one folder."""
    store: S3Store | EmbeddedS3Store
    there: S3Bucket
    if request.param == "s3":
        there = request.getfixturevalue("s3_bucket")
        store, endpoint, name = S3Store(s3_config(there)), there.endpoint, there.bucket
    else:
        there = request.getfixturevalue("embedded_bucket")
        store, endpoint, name = request.getfixturevalue("embedded"), there.endpoint, there.bucket
    signer = Presigner(store.credentials, endpoint=endpoint, region="us-east-1", bucket=name, prefix=PREFIX)
    view = PrefixStore(store, PREFIX)
    ensure_staging(view)
    yield view, signer
    store.close()


def send(
    method: str, url: str, body: bytes | None = None, headers: dict[str, str] | None = None
) -> tuple[int, bytes]:
    parts = urlsplit(url)
    connection = http.client.HTTPConnection(parts.netloc, timeout=30)
    try:
        connection.request(method, f"{parts.path}?{parts.query}", body, headers or {})
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


def get_url(bucket: Bucket, key: str, seconds: int = 60, now: datetime | None = None) -> str:
    return bucket[1].get_urls([key], seconds, now)[0]


def put_url(bucket: Bucket, key: str, size: int, seconds: int = 60, now: datetime | None = None) -> str:
    return bucket[1].put_urls([(key, size)], seconds, now)[0].url


def test_upload_and_download(bucket: Bucket) -> None:
    data = bytes(range(256)) * 1000
    assert send("PUT", put_url(bucket, "staging/x", len(data)), data)[0] == 200
    assert bucket[0].read("staging/x", max_bytes=len(data)) == data
    assert send("GET", get_url(bucket, "staging/x")) == (200, data)
    assert send("PUT", put_url(bucket, "staging/x y+ü", 0), b"")[0] == 200
    assert send("GET", get_url(bucket, "staging/x y+ü")) == (200, b"")


def test_the_headers_of_the_deployed_client_are_fine(bucket: Bucket) -> None:
    headers = {"Content-Type": "application/octet-stream", "Content-Length": "3"}
    assert send("PUT", put_url(bucket, "staging/x", 3), b"abc", headers)[0] == 200


def test_a_part_of_an_object(bucket: Bucket) -> None:
    bucket[0].write("data/x", b"0123456789", size=10)
    status, body = send("GET", get_url(bucket, "data/x"), headers={"Range": "bytes=2-4"})
    assert (status in (200, 206), body) == (True, b"234")


@pytest.mark.parametrize("size", [2, 4, 1_000_000])
def test_an_upload_of_another_length_is_refused(bucket: Bucket, size: int) -> None:
    status, body = send("PUT", put_url(bucket, "staging/x", 3), b"x" * size)
    assert (status, b"SignatureDoesNotMatch" in body) == (403, True)
    assert bucket[0].stat("staging/x") is None


def test_a_url_is_for_one_method(bucket: Bucket) -> None:
    bucket[0].write("data/x", b"mine", size=4)
    for method, body in (("PUT", b"evil"), ("DELETE", None), ("HEAD", None), ("POST", b"evil")):
        assert 400 <= send(method, get_url(bucket, "data/x"), body)[0] < 500
    assert send("GET", put_url(bucket, "data/x", 4))[0] == 403
    assert bucket[0].read("data/x", max_bytes=10) == b"mine"


def test_an_altered_url_is_refused(bucket: Bucket) -> None:
    bucket[0].write("data/x", b"1", size=1)
    bucket[0].write("data/y", b"2", size=1)
    url = get_url(bucket, "data/x", 60)
    assert send("GET", url)[0] == 200
    last = url[-1]
    for altered in (
        url.replace("data/x", "data/y"),
        url.replace("X-Amz-Expires=60", "X-Amz-Expires=6000"),
        url.replace("us-east-1", "eu-west-1"),
        url[:-1] + ("0" if last != "0" else "1"),
        url.replace("X-Amz-SignedHeaders=host", "X-Amz-SignedHeaders=host%3Brange"),
        url.partition("?")[0],
    ):
        assert altered != url
        assert 400 <= send("GET", altered)[0] < 500
    put = put_url(bucket, "staging/x", 3)
    assert 400 <= send("PUT", put.replace("staging/x", "data/x"), b"abc")[0] < 500
    assert bucket[0].read("data/x", max_bytes=1) == b"1"


def test_an_expired_url_is_refused(bucket: Bucket) -> None:
    """400 or 403, as the server likes, but in words that speak of access (stack.md 2.9)."""
    bucket[0].write("data/x", b"1", size=1)
    past = datetime.now(UTC) - timedelta(hours=2)
    for status, body in (
        send("GET", get_url(bucket, "data/x", 3600, past)),
        send("PUT", put_url(bucket, "staging/x", 3, 3600, past), b"abc"),
    ):
        assert status in (400, 403)
        assert b"AccessDenied" in body
    assert bucket[0].stat("staging/x") is None


def test_two_uploads_of_one_key_at_once(bucket: Bucket) -> None:
    """What is there afterwards is one of them, whole, whatever the other was told.

    S3 answers 200 to both. Of two that end at the same moment rclone answers one with 500 now and then (5 of
    600 pairs); the other one's bytes are in place.
    """
    size = 1_000_000
    start = threading.Barrier(2)

    def upload(url: str, digit: bytes) -> int:
        start.wait()
        return send("PUT", url, digit * size)[0]

    for number in range(5):
        url = put_url(bucket, f"staging/{number}", size)
        with ThreadPoolExecutor(2) as threads:
            statuses = list(threads.map(upload, [url, url], [b"1", b"2"]))
        assert 200 in statuses
        assert set(statuses) <= {200, 500}
        assert bucket[0].read(f"staging/{number}", max_bytes=size) in (b"1" * size, b"2" * size)


def test_many_first_uploads_at_once(bucket: Bucket) -> None:
    """The staging folder is there before the first URL goes out, so none fails (stack.md 2.4)."""
    urls = bucket[1].put_urls([(f"staging/{number}", 4) for number in range(200)], 60)
    with ThreadPoolExecutor(8) as threads:
        answers = list(threads.map(lambda put: send("PUT", put.url, b"data")[0], urls))
    assert answers == [200] * 200


def test_an_interrupted_upload_leaves_nothing(bucket: Bucket) -> None:
    parts = urlsplit(put_url(bucket, "staging/x", 1_000_000))
    connection = http.client.HTTPConnection(parts.netloc)
    connection.putrequest("PUT", f"{parts.path}?{parts.query}")
    connection.putheader("Content-Length", "1000000")
    connection.endheaders(b"only the beginning")
    connection.close()
    assert send("PUT", put_url(bucket, "staging/y", 1), b"y")[0] == 200
    assert [found.key for found in bucket[0].list("staging/")] == ["staging/y"]


def test_what_was_checked_is_what_is_promoted(bucket: Bucket) -> None:
    """The holder of an upload URL cannot change an object between check and promotion, nor afterwards."""
    store = bucket[0]
    good, bad = b"the true content", b"another content."
    ref = ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(good), len(good))
    staged = staging_key("session-1", ref)
    url = put_url(bucket, staged, len(good))
    assert send("PUT", url, good)[0] == 200
    with store.claim(staged) as claimed:
        with claimed.open() as stream:
            assert hash_stream(stream) == (ref.hash, ref.size)
        assert send("PUT", url, bad)[0] == 200
        claimed.publish(object_key(ref))
    assert send("GET", get_url(bucket, object_key(ref))) == (200, good)
    assert store.read(staged, max_bytes=100) == bad
