"""What only a directory can do wrong: links, leftovers of killed writers, names within names."""

import os
import signal
import subprocess
import sys
import time
from datetime import timedelta
from pathlib import Path

import pytest

from odf_core.storage import DirectoryStore, InvalidKey, ObjectNotFound, StoreUnavailable


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "secret").write_text("secret")
    return folder


@pytest.fixture
def store(tmp_path: Path) -> DirectoryStore:
    store = DirectoryStore(tmp_path / "root")
    store.write("a/b", b"inside", size=6)
    return store


def test_links_lead_nowhere(store: DirectoryStore, outside: Path) -> None:
    (store.root / "folder").symlink_to(outside)
    (store.root / "a" / "link").symlink_to(outside / "secret")
    (store.root / "a" / "dangling").symlink_to(outside / "new")
    for call in (
        lambda: store.read("folder/secret", max_bytes=10),
        lambda: store.stat("folder/secret"),
        lambda: store.write("folder/new", b"x", size=1),
        lambda: store.copy("a/b", "folder/new"),
        lambda: store.delete(["folder/secret"]),
    ):
        with pytest.raises(InvalidKey):
            call()
    for key in ("a/link", "a/dangling"):
        assert store.stat(key) is None
        with pytest.raises(ObjectNotFound):
            store.open(key)
        with pytest.raises(ObjectNotFound):
            store.copy(key, "c")
    assert [found.key for found in store.list("")] == ["a/b"]
    store.write("a/link", b"x", size=1)  # takes the link's place, does not follow it
    assert (outside / "secret").read_text() == "secret"
    assert sorted(path.name for path in outside.iterdir()) == ["secret"]
    assert [found.key for found in store.list("a")] == ["a/b", "a/link"]


def test_the_root_itself_may_be_reached_by_a_link(store: DirectoryStore, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(store.root)
    assert DirectoryStore(tmp_path / "alias").read("a/b", max_bytes=10) == b"inside"


def test_a_name_below_an_object(store: DirectoryStore) -> None:
    with pytest.raises(InvalidKey):
        store.write("a/b/c", b"x", size=1)
    with pytest.raises(InvalidKey):
        store.write("a", b"x", size=1)
    assert store.stat("a/b/c") is None
    store.delete(["a/b/c"])
    assert store.read("a/b", max_bytes=10) == b"inside"


def test_a_store_that_is_not_there_yet(tmp_path: Path) -> None:
    store = DirectoryStore(tmp_path / "not" / "yet")
    assert list(store.list("")) == []
    assert store.stat("x") is None
    assert not (tmp_path / "not").exists()
    store.check()
    store.write("deep/er/x", b"x", size=1)
    assert store.read("deep/er/x", max_bytes=1) == b"x"


def test_a_root_that_is_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InvalidKey):
        DirectoryStore(tmp_path / "file").write("x", b"x", size=1)


KILLED = """
import sys, time
from odf_core.storage import DirectoryStore
store = DirectoryStore(sys.argv[1])
class Slow:
    def read(self, n=-1):
        print("writing", flush=True)
        time.sleep(0.01)
        return b"x"
store.write("a/b", Slow(), size=10**6)
"""


def test_a_killed_writer_leaves_the_old_object_and_can_be_swept(store: DirectoryStore) -> None:
    writer = subprocess.Popen([sys.executable, "-c", KILLED, str(store.root)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    assert writer.stdout.readline()
    writer.send_signal(signal.SIGKILL)
    writer.wait()
    writer.stdout.close()
    assert store.read("a/b", max_bytes=10) == b"inside"
    assert [found.key for found in store.list("")] == ["a/b"]
    assert len(list((store.root / "a").iterdir())) == 2
    assert store.remove_stranded(timedelta(hours=1)) == 0
    time.sleep(0.05)
    assert store.remove_stranded(timedelta(seconds=0.01)) == 1
    assert [path.name for path in (store.root / "a").iterdir()] == ["b"]


def test_where_there_are_no_hard_links(store: DirectoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(os, "link", refuse)
    with store.claim("a/b") as claimed:
        store.write("a/b", b"changed", size=7)
        claimed.publish("c")
    store.copy("c", "d")
    assert store.read("c", max_bytes=10) == store.read("d", max_bytes=10) == b"inside"
    with pytest.raises(ObjectNotFound):
        store.copy("missing", "d")
    with pytest.raises(ObjectNotFound):
        store.copy("a", "d")
    assert store.remove_stranded(timedelta(0)) == 0


def test_a_full_disk_is_a_sentence(store: DirectoryStore, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> int:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "write", full)
    with pytest.raises(StoreUnavailable, match="No space left"):
        store.write("a/b", b"more", size=4)
    monkeypatch.undo()
    assert store.read("a/b", max_bytes=10) == b"inside"
    assert store.remove_stranded(timedelta(0)) == 0


def test_everything_is_synced_before_it_is_visible(
    store: DirectoryStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a write: its bytes, then the rename, then the folder; of a new folder its parent too.

    Of new names that are settled later: all at the settling, before anything can refer to them.
    """
    log: list[str] = []
    really_sync, really_replace = os.fsync, Path.replace

    def sync(descriptor: int) -> None:
        log.append(f"sync {Path(os.readlink(f'/proc/self/fd/{descriptor}')).name.split('-')[0]}")
        really_sync(descriptor)

    def replace(path: Path, target: Path) -> Path:
        log.append(f"rename {target.name}")
        return really_replace(path, target)

    if not Path("/proc/self/fd").is_dir():
        pytest.skip("the names of descriptors are looked up in /proc")
    monkeypatch.setattr(os, "fsync", sync)
    monkeypatch.setattr(Path, "replace", replace)
    store.write("a/c", b"x", size=1)
    assert log == ["sync .pending", "rename c", "sync a"]
    log.clear()
    store.write("n/m/x", b"x", size=1)
    assert log == ["sync .pending", "rename x", "sync root", "sync n", "sync m"]
    log.clear()
    store.copy("a/c", "a/d")
    assert log == ["sync .pending", "rename d", "sync a"]
    log.clear()
    store.write("a/e", b"x", size=1, settle=False)
    store.copy("a/e", "a/f", settle=False)
    assert log == ["rename e", "rename f"]
    log.clear()
    store.settle(["a/e", "a/f"])
    assert log == ["sync e", "sync f", "sync a"]
    log.clear()
    store.write("a/e", b"y", size=1, settle=False)  # what it replaces has been durable
    store.copy("a/e", "a/f", settle=False)
    assert log == ["sync .pending", "rename e", "sync .pending", "rename f"]
