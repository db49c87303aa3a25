"""Transfer URLs that are expired, altered or used for something else: the store refuses, nobody is harmed."""

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from tests.builders.dataset_builder import DatasetBuilder, root_dataset
from tests.scenarios.drivers import OURS, OurDriver
from tests.scenarios.speakers import Push, Speaker, Strategy, objects_of
from tests.scenarios.world import NodeWorld, assert_identical, folder_of, node_world, served
from tests.scripted.http import request, transfer_headers, upload
from tests.services import Addresses

SHORT_LIFE_SECONDS = 1


@pytest.fixture(scope="module")
def hasty_world(services: Addresses, s3_client: Any) -> Iterator[NodeWorld]:
    """URLs that are over almost at once."""
    with node_world(services, s3_client, transfer={"url_ttl_seconds": SHORT_LIFE_SECONDS}) as world:
        yield world


EXPIRED = (400, 403)
"""rclone answers 400 where AWS answers 403 (stack.md 2.9)."""


def until_expired(url: dict[str, Any], body: bytes | None = None) -> None:
    """Wait until the store itself finds the URL too old, of a PUT if there is a body."""
    for _ in range(100):
        headers = transfer_headers(url) | ({} if body is None else {"Content-Length": str(len(body))})
        if request("GET" if body is None else "PUT", url["url"], headers, body)[0] in EXPIRED:
            return
        threading.Event().wait(0.1)
    raise AssertionError("the URL does not expire")


def pulled_urls(
    world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, path: Path
) -> tuple[Any, list[Strategy]]:
    person = world.person()
    served(person, foo, path, at)
    items = objects_of(folder_of(foo, path / "all").chain())
    ws = speaker.connect(person.remote(at), "pull")
    speaker.send_pull(ws, str(foo.id), None)
    speaker.read_plan(ws)
    ws.send_json({})
    speaker.read_blocks(ws)
    speaker.send_pull_objects(ws, items)
    return ws, speaker.read_downloads(ws)


