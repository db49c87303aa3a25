"""The self-test of presigned URLs: a sentence that says what is wrong (peers.md 7)."""

import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest

from odf_core.storage import MemoryStore, PrefixStore
from odf_core.storage.credentials import Credentials
from odf_core.storage.embedded import EmbeddedS3Store
from odf_core.storage.presign import Presigner
from odf_core.storage.probe import ProbeReport, probe_presigned
from odf_core.storage.s3 import S3Store
from tests.services import S3Bucket
from tests.storage.conftest import s3_config
from tests.storage.fake_s3 import Answer, FakeS3, error
from tests.storage.rclone_process import RcloneProcess


def probe_fake(*answers: Answer) -> ProbeReport:
    store = MemoryStore()
    with FakeS3(*answers) as fake:
        signer = Presigner(Credentials("k", "s"), endpoint=fake.endpoint, region="r", bucket="bucket")
        report = probe_presigned(store, signer, timeout_seconds=1.0)
    assert list(store._objects) == []
    assert not report.ok
    return report


def probe_address(endpoint: str) -> ProbeReport:
    signer = Presigner(Credentials("k", "s"), endpoint=endpoint, region="r", bucket="bucket")
    report = probe_presigned(MemoryStore(), signer, timeout_seconds=1.0)
    assert not report.ok
    return report


def test_a_good_one(s3_bucket: S3Bucket) -> None:
    store = S3Store(s3_config(s3_bucket))
    signer = Presigner(
        store.credentials,
        endpoint=s3_bucket.endpoint,
        region="us-east-1",
        bucket=s3_bucket.bucket,
        prefix="p/",
    )
    report = probe_presigned(PrefixStore(store, "p/"), signer)
    assert report == ProbeReport(True, f"Presigned URLs work at {s3_bucket.endpoint}.", s3_bucket.endpoint)
    assert store._s3.list_objects_v2(Bucket=s3_bucket.bucket).get("Contents") is None
    store.close()


def test_a_good_embedded_one(embedded: EmbeddedS3Store, embedded_bucket: S3Bucket) -> None:
    signer = Presigner(
        embedded.credentials,
        endpoint=embedded_bucket.endpoint,
        region=embedded_bucket.region,
        bucket=embedded_bucket.bucket,
    )
    assert probe_presigned(embedded, signer).ok


def test_another_name_for_the_same_server_is_fine(s3_bucket: S3Bucket) -> None:
    """The case of a public endpoint: signed for another host than the node uses."""
    store = S3Store(s3_config(s3_bucket))
    endpoint = s3_bucket.endpoint.replace("127.0.0.1", "localhost")
    signer = Presigner(store.credentials, endpoint=endpoint, region="us-east-1", bucket=s3_bucket.bucket)
    assert probe_presigned(store, signer).ok
    store.close()


def test_another_servers_address(s3_bucket: S3Bucket, mortal_rclone: RcloneProcess) -> None:
    store = S3Store(s3_config(s3_bucket))
    for credentials, word in (
        (store.credentials(), "access key"),
        (Credentials("storage-tests", "no"), "secret"),
    ):
        signer = Presigner(
            credentials, endpoint=mortal_rclone.endpoint, region="us-east-1", bucket="embedded-x"
        )
        report = probe_presigned(store, signer)
        assert not report.ok
        assert word in report.sentence
    store.close()


def test_another_bucket(s3_bucket: S3Bucket) -> None:
    store = S3Store(s3_config(s3_bucket))
    signer = Presigner(store.credentials, endpoint=s3_bucket.endpoint, region="us-east-1", bucket="elsewhere")
    report = probe_presigned(store, signer)
    assert not report.ok
    assert "no such bucket" in report.sentence
    store.close()


def test_nothing_there() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        report = probe_address(f"http://127.0.0.1:{free.getsockname()[1]}")
    assert "nothing listens there" in report.sentence
    assert "s3.public_endpoint" in report.sentence
    assert "its name is unknown" in probe_address("http://no-such-host.invalid:9000").sentence
    with socket.create_server(("127.0.0.1", 0)) as silent:
        report = probe_address(f"http://127.0.0.1:{silent.getsockname()[1]}")
    assert "does not answer" in report.sentence


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Answer(200, b"<html>Welcome</html>"), "other bytes"),
        (error(403, "SignatureDoesNotMatch"), "the signature does not fit"),
        (error(403, "AccessDenied"), "does not let"),
        (error(404, "NoSuchKey"), "does not have the object"),
        (Answer(301, headers={"Location": "https://elsewhere/"}), "redirects to https://elsewhere/"),
        (Answer(500, b"oops"), "refused with 500"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_answers_of_others(answer: Answer, words: str) -> None:
    report = probe_fake(answer)
    assert words in report.sentence
    assert report.sentence.endswith(".")


def test_clocks_that_differ() -> None:
    ahead = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    report = probe_fake(Answer(400, error(400, "AccessDenied").body, {"Date": ahead}))
    assert "clock" in report.sentence
    assert "3600" in report.sentence or "3599" in report.sentence


def test_an_upload_that_goes_elsewhere(s3_bucket: S3Bucket) -> None:
    """GET works, since the address serves the node's objects, but PUT is swallowed."""
    store = MemoryStore()

    class Mirror(FakeS3):
        def _answer(self, request):  # type: ignore[no-untyped-def]
            key = request.path.partition("?")[0].removeprefix("/bucket/")
            found = store._objects.get(key) if request.command == "GET" else None
            self._answers.appendleft(Answer(200, found.data if found else b""))
            super()._answer(request)

    with Mirror(Answer(200)) as mirror:
        signer = Presigner(Credentials("k", "s"), endpoint=mirror.endpoint, region="r", bucket="bucket")
        report = probe_presigned(store, signer)
    assert not report.ok
    assert "PUT" in report.sentence
    assert "does not find the object" in report.sentence
