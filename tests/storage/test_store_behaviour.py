"""What every object store does: one suite over all implementations."""

import contextlib
import io
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import BinaryIO

import pytest

from odf_core.errors import OdfError
from odf_core.storage import (
    InvalidKey,
    InvalidRange,
    ObjectNotFound,
    ObjectSizeMismatch,
    ObjectStore,
    Readable,
    StoredObjectTooLarge,
    hash_stream,
)

GapErrors = tuple[type[OdfError], ...]
MANY = 1_050  # more than a page of an S3 listing, and than one deletion takes
PLENTY = 1 << 20


class Trickle:
    """A source that cannot go back and gives a few bytes at a time."""

    def __init__(self, data: bytes) -> None:
        self._rest = data

    def read(self, n: int = -1, /) -> bytes:
        n = min(n, 7) if n >= 0 else len(self._rest)
        piece, self._rest = self._rest[:n], self._rest[n:]
        return piece


class Breaks:
    """A source that fails in the middle."""

    def __init__(self, data: bytes) -> None:
        self._data: BinaryIO = io.BytesIO(data)

    def read(self, n: int = -1, /) -> bytes:
        piece = self._data.read(min(n, 5) if n >= 0 else 5)
        if not piece:
            raise ConnectionResetError("the sender is gone")
        return piece


def put(store: ObjectStore, key: str, data: bytes) -> None:
    store.write(key, data, size=len(data))


def get(store: ObjectStore, key: str) -> bytes:
    return store.read(key, max_bytes=PLENTY)


def keys(store: ObjectStore, prefix: str = "") -> list[str]:
    return [found.key for found in store.list(prefix)]


@pytest.mark.parametrize("data", [b"", b"x", bytes(range(256)) * 300], ids=len)
def test_what_is_written_can_be_read(store: ObjectStore, data: bytes) -> None:
    sources: list[bytes | Readable] = [data, io.BytesIO(data), Trickle(data)]
    for number, source in enumerate(sources):
        key = f"data/{number}"
        store.write(key, source, size=len(data))
        assert get(store, key) == data
        with store.open(key) as stream:
            assert stream.size == len(data)
            assert stream.read(-1) == data
            assert stream.read(10) == b""
        found = store.stat(key)
        assert found is not None
        assert (found.key, found.size) == (key, len(data))
        assert found.modified is None or abs(found.modified - datetime.now(UTC)) < timedelta(minutes=1)
    assert [(item.key, item.size) for item in store.list("data/")] == [
        (f"data/{number}", len(data)) for number in range(3)
    ]


def test_a_source_is_read_from_where_it_stands(store: ObjectStore) -> None:
    source = io.BytesIO(b"head and body")
    source.seek(9)
    store.write("body", source, size=4)
    assert get(store, "body") == b"body"


def test_writing_again_replaces(store: ObjectStore) -> None:
    put(store, "refs/head", b"a longer first one")
    put(store, "refs/head", b"second")
    assert get(store, "refs/head") == b"second"
    assert keys(store) == ["refs/head"]


def test_what_is_not_there(store: ObjectStore) -> None:
    assert store.stat("nothing/here") is None
    calls: list[Callable[[], object]] = [
        lambda: store.read("nothing/here", max_bytes=1),
        lambda: store.open("nothing/here"),
        lambda: store.open("nothing/here", start=1, end=2),
        lambda: store.copy("nothing/here", "elsewhere"),
        lambda: store.claim("nothing/here").__enter__(),
    ]
    for call in calls:
        with pytest.raises(ObjectNotFound) as missing:
            call()
        assert any("nothing/here" in name for name in missing.value.objects)
    assert keys(store) == []
    store.delete(["nothing/here", "nor/here"])
    store.delete([])


def test_a_folder_is_no_object(store: ObjectStore) -> None:
    put(store, "data/one", b"1")
    assert store.stat("data") is None
    with pytest.raises(ObjectNotFound):
        store.open("data")
    with pytest.raises(ObjectNotFound):
        store.copy("data", "elsewhere")


