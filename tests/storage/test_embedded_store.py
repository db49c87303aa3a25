"""What the node does beneath rclone is seen through rclone at once (docs/adr/0003-embedded-promotion.md)."""

import contextlib
import random
import threading
import time
from collections.abc import Iterator

import pytest
import urllib3

from odf_core.storage import ObjectNotFound, StoreUnavailable
from odf_core.storage.embedded import EmbeddedS3Store
from odf_core.storage.presign import Presigner
from odf_core.storage.s3 import S3Store
from tests.services import S3Bucket
from tests.storage.conftest import s3_config
from tests.storage.rclone_process import RcloneProcess

NOTHING: bytes | None = None


@pytest.fixture
def outside(embedded_bucket: S3Bucket) -> Iterator[S3Store]:
    """The same bucket as a client sees it, through S3."""
    store = S3Store(s3_config(embedded_bucket))
    yield store
    store.close()


def seen(outside: S3Store, key: str) -> bytes | None:
    """What GET and HEAD and a listing agree on."""
    try:
        data: bytes | None = outside.read(key, max_bytes=1 << 20)
    except ObjectNotFound:
        data = NOTHING
    found = outside.stat(key)
    assert (None if found is None else found.size) == (None if data is None else len(data))
    assert [item.key for item in outside.list(key)] == ([] if data is None else [key])
    return data


def put(store: EmbeddedS3Store | S3Store, key: str, data: bytes) -> None:
    store.write(key, data, size=len(data))


def test_every_change_is_seen_at_once(embedded: EmbeddedS3Store, outside: S3Store) -> None:
    put(outside, "set/data/first", b"by a client")
    assert seen(outside, "set/data/x") is NOTHING  # from here on rclone knows that it is not there
    put(embedded, "set/data/x", b"one")
    assert seen(outside, "set/data/x") == b"one"
    put(embedded, "set/data/x", b"replaced by a longer one")
    assert seen(outside, "set/data/x") == b"replaced by a longer one"
    embedded.copy("set/data/first", "set/data/y")
    assert seen(outside, "set/data/y") == b"by a client"
    embedded.delete(["set/data/x", "set/data/first"])
    assert seen(outside, "set/data/x") is NOTHING
    assert seen(outside, "set/data/first") is NOTHING
    put(embedded, "set/data/x", b"back")
    assert seen(outside, "set/data/x") == b"back"


def test_new_folders_are_seen_at_once(embedded: EmbeddedS3Store, outside: S3Store) -> None:
    for name in ("a", "b", "c"):
        for folder in ("data", "checkpoints"):
            key = f"{name}/{folder}/deep/x"
            assert seen(outside, key) is NOTHING
            put(embedded, key, name.encode())
            assert seen(outside, key) == name.encode()


def test_a_folder_that_a_client_emptied_comes_back(embedded: EmbeddedS3Store, outside: S3Store) -> None:
    put(embedded, "set/data/x", b"1")
    outside.delete(["set/data/x"])  # rclone removes the folder as well
    assert not (embedded.root / "set").exists()
    assert seen(outside, "set/data/x") is NOTHING
    put(embedded, "set/data/x", b"2")
    assert seen(outside, "set/data/x") == b"2"


def test_one_settling_for_many(embedded: EmbeddedS3Store, outside: S3Store) -> None:
    keys = [f"set/data/{number}" for number in range(200)]
    assert seen(outside, keys[0]) is NOTHING
    for key in keys:
        embedded.write(key, key.encode(), size=len(key), settle=False)
    embedded.settle(keys)
    for key in keys:
        assert outside.read(key, max_bytes=100) == key.encode()
    assert len(list(outside.list("set/data/"))) == 200


def test_an_upload_is_promoted_and_cannot_be_changed_afterwards(
    embedded: EmbeddedS3Store, outside: S3Store
) -> None:
    put(outside, "staging/.keep", b"")
    put(outside, "staging/s.x", b"checked")
    with embedded.claim("staging/s.x") as claimed:
        put(outside, "staging/s.x", b"changed")
        with claimed.open() as stream:
            assert stream.read(-1) == b"checked"
        claimed.publish("set/data/x")
    assert seen(outside, "set/data/x") == b"checked"
    put(outside, "staging/s.x", b"changed once more")
    assert seen(outside, "set/data/x") == b"checked"
    embedded.delete(["staging/s.x"])
    assert seen(outside, "staging/s.x") is NOTHING
    put(outside, "staging/s.x", b"the same key again")
    assert embedded.read("staging/s.x", max_bytes=100) == b"the same key again"


