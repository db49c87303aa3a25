"""One object from a file to a URL."""

import threading
from pathlib import Path

import pytest

from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.transfer.client.download import UrlExpired
from odf_core.transfer.client.errors import LocalObjectDamaged, RemoteUnavailable
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.upload import Upload
from tests.client.fake_node import FakePeer, Reply
from tests.client.test_download import Meter

DATA = bytes(range(256)) * 1024
REF = ObjectRef(ObjectKind.CHECKPOINT, Multihash.sha3_256(DATA), len(DATA))
OPTIONS = TransferOptions(backoff=0, attempts=3, chunk_bytes=64 * 1024)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "object"
    path.write_bytes(DATA)
    return path


def send(peer: FakePeer, source: Path, ref: ObjectRef = REF, meter: Meter | None = None) -> int:
    headers = {"content-length": "7", "Content-Type": "text/html", "x-odf": "1"}
    with Http(OPTIONS) as http:
        return Upload(
            http, ref, peer.url + "o?sig=1", headers, source, meter or Meter(), threading.Event()
        ).run()


def test_whole_object_with_its_length(source: Path) -> None:
    with FakePeer() as peer:
        peer.on("o", Reply(200))
        meter = Meter()
        assert send(peer, source, meter=meter) == len(DATA) == meter.bytes
        (seen,) = peer.seen
    assert (seen.method, seen.body) == ("PUT", DATA)
    assert seen.headers["content-length"] == str(len(DATA))
    assert seen.headers["x-odf"] == "1"
    assert seen.headers["content-type"] == "application/octet-stream"
    assert "transfer-encoding" not in seen.headers
    assert "expect" not in seen.headers


def test_empty_object(tmp_path: Path) -> None:
    (tmp_path / "e").write_bytes(b"")
    with FakePeer() as peer:
        peer.on("o", Reply(201))
        assert send(peer, tmp_path / "e", ObjectRef(ObjectKind.CHECKPOINT, Multihash.sha3_256(b""), 0)) == 0
        assert peer.seen[0].headers["content-length"] == "0"


def test_unavailable_storage_is_tried_again_with_the_whole_body(source: Path) -> None:
    with FakePeer() as peer:
        peer.on("o", Reply(503), Reply(200))
        meter = Meter()
        send(peer, source, meter=meter)
        assert [item.body for item in peer.seen] == [DATA, DATA]
        assert meter.bytes == len(DATA)


def test_tries_end(source: Path) -> None:
    with FakePeer() as peer:
        peer.on("o", Reply(503))
        with pytest.raises(RemoteUnavailable):
            send(peer, source)
        assert len(peer.seen) == OPTIONS.attempts


def test_expired_url(source: Path) -> None:
    with FakePeer() as peer:
        peer.on("o", Reply(403, b"<Error><Code>AccessDenied</Code></Error>"))
        with pytest.raises(UrlExpired):
            send(peer, source)


def test_a_file_that_is_not_what_its_block_declares(source: Path) -> None:
    with FakePeer() as peer:
        source.write_bytes(DATA[1:])
        with pytest.raises(LocalObjectDamaged, match="declares"):
            send(peer, source)
        source.unlink()
        with pytest.raises(LocalObjectDamaged, match="cannot be read"):
            send(peer, source)
        assert peer.seen == []


def test_connections_are_used_again(source: Path) -> None:
    with FakePeer() as peer:
        peer.on("o", Reply(200, b"stored"))
        with Http(OPTIONS) as http:
            for _ in range(5):
                Upload(http, REF, peer.url + "o", {}, source, Meter(), threading.Event()).run()
        assert peer.connections == 1