def test_reading_whole_is_bounded(store: ObjectStore) -> None:
    put(store, "large", b"0123456789")
    assert store.read("large", max_bytes=10) == b"0123456789"
    with pytest.raises(StoredObjectTooLarge) as refused:
        store.read("large", max_bytes=9)
    assert refused.value.extras == {"size": 10, "limit": 9}


def test_a_wrong_size_changes_nothing(store: ObjectStore) -> None:
    put(store, "there", b"old")
    data = b"0123456789"
    for size in (0, 9, 11):
        for key in ("there", "new"):
            for source in (data, io.BytesIO(data), Trickle(data)):
                with pytest.raises(ObjectSizeMismatch):
                    store.write(key, source, size=size)
    assert get(store, "there") == b"old"
    assert keys(store) == ["there"]


def test_a_source_that_fails_changes_nothing(store: ObjectStore) -> None:
    put(store, "there", b"old")
    for key in ("there", "new"):
        with pytest.raises((ConnectionResetError, OdfError)):
            store.write(key, Breaks(b"0123456789"), size=20)
    assert get(store, "there") == b"old"
    assert keys(store) == ["there"]
    assert store.remove_stranded(timedelta(0)) == 0


def test_parts(store: ObjectStore) -> None:
    put(store, "digits", b"0123456789")
    for start, end, part in (
        (0, 1, b"0"),
        (0, 10, b"0123456789"),
        (0, 99, b"0123456789"),
        (3, 7, b"3456"),
        (3, None, b"3456789"),
        (9, None, b"9"),
        (9, 10, b"9"),
        (8, 99, b"89"),
    ):
        with store.open("digits", start=start, end=end) as stream:
            assert stream.size == 10
            pieces = list(iter(lambda: stream.read(3), b""))
        assert b"".join(pieces) == part
        assert all(1 <= len(piece) <= 3 for piece in pieces)


def test_parts_that_do_not_exist(store: ObjectStore) -> None:
    put(store, "digits", b"0123456789")
    put(store, "empty", b"")
    for start, end in ((10, None), (10, 12), (99, None), (5, 5), (5, 4), (0, 0)):
        with pytest.raises(InvalidRange):
            store.open("digits", start=start, end=end)
    with pytest.raises(InvalidRange):
        store.open("empty", start=0, end=1)


def test_copies(store: ObjectStore) -> None:
    put(store, "a", b"first")
    store.copy("a", "deep/b")
    assert get(store, "deep/b") == b"first"
    put(store, "a", b"second one")
    assert get(store, "deep/b") == b"first"
    store.copy("a", "deep/b")
    assert get(store, "deep/b") == b"second one"
    store.copy("a", "deep/b")
    store.delete(["a"])
    assert get(store, "deep/b") == b"second one"
    assert store.remove_stranded(timedelta(0)) == 0


def test_a_claim_holds_the_bytes_that_were_there(store: ObjectStore) -> None:
    put(store, "staging/x", b"checked")
    with store.claim("staging/x") as claimed:
        assert (claimed.key, claimed.size) == ("staging/x", 7)
        put(store, "staging/x", b"smuggled in afterwards")
        with claimed.open() as stream:
            assert stream.read(-1) == b"checked"
        with claimed.open(start=2, end=4) as stream:
            assert stream.read(-1) == b"ec"
        assert claimed.path is None or claimed.path.read_bytes() == b"checked"
        claimed.publish("data/x")
        assert get(store, "data/x") == b"checked"
        store.delete(["staging/x"])
        claimed.publish("data/x")
        claimed.publish("data/y", settle=False)
        store.settle(["data/y"])
    assert get(store, "data/x") == get(store, "data/y") == b"checked"
    assert keys(store) == ["data/x", "data/y"]
    assert store.remove_stranded(timedelta(0)) == 0


