"""One object over HTTP: what arrives is right or it does not arrive."""

import threading
from pathlib import Path

import pytest

from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.transfer.client.download import Download, UrlExpired
from odf_core.transfer.client.errors import (
    DownloadMismatch,
    RemoteObjectNotFound,
    RemoteUnavailable,
    TransferUrlRefused,
    UnexpectedAnswer,
)
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.progress import Progress
from tests.client.fake_node import FakePeer, Reply, ranged

DATA = bytes(range(256)) * 1024
OPTIONS = TransferOptions(backoff=0, attempts=3, chunk_bytes=64 * 1024, read_timeout=20)


class Meter(Progress):
    def __init__(self) -> None:
        self.bytes = 0
        self.notes: list[str] = []

    def moved(self, size: int) -> None:
        self.bytes += size

    def note(self, message: str) -> None:
        self.notes.append(message)


def ref_of(data: bytes, size: int | None = -1) -> ObjectRef:
    return ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(data), len(data) if size == -1 else size)


def fetch(
    peer: FakePeer, tmp_path: Path, ref: ObjectRef | None = None, meter: Meter | None = None
) -> tuple[int, Path]:
    target = tmp_path / "object"
    with Http(OPTIONS) as http:
        moved = Download(
            http,
            ref or ref_of(DATA),
            peer.url + "o?sig=1",
            {"x-a": "b"},
            target,
            meter or Meter(),
            threading.Event(),
        ).run()
    return moved, target


@pytest.fixture
def peer():  # type: ignore[no-untyped-def]
    with FakePeer() as peer:
        yield peer


def test_whole_object(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(200, DATA))
    meter = Meter()
    moved, target = fetch(peer, tmp_path, meter=meter)
    assert (moved, target.read_bytes(), meter.bytes) == (len(DATA), DATA, len(DATA))
    assert peer.seen[0].headers["x-a"] == "b"
    assert peer.seen[0].path == "/o?sig=1"
    assert list(tmp_path.iterdir()) == [target]


def test_empty_object(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(200, b""))
    assert fetch(peer, tmp_path, ref_of(b""))[1].read_bytes() == b""


@pytest.mark.parametrize("status", [206, 200])
def test_truncated_body_is_continued_by_range(peer: FakePeer, tmp_path: Path, status: int) -> None:
    peer.on("o", Reply(200, DATA, cut=100_000), ranged(DATA, status=status))
    meter = Meter()
    moved, target = fetch(peer, tmp_path, meter=meter)
    assert target.read_bytes() == DATA
    assert moved == meter.bytes == len(DATA)
    start = int(peer.seen[1].headers["range"].removeprefix("bytes=").rstrip("-"))
    assert 0 < start <= 100_000


def test_a_storage_without_ranges_starts_again(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(200, DATA, cut=100_000), Reply(200, DATA))
    meter = Meter()
    moved, target = fetch(peer, tmp_path, meter=meter)
    assert target.read_bytes() == DATA
    assert meter.bytes == len(DATA) < moved


def test_an_interrupted_download_is_continued_by_the_next_run(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(200, DATA, cut=100_000), Reply(503))
    with pytest.raises(RemoteUnavailable):
        fetch(peer, tmp_path)
    kept = (tmp_path / ".partial-object").stat().st_size
    assert kept > 0
    peer.on("o", ranged(DATA))
    peer._scripts["/o"].popleft()
    moved, target = fetch(peer, tmp_path)
    assert moved == len(DATA) - kept
    assert target.read_bytes() == DATA


def test_a_spoilt_remainder_of_an_earlier_run_is_fetched_anew(peer: FakePeer, tmp_path: Path) -> None:
    (tmp_path / ".partial-object").write_bytes(b"x" * 1000)
    peer.on("o", ranged(DATA))
    moved, target = fetch(peer, tmp_path)
    assert target.read_bytes() == DATA
    assert moved == len(DATA) - 1000 + len(DATA)


def test_a_remainder_longer_than_the_object_is_dropped(peer: FakePeer, tmp_path: Path) -> None:
    (tmp_path / ".partial-object").write_bytes(b"x" * (len(DATA) + 1))
    peer.on("o", ranged(DATA))
    assert fetch(peer, tmp_path)[0] == len(DATA)