def test_an_expired_download_is_asked_for_again(
    hasty_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """On the same socket; the new URL is good (RFC-008)."""
    ws, strategies = pulled_urls(hasty_world, speaker, foo, at, tmp_path)
    url = strategies[0].url
    assert url is not None
    until_expired(url)
    speaker.send_pull_objects(ws, [strategies[0].item])
    (renewed,) = speaker.read_downloads(ws)
    assert renewed.url is not None
    assert renewed.url["url"] != url["url"]
    assert request("GET", renewed.url["url"])[0] == 200


def test_an_expired_upload_is_asked_for_again(
    hasty_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """The deployed dialect needs a truncated request for it; the published one only another request."""
    person = hasty_world.person()
    push = Push(speaker, person.remote(at), str(foo.id), folder_of(foo, tmp_path / "client")).prepare()
    if speaker.has_progress:
        files = [{"object_type": t, "physical_hash": h, "size": s} for t, h, s in objects_of(push.chain)]
        push.ws.send_json({"object_files": files, "is_truncated": True})
        strategies = speaker.read_strategies(push.ws)
    else:
        strategies = push.negotiate()
    first = strategies[0].url
    assert first is not None
    content = push.content(strategies[0].item)
    until_expired(first, content)
    assert upload(first, content) in EXPIRED
    speaker.send_uploaded(push.ws)
    push.upload(push.negotiate())
    speaker.send_uploaded(push.ws)
    push.complete()
    assert_identical(person, foo.id, push.local.root)


@pytest.mark.parametrize("driver", OURS, ids=[driver.name for driver in OURS])
def test_our_client_asks_again(
    hasty_world: NodeWorld,
    driver: OurDriver,
    foo: DatasetBuilder,
    at: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Every transfer is slower than its first URL lives: both directions end well nonetheless."""
    from odf_core.transfer.client import download, upload

    waited: set[str] = set()

    def slow(real: Any) -> Any:
        def run(self: Any) -> int:
            if len(waited) < 2 and self.url.partition("?")[0] not in waited:
                waited.add(self.url.partition("?")[0])
                threading.Event().wait(SHORT_LIFE_SECONDS + 1.2)
            return int(real(self))

        return run

    monkeypatch.setattr(upload.Upload, "run", slow(upload.Upload.run))
    monkeypatch.setattr(download.Download, "run", slow(download.Download.run))
    person = hasty_world.person()
    local = foo.write(tmp_path / "client")
    assert driver.push(person.remote(at), local, foo.id).new_head == foo.head
    assert waited
    waited.clear()
    assert driver.pull(person.remote(at), tmp_path / "other", foo.id).new_head == foo.head
    assert waited
    assert_identical(person, foo.id, tmp_path / "other")


def altered(url: str) -> dict[str, str]:
    """What somebody might try with a URL that was made for something else."""
    parts = urlsplit(url)
    query = parse_qs(parts.query)
    signature = query["X-Amz-Signature"][0]
    other = ("0" if signature[0] != "0" else "1") + signature[1:]
    lifetime = query["X-Amz-Expires"][0]
    name = parts.path.rpartition("/")[2]
    return {
        "another signature": url.replace(signature, other),
        "another object": url.replace(name, name[:-1] + ("0" if name[-1] != "0" else "1")),
        "a longer life": url.replace(f"X-Amz-Expires={lifetime}", "X-Amz-Expires=604800"),
        "no signature": f"{parts.scheme}://{parts.netloc}{parts.path}",
        "another bucket": url.replace(parts.path, "/other" + parts.path),
    }


def test_altered_urls_are_refused(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    ws, downloads = pulled_urls(multi_world, speaker, foo, at, tmp_path)
    ws.send_close(1000)
    person = multi_world.person()
    other = DatasetBuilder(f"{foo.chain.name[:20]} other")
    other.chain.seed().polling_source().schema()
    local = folder_of(other.add(5), tmp_path / "other")
    push = Push(speaker, person.remote(f"{at}-other"), str(other.id), local).prepare()
    uploads = push.negotiate()
    before = multi_world.snapshot()
    for strategy in (downloads[0], uploads[0]):
        assert strategy.url is not None
        is_upload = strategy is uploads[0]
        body = push.content(strategy.item) if is_upload else None
        for what, url in altered(strategy.url["url"]).items():
            status = request("PUT" if is_upload else "GET", url, transfer_headers(strategy.url), body)[0]
            assert status in (400, 403, 404), (what, status)
    assert multi_world.snapshot() == before
    assert multi_world.staged() == []
    push.upload(uploads)
    speaker.send_uploaded(push.ws)
    push.complete()


def test_a_url_is_for_one_method_and_one_length(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """No GET with a PUT's, no PUT or DELETE with a GET's; a PUT has the declared length or is refused."""
    person = multi_world.person()
    local = folder_of(foo, tmp_path / "client")
    push = Push(speaker, person.remote(at), str(foo.id), local).prepare()
    strategies = push.negotiate()
    put = strategies[0].url
    assert put is not None
    content = push.content(strategies[0].item)
    for data in (content[:-1], content + b"x", b""):
        assert upload(put, data) == 403
    assert request("DELETE", put["url"])[0] == 403
    assert request("GET", put["url"])[0] == 403
    assert multi_world.staged() == []
    push.upload(strategies)
    speaker.send_uploaded(push.ws)
    push.complete()
    another = root_dataset(f"{foo.chain.name[:20]} another")
    _, downloads = pulled_urls(multi_world, speaker, another, f"{at}-another", tmp_path / "another")
    get = downloads[0].url
    assert get is not None
    before = multi_world.snapshot()
    assert request("PUT", get["url"], {"Content-Length": "4"}, b"evil")[0] == 403
    assert request("DELETE", get["url"])[0] == 403
    assert multi_world.snapshot() == before
    assert_identical(person, foo.id, local.root)


def test_the_length_header_can_be_sent_by_every_client(
    multi_world: NodeWorld, speaker: Speaker, foo: DatasetBuilder, at: str, tmp_path: Path
) -> None:
    """No `content-type` or `content-length` among the headers: the deployed client adds both (wire.md 4)."""
    person = multi_world.person()
    push = Push(speaker, person.remote(at), str(foo.id), folder_of(foo, tmp_path / "client")).prepare()
    for strategy in push.negotiate():
        assert strategy.url is not None
        names = {name.lower() for name in transfer_headers(strategy.url)}
        assert not names & {"content-type", "content-length"}
    push.ws.drop()
