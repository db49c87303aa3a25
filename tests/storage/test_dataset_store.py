"""The layout of a dataset, with strict reading of its head and hashes checked."""

import io
from pathlib import Path

import pytest

from odf_core.identity import DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.storage import (
    DatasetStore,
    DirectoryStore,
    InvalidHead,
    MemoryStore,
    ObjectHashMismatch,
    ObjectNotFound,
    ObjectSizeMismatch,
    ObjectStore,
    StoredObjectTooLarge,
    block_key,
    checkpoint_key,
    data_key,
    dataset_prefix,
    object_key,
    read_head,
)

BLOCK = b"a block"
HASH = Multihash.sha3_256(BLOCK)


@pytest.fixture(params=["memory", "directory"])
def files(request: pytest.FixtureRequest, tmp_path: Path) -> ObjectStore:
    return MemoryStore() if request.param == "memory" else DirectoryStore(tmp_path)


def test_where_things_lie() -> None:
    dataset_id = DatasetId(bytes(range(32)))
    assert dataset_prefix(dataset_id) == "fed01" + bytes(range(32)).hex() + "/"
    assert block_key(HASH) == f"blocks/{HASH}"
    assert data_key(HASH) == object_key(ObjectRef(ObjectKind.DATA_SLICE, HASH, 1)) == f"data/{HASH}"
    assert checkpoint_key(HASH) == object_key(ObjectRef(ObjectKind.CHECKPOINT, HASH, 1))
    assert checkpoint_key(HASH) == f"checkpoints/{HASH}"


def test_a_dataset_in_a_folder(files: ObjectStore) -> None:
    dataset = DatasetStore(files, "fed01/")
    assert dataset.head() is None
    dataset.write_block(HASH, BLOCK)
    dataset.set_head(HASH)
    assert dataset.head() == HASH
    assert dataset.read_block(HASH) == BLOCK
    assert list(dataset.block_hashes()) == [HASH]
    assert files.read("fed01/refs/head", max_bytes=69) == str(HASH).encode()
    assert [found.key for found in files.list("")] == [f"fed01/blocks/{HASH}", "fed01/refs/head"]
    assert DatasetStore(files).head() is None


GOOD_HEAD = str(HASH).encode()


@pytest.mark.parametrize(
    "content",
    [
        b"", GOOD_HEAD + b"\n", b" " + GOOD_HEAD, GOOD_HEAD[:-1], GOOD_HEAD.upper(), b"F" + GOOD_HEAD[1:],
        GOOD_HEAD[:-1] + b"g", GOOD_HEAD[:-1] + b"\xc3", GOOD_HEAD + b"x" * 5000, b"f1220" + GOOD_HEAD[5:],
        GOOD_HEAD.replace(b"a", b"A"), b"z" * 69,
    ],
    ids=range(12),
)  # fmt: skip
def test_a_head_that_is_something_else(files: ObjectStore, content: bytes) -> None:
    dataset = DatasetStore(files)
    files.write("refs/head", content, size=len(content))
    if content.startswith(b"f1220"):
        assert dataset.head() == read_head(content)  # SHA2-256: a known hash, though of no block we make
        return
    with pytest.raises(InvalidHead):
        dataset.head()


def test_a_block_is_what_its_name_says(files: ObjectStore) -> None:
    dataset = DatasetStore(files)
    with pytest.raises(ObjectHashMismatch):
        dataset.write_block(HASH, b"another")
    with pytest.raises(ObjectNotFound):
        dataset.read_block(HASH)
    files.write(block_key(HASH), b"damaged", size=7)
    with pytest.raises(ObjectHashMismatch) as damaged:
        dataset.read_block(HASH)
    assert damaged.value.objects == (str(HASH),)


def test_blocks_have_a_bound(files: ObjectStore) -> None:
    dataset = DatasetStore(files, limits=Limits(block_bytes=6))
    dataset.write_block(HASH, BLOCK)
    with pytest.raises(StoredObjectTooLarge):
        dataset.read_block(HASH)


def test_foreign_names_among_the_blocks_are_passed_over(files: ObjectStore) -> None:
    dataset = DatasetStore(files)
    dataset.write_block(HASH, BLOCK)
    for name in ("README", str(HASH).upper(), "f1620ab", ".pending"):
        files.write(f"blocks/{name}", b"", size=0)
    assert list(dataset.block_hashes()) == [HASH]


@pytest.mark.parametrize("kind", ObjectKind)
@pytest.mark.parametrize("sized", [True, False])
@pytest.mark.parametrize("form", ["bytes", "file", "stream"])
def test_objects(files: ObjectStore, kind: ObjectKind, sized: bool, form: str) -> None:
    data = bytes(range(256)) * 10_000
    ref = ObjectRef(kind, Multihash.sha3_256(data), len(data) if sized else None)
    dataset = DatasetStore(files)
    assert not dataset.has_object(ref)
    source = {"bytes": data, "file": io.BytesIO(data), "stream": OneWay(data)}[form]
    dataset.write_object(ref, source)  # type: ignore[arg-type]
    assert dataset.has_object(ref)
    assert not dataset.has_object(ObjectRef(kind, ref.hash, 1))
    with dataset.open_object(ref, start=256, end=512) as stream:
        assert stream.read(-1) == data[256:512]


@pytest.mark.parametrize("form", ["bytes", "file", "stream"])
@pytest.mark.parametrize(
    ("size", "expected"),
    [(4, ObjectHashMismatch), (None, ObjectHashMismatch), (3, ObjectSizeMismatch), (5, ObjectSizeMismatch)],
)
def test_objects_that_are_not_what_was_declared(
    files: ObjectStore, form: str, size: int | None, expected: type[Exception]
) -> None:
    ref = ObjectRef(ObjectKind.DATA_SLICE, Multihash.sha3_256(b"true"), size)
    dataset = DatasetStore(files)
    source = {"bytes": b"lie!", "file": io.BytesIO(b"lie!"), "stream": OneWay(b"lie!")}[form]
    with pytest.raises(expected):
        dataset.write_object(ref, source)  # type: ignore[arg-type]
    assert not dataset.has_object(ObjectRef(ref.kind, ref.hash, None))
    assert list(files.list("")) == []


def test_an_endless_object_is_not_stored(files: ObjectStore) -> None:
    dataset = DatasetStore(files, limits=Limits(object_bytes=10_000_000))
    ref = ObjectRef(ObjectKind.DATA_SLICE, HASH, None)
    with pytest.raises(StoredObjectTooLarge):
        dataset.write_object(ref, Endless())
    with pytest.raises(ObjectSizeMismatch):
        dataset.write_object(ObjectRef(ObjectKind.DATA_SLICE, HASH, 5), Endless())
    assert list(files.list("")) == []


def test_settling_later(files: ObjectStore) -> None:
    dataset = DatasetStore(files)
    dataset.write_block(HASH, BLOCK, settle=False)
    dataset.write_object(ObjectRef(ObjectKind.CHECKPOINT, HASH, len(BLOCK)), BLOCK, settle=False)
    dataset.settle()
    dataset.set_head(HASH)
    assert dataset.head() == HASH


class OneWay:
    """A source that cannot go back, as a download."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)

    def read(self, n: int = -1, /) -> bytes:
        return self._file.read(n)


class Endless:
    def read(self, n: int = -1, /) -> bytes:
        return bytes(max(n, 1))