def test_a_claim_that_is_given_up_leaves_nothing(store: ObjectStore) -> None:
    put(store, "staging/x", b"bad")
    with pytest.raises(ZeroDivisionError), store.claim("staging/x"):
        raise ZeroDivisionError
    assert keys(store) == ["staging/x"]
    assert get(store, "staging/x") == b"bad"


def test_deleting(store: ObjectStore) -> None:
    put(store, "a/1", b"1")
    put(store, "a/2", b"2")
    store.delete(key for key in ["a/1", "a/missing"])
    assert keys(store) == ["a/2"]
    put(store, "a/1", b"again")
    assert get(store, "a/1") == b"again"


def test_many(store: ObjectStore) -> None:
    """Listings go on behind a page, in order, and so does deleting."""
    names = sorted(f"blocks/{number:05}" for number in range(MANY))
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda key: store.write(key, key.encode(), size=12, settle=False), names))
    store.settle(names)
    put(store, "checkpoints/other", b"")
    assert keys(store, "blocks/") == names
    assert keys(store, "blocks/0000") == names[:10]
    assert keys(store) == [*names, "checkpoints/other"]
    store.delete(names)
    assert keys(store) == ["checkpoints/other"]


def test_listing_is_by_prefix_and_in_byte_order(store: ObjectStore) -> None:
    names = ["a-b", "a/b-c/d", "a/b/c", "ab", "b/Z", "b/a", "é/x", "z"]
    for name in names:
        put(store, name, b"")
    assert keys(store) == sorted(names, key=str.encode)
    assert keys(store, "a/b") == ["a/b-c/d", "a/b/c"]
    assert keys(store, "a/b/") == ["a/b/c"]
    assert keys(store, "a") == ["a-b", "a/b-c/d", "a/b/c", "ab"]
    assert keys(store, "b/a") == ["b/a"]
    assert keys(store, "b/a/") == []
    assert keys(store, "nowhere/at/all") == []


def test_hidden_names_are_kept_but_not_listed(store: ObjectStore) -> None:
    put(store, "staging/.keep", b"")
    put(store, ".hidden/x", b"h")
    put(store, "staging/x", b"x")
    assert keys(store) == ["staging/x"]
    assert keys(store, "staging/") == ["staging/x"]
    assert get(store, ".hidden/x") == b"h"
    assert store.stat("staging/.keep") is not None


BAD_KEYS = [
    "", "/", "/etc/passwd", "a//b", "a/", "./a", "a/./b", "../a", "a/../../b", "a/..", "..",
    "a\\b", "a\0b", "a\nb", "a\x7f", "\ud800", "x" * 201, "k/" * 600 + "k",
    ".pending-0123456789abcdef", "data/.rclone_temp_put_x",
]  # fmt: skip


def test_keys_that_lead_astray(store: ObjectStore) -> None:
    put(store, "good", b"good")
    calls: list[Callable[[str], object]] = [
        lambda key: store.read(key, max_bytes=1),
        store.open,
        store.stat,
        lambda key: store.write(key, b"x", size=1),
        lambda key: store.copy("good", key),
        lambda key: store.copy(key, "other"),
        lambda key: store.claim(key).__enter__(),
        lambda key: store.delete([key]),
        lambda key: store.settle([key]),
    ]
    with store.claim("good") as claimed:
        for key in BAD_KEYS:
            for call in (*calls, claimed.publish):
                with pytest.raises(InvalidKey):
                    call(key)
    for prefix in ("/", "../", "a/../", "a//", "a\0"):
        with pytest.raises(InvalidKey):
            keys(store, prefix)
    assert keys(store) == ["good"]


def test_keys_with_unusual_characters(store: ObjectStore) -> None:
    for key in ("a b+c", "ü/ß.parquet", "100%25", "a=b&c?d#e", "~(x)!*'", "x" * 200, "A/a"):
        put(store, key, b"content")
        store.copy(key, f"copies/{key}")
        assert get(store, key) == get(store, f"copies/{key}") == b"content"
        assert set(keys(store)) == {key, f"copies/{key}"}
        with store.claim(key) as claimed:
            claimed.publish(f"claims/{key}")
        store.delete([key, f"copies/{key}"])
        assert keys(store) == [f"claims/{key}"]
        store.delete([f"claims/{key}"])