def test_promotions_are_seen_amidst_other_traffic(embedded: EmbeddedS3Store, outside: S3Store) -> None:
    """Clients that look for objects before they exist, listings, and uploads into the same folder."""
    done = threading.Event()
    present = [0]
    put(outside, "set/data/.keep", b"")

    def traffic() -> None:
        choice = random.Random(threading.get_ident())
        while not done.is_set():
            ahead = present[0] + choice.randint(0, 3)
            what = choice.randint(0, 9)
            with contextlib.suppress(ObjectNotFound):
                if what < 5:
                    outside.read(f"set/data/{ahead}", max_bytes=100)
                elif what < 8:
                    outside.stat(f"set/data/{ahead}")
                elif what < 9:
                    list(outside.list("set/data/"))
                else:
                    put(outside, f"set/data/client-{choice.randint(0, 9)}", b"c")

    threads = [threading.Thread(target=traffic) for _ in range(4)]
    for thread in threads:
        thread.start()
    try:
        for number in range(60):
            present[0] = number
            data = b"%d" % number
            put(outside, "staging/s.x", data)
            embedded.copy("staging/s.x", f"set/data/{number}")
            assert outside.read(f"set/data/{number}", max_bytes=100) == data
    finally:
        done.set()
        for thread in threads:
            thread.join()
    for number in range(60):
        assert outside.read(f"set/data/{number}", max_bytes=100) == b"%d" % number


def test_a_download_goes_on_while_its_object_is_replaced(
    embedded: EmbeddedS3Store, embedded_bucket: S3Bucket
) -> None:
    size = 8_000_000
    put(embedded, "set/data/x", b"1" * size)
    signer = Presigner(
        embedded.credentials,
        endpoint=embedded_bucket.endpoint,
        region=embedded_bucket.region,
        bucket=embedded_bucket.bucket,
    )
    with urllib3.PoolManager() as pool:
        answer = pool.request("GET", signer.get_urls(["set/data/x"], 60)[0], preload_content=False)
        first = answer.read(1000)
        put(embedded, "set/data/x", b"2" * size)
        assert first + answer.read() == b"1" * size
        again = pool.request("GET", signer.get_urls(["set/data/x"], 60)[0])
        assert again.data == b"2" * size


def test_without_rclone_the_node_reads_and_says_that_it_cannot_publish(mortal_rclone: RcloneProcess) -> None:
    mortal_rclone.make_bucket("bucket")
    store = mortal_rclone.embedded_store("bucket", max_attempts=1, connect_seconds=0.5)
    store._listener._patience = 0.5  # type: ignore[attr-defined]
    put(store, "set/data/x", b"1")
    mortal_rclone.kill()
    assert store.read("set/data/x", max_bytes=10) == b"1"
    started = time.monotonic()
    with pytest.raises(StoreUnavailable):
        put(store, "set/data/y", b"2")
    with pytest.raises(StoreUnavailable):
        store.check()
    assert time.monotonic() - started < 15
    mortal_rclone.start()
    store.check()
    put(store, "set/data/y", b"2")
    outside = S3Store(mortal_rclone.config("bucket"))
    assert (seen(outside, "set/data/x"), seen(outside, "set/data/y")) == (b"1", b"2")
    outside.close()
    store.close()


def test_a_restart_of_rclone_is_waited_for(mortal_rclone: RcloneProcess) -> None:
    """The control socket is the node's: what is told while rclone is away is told to the next one."""
    mortal_rclone.make_bucket("bucket")
    store = mortal_rclone.embedded_store("bucket")
    mortal_rclone.kill()
    writing = threading.Thread(target=put, args=(store, "set/data/x", b"1"))
    writing.start()
    writing.join(0.3)
    assert writing.is_alive()  # the object lies there, but nobody may be told of it yet
    mortal_rclone.start()
    writing.join()
    outside = S3Store(mortal_rclone.config("bucket"))
    assert seen(outside, "set/data/x") == b"1"
    outside.close()
    assert store.read("set/data/x", max_bytes=10) == b"1"
    store.close()


def test_files_are_private(embedded: EmbeddedS3Store, embedded_bucket: S3Bucket) -> None:
    put(embedded, "new/folder/x", b"1")
    path = embedded.root / "new" / "folder" / "x"
    assert path.stat().st_mode & 0o077 == 0
    assert path.parent.stat().st_mode & 0o077 == 0
    assert embedded.credentials().access_key_id == embedded_bucket.access_key_id
    assert embedded_bucket.secret_access_key not in repr(embedded.credentials())