def test_range_beyond_the_end_starts_again(peer: FakePeer, tmp_path: Path) -> None:
    (tmp_path / ".partial-object").write_bytes(b"x" * 10)
    peer.on("o", Reply(416), Reply(200, DATA))
    assert fetch(peer, tmp_path)[1].read_bytes() == DATA


def test_wrong_bytes_under_a_right_name(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(200, DATA[:-1] + b"!"))
    meter = Meter()
    with pytest.raises(DownloadMismatch) as caught:
        fetch(peer, tmp_path, meter=meter)
    assert caught.value.objects == (str(ref_of(DATA).hash),)
    assert list(tmp_path.iterdir()) == []
    assert meter.bytes == 0
    assert "sig" not in str(caught.value.diagnostics())


@pytest.mark.parametrize("body", [DATA[:-5], DATA + b"more"])
def test_wrong_size(peer: FakePeer, tmp_path: Path, body: bytes) -> None:
    peer.on("o", Reply(200, body))
    with pytest.raises(DownloadMismatch, match="declared with"):
        fetch(peer, tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_passing_refusals_are_tried_again(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(503, headers={"Retry-After": "0"}), Reply(500), Reply(200, DATA))
    meter = Meter()
    with Http(OPTIONS, meter) as http:
        Download(http, ref_of(DATA), peer.url + "o", {}, tmp_path / "o", meter, threading.Event()).run()
    assert len(peer.seen) == 3
    assert len(meter.notes) == 2


def test_tries_end(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(503))
    with pytest.raises(RemoteUnavailable, match="503"):
        fetch(peer, tmp_path)
    assert len(peer.seen) == OPTIONS.attempts


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (403, b"<Error><Code>AccessDenied</Code><Message>Request has expired</Message></Error>"),
        (400, b"<Error><Code>ExpiredToken</Code></Error>"),
    ],
)
def test_expired_url(peer: FakePeer, tmp_path: Path, status: int, body: bytes) -> None:
    peer.on("o", Reply(status, body))
    with pytest.raises(UrlExpired) as caught:
        fetch(peer, tmp_path)
    assert caught.value.refused.extras["status"] == status


def test_other_refusals(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>"))
    with pytest.raises(TransferUrlRefused):
        fetch(peer, tmp_path)


def test_missing_object(peer: FakePeer, tmp_path: Path) -> None:
    with pytest.raises(RemoteObjectNotFound):
        fetch(peer, tmp_path)


def test_part_without_saying_which(peer: FakePeer, tmp_path: Path) -> None:
    peer.on("o", Reply(206, DATA))
    with pytest.raises(UnexpectedAnswer):
        fetch(peer, tmp_path)


def test_no_answer_at_all(tmp_path: Path) -> None:
    with FakePeer() as peer:
        pass
    with pytest.raises(RemoteUnavailable, match="does not answer"):
        fetch(peer, tmp_path)


def test_redirects_are_followed_without_the_token(peer: FakePeer, tmp_path: Path) -> None:
    with FakePeer() as other:
        other.on("p", Reply(200, DATA))
        peer.on("o", Reply(307, headers={"Location": other.url.replace("127.0.0.1", "localhost") + "p"}))
        with Http(OPTIONS) as http:
            headers = {"Authorization": "Bearer secret"}
            url = peer.url + "o"
            Download(http, ref_of(DATA), url, headers, tmp_path / "o", Meter(), threading.Event()).run()
        assert "authorization" not in other.seen[0].headers


def test_urls_that_are_none(tmp_path: Path) -> None:
    with Http(OPTIONS) as http:
        for url in ("file:///etc/passwd", "http://", "nonsense"):
            with pytest.raises(UnexpectedAnswer):
                Download(http, ref_of(DATA), url, {}, tmp_path / "o", Meter(), threading.Event()).run()


def test_a_header_that_would_split_the_request(peer: FakePeer, tmp_path: Path) -> None:
    with Http(OPTIONS) as http, pytest.raises(UnexpectedAnswer):
        headers = {"x": "a\r\nHost: elsewhere"}
        Download(
            http, ref_of(DATA), peer.url + "o", headers, tmp_path / "o", Meter(), threading.Event()
        ).run()