def test_settling_later(store: ObjectStore) -> None:
    store.write("new/folder/x", b"x", size=1, settle=False)
    store.copy("new/folder/x", "other/folder/y", settle=False)
    assert get(store, "other/folder/y") == b"x"
    store.settle(["new/folder/x", "other/folder/y"])
    store.settle([])
    assert keys(store) == ["new/folder/x", "other/folder/y"]


def test_the_store_says_that_it_is_there(store: ObjectStore) -> None:
    store.check()


def versions(number: int) -> bytes:
    """A content that shows when it is torn: one number repeated.

    All have one length, as contents of one content key have: rclone 1.75.2 may send an object that is
    replaced by a longer one cut to the older length.
    """
    return b"%06d" % number * 5_000


def assert_whole(data: bytes) -> None:
    assert data == versions(int(data[:6]))


@pytest.mark.parametrize("way", ["write", "copy", "publish"])
def test_readers_see_whole_objects_only(store: ObjectStore, gap_errors: GapErrors, way: str) -> None:
    """Promotion and every other replacement is atomic to who reads meanwhile."""
    rounds = 25
    put(store, "target", versions(0))
    done = threading.Event()

    def read_until_done() -> int:
        seen = 0
        while not done.is_set():
            with contextlib.suppress(*gap_errors):
                assert_whole(get(store, "target"))
                with store.open("target") as stream:
                    assert_whole(b"".join(iter(lambda: stream.read(4096), b"")))
                seen += 1
        return seen

    with ThreadPoolExecutor(3) as threads:
        readers = [threads.submit(read_until_done) for _ in range(2)]
        try:
            for number in range(1, rounds):
                replace_target(store, way, versions(number))
        finally:
            done.set()
        assert all(reader.result() > 0 for reader in readers)
    assert get(store, "target") == versions(rounds - 1)


def replace_target(store: ObjectStore, way: str, data: bytes) -> None:
    if way == "write":
        put(store, "target", data)
        return
    put(store, "staging/source", data)
    if way == "copy":
        store.copy("staging/source", "target")
    else:
        with store.claim("staging/source") as claimed:
            claimed.publish("target")


def test_writers_at_once(store: ObjectStore, gap_errors: GapErrors) -> None:
    """32 threads on one store: each gets back its own, one key has one of the contents."""
    put(store, "shared", versions(0))

    def work(number: int) -> None:
        data = versions(number)
        put(store, f"own/{number}", data)
        put(store, "shared", data)
        assert get(store, f"own/{number}") == data
        with contextlib.suppress(*gap_errors):
            assert_whole(get(store, "shared"))
        with store.open(f"own/{number}") as stream:
            assert hash_stream(stream)[1] == len(data)

    with ThreadPoolExecutor(32) as threads:
        list(threads.map(work, range(1, 65)))
    assert len(keys(store, "own/")) == 64
    assert_whole(get(store, "shared"))
    assert store.remove_stranded(timedelta(0)) == 0


def test_deleting_and_writing_at_once(store: ObjectStore) -> None:
    """Objects come and go in one folder, which `.keep` keeps (stack.md 2.4)."""
    put(store, "folder/.keep", b"")

    def work(number: int) -> None:
        key = f"folder/{number}"
        for _ in range(5):
            put(store, key, b"x")
            store.delete([key])

    with ThreadPoolExecutor(6) as threads:
        list(threads.map(work, range(6)))
    assert keys(store) == []


def test_streams_can_be_left_early(store: ObjectStore) -> None:
    put(store, "long", b"y" * 3_000_000)
    for _ in range(40):  # more than the pool would hold if they were not given back
        with store.open("long") as stream:
            assert stream.read(10) == b"y" * 10
