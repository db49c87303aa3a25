"""Integrity of datasets: whole ones pass, and every kind of damage is a finding and never an exception."""

import dataclasses
import io
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from odf_core.chain import InvalidInterval
from odf_core.errors import Unavailable
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import AddData, DataSlice, OffsetInterval
from odf_core.storage import DatasetStore, DirectoryStore, MemoryStore, StoreUnavailable
from odf_core.verify import (
    Finding,
    IntegrityCheck,
    Phase,
    Progress,
    Severity,
    VerificationReport,
    VerifyOptions,
    verify_integrity,
)
from tests.builders.dataset_builder import (
    SLICE_SCHEMA,
    DatasetBuilder,
    derivative_dataset,
    describe,
    parquet,
    records,
    root_dataset,
    seed_only,
)
from tests.vectors import require_vectors


def _store(files: dict[str, bytes]) -> DatasetStore:
    store = MemoryStore()
    for name, content in files.items():
        store.write(name, content, size=len(content))
    return DatasetStore(store)


def _verify(files: dict[str, bytes], **options: Any) -> VerificationReport:
    return verify_integrity(_store(files), VerifyOptions(**options))


def _codes(report: VerificationReport) -> list[str]:
    return [finding.code for finding in report.findings]


def _three_slices() -> DatasetBuilder:
    return root_dataset("weather").info("about").add(5).add(7, with_checkpoint=False)


# Whole datasets


@pytest.mark.parametrize(
    "make", [_three_slices, lambda: seed_only("empty"), lambda: derivative_dataset("sums", "a", "b")]
)
@pytest.mark.parametrize("parallelism", [1, 3])
def test_whole(make: Callable[[], DatasetBuilder], parallelism: int) -> None:
    dataset = make()
    report = _verify(dataset.files(), parallelism=parallelism)
    assert report.ok and not report.findings
    summary = report.summary
    assert (summary.blocks, summary.whole_chain) == (len(dataset.blocks), True)
    assert str(summary.head) == dataset.head
    objects = [
        content for name, content in dataset.files().items() if name.startswith(("data/", "checkpoints/"))
    ]
    assert summary.objects == len(objects)
    assert summary.bytes == sum(map(len, objects))


def test_real_dataset(tmp_path: Path) -> None:
    source = require_vectors("datasets/city-population")
    copy = tmp_path / "copy"
    shutil.copytree(source, copy, copy_function=shutil.copyfile)
    for folder in (copy, *(path for path in copy.rglob("*") if path.is_dir())):
        folder.chmod(0o755)
    report = verify_integrity(DatasetStore(DirectoryStore(copy)))
    assert report.ok
    assert (report.summary.blocks, report.summary.objects) == (6, 1)
    for damaged in sorted(path for path in copy.rglob("*") if path.is_file()):
        content = damaged.read_bytes()
        for wrong in (None, b"", content[:-1], content[:-1] + bytes([content[-1] ^ 1]), content + b"\0"):
            damaged.unlink()
            if wrong is not None:
                damaged.write_bytes(wrong)
            report = verify_integrity(DatasetStore(DirectoryStore(copy)))
            assert not report.ok, (damaged, wrong)
            damaged.write_bytes(content)
    assert verify_integrity(DatasetStore(DirectoryStore(copy))).ok


def test_progress_and_order() -> None:
    dataset = _three_slices()
    seen: list[Progress] = []
    check = IntegrityCheck(_store(dataset.files()), progress=seen.append)
    assert list(check) == []
    phases = [progress.phase for progress in seen]
    counts = {phase: phases.count(phase) for phase in Phase}
    each = len(dataset.blocks)
    assert counts == {Phase.BLOCKS: each, Phase.RULES: each, Phase.OBJECTS: each, Phase.REPLAY: 0}
    objects = [progress for progress in seen if progress.phase is Phase.OBJECTS]
    assert [progress.done for progress in objects] == list(range(1, len(dataset.blocks) + 1))
    assert objects[-1].bytes == check.summary.bytes


# Damaged files


def _names(dataset: DatasetBuilder, prefix: str) -> list[str]:
    return [name for name in dataset.files() if name.startswith(prefix)]


@pytest.mark.parametrize("prefix", ["data/", "checkpoints/"])
@pytest.mark.parametrize(
    ("damage", "code"),
    [
        (lambda content: None, "object_not_found"),
        (lambda content: b"", "object_size_mismatch"),
        (lambda content: content[:-1], "object_size_mismatch"),
        (lambda content: content + b"\0", "object_size_mismatch"),
        (lambda content: bytes([content[0] ^ 1]) + content[1:], "object_hash_mismatch"),
    ],
)
def test_damaged_object(prefix: str, damage: Callable[[bytes], bytes | None], code: str) -> None:
    dataset = _three_slices()
    for name in _names(dataset, prefix):
        files = dataset.files()
        content = damage(files.pop(name))
        if content is not None:
            files[name] = content
        report = _verify(files)
        [finding] = report.findings
        assert (finding.code, finding.severity) == (code, Severity.ERROR)
        assert any(name.endswith(item) or item.endswith(name) for item in finding.objects)
        assert finding.block in {str(block.hash) for block in dataset.blocks}
        assert report.summary.whole_chain


def test_sizes_only() -> None:
    dataset = _three_slices()
    files = dataset.files()
    [first, second, third] = _names(dataset, "data/")
    files[first] = bytes(len(files[first]))
    assert _verify(files, check_size_only=True).ok
    del files[second]
    files[third] += b"\0"
    report = _verify(files, check_size_only=True)
    assert sorted(_codes(report)) == ["object_not_found", "object_size_mismatch"]
    assert report.summary.bytes == 0


def test_recent_blocks_and_intervals() -> None:
    dataset = _three_slices()
    files = dataset.files()
    oldest = dataset.blocks[3].hash
    for name in _names(dataset, "data/")[:2]:
        del files[name]
    assert len(_verify(files).findings) == 2
    assert _verify(files, recent=1).ok
    assert len(_verify(files, recent=2).findings) == 1
    assert _verify(files, recent=0).summary.objects == 0
    assert len(_verify(files, tail=oldest).findings) == 1
    assert len(_verify(files, head=oldest).findings) == 1
    with pytest.raises(InvalidInterval):
        _verify(files, tail=Multihash.sha3_256(b"elsewhere"))


def test_every_damaged_block() -> None:
    """What is before it cannot be looked at; what is after it is checked nonetheless."""
    dataset = _three_slices()
    for index, block in enumerate(dataset.blocks):
        name = f"blocks/{block.hash}"
        for content in (None, b"", block.data[:-1], block.data[:-1] + bytes([block.data[-1] ^ 1])):
            files = dataset.files()
            del files[name]
            if content is not None:
                files[name] = content
            report = _verify(files)
            assert not report.ok
            assert report.summary.blocks == len(dataset.blocks) - index - 1
            assert not report.summary.whole_chain
            assert _codes(report)[-1] == "chain_incomplete"
            assert str(block.hash) in report.findings[0].objects[0]


@pytest.mark.parametrize("content", [None, b"", b"f1620", b"\xff" * 69, b"f1620" + b"0" * 64])
def test_damaged_head(content: bytes | None) -> None:
    files = _three_slices().files()
    del files["refs/head"]
    if content is not None:
        files["refs/head"] = content
    report = _verify(files)
    assert not report.ok
    assert report.summary.blocks == 0


# Chains and blocks that lie, with true hashes


def test_rule_of_the_chain_is_broken() -> None:
    dataset = _three_slices()
    chain = dataset.chain
    chain.event(chain.last_event(AddData))  # repeats the last slice
    dataset.add(3)
    report = _verify(dataset.files())
    assert not report.ok
    assert _codes(report) == ["invalid_event"]
    assert report.summary.blocks == len(dataset.blocks)
    assert not report.summary.whole_chain


def _lying(described: DataSlice, content: bytes) -> DatasetBuilder:
    dataset = DatasetBuilder("liar")
    dataset.chain.seed().polling_source().schema()
    dataset.put(described, content)
    dataset.chain.add_data(data_slice=described)
    return dataset


_TRUE = parquet(records(0, 4))


@pytest.mark.parametrize(
    ("described", "content", "code"),
    [
        (
            dataclasses.replace(describe(_TRUE, 0, 4), offset_interval=OffsetInterval(start=0, end=4)),
            _TRUE,
            "slice_rows_mismatch",
        ),
        (describe(parquet(records(1, 4)), 0, 4), parquet(records(1, 4)), "slice_offsets_mismatch"),
        (
            dataclasses.replace(
                describe(_TRUE, 0, 4), logical_hash=describe(parquet(records(0, 3)), 0, 3).logical_hash
            ),
            _TRUE,
            "logical_hash_mismatch",
        ),
        (
            dataclasses.replace(
                describe(_TRUE, 0, 4), physical_hash=Multihash.sha3_256(b"no parquet"), size=10
            ),
            b"no parquet",
            "slice_unreadable",
        ),
    ],
)
def test_slice_that_is_not_what_its_block_says(described: DataSlice, content: bytes, code: str) -> None:
    dataset = _lying(described, content)
    report = _verify(dataset.files())
    assert code in _codes(report)
    assert all(finding.block == dataset.head for finding in report.findings)
    codes_without = _codes(_verify(dataset.files(), logical_hash=False))
    assert codes_without == ([] if code == "logical_hash_mismatch" else [code])


def test_slice_of_another_schema() -> None:
    schema = SLICE_SCHEMA.append(pa.field("more", pa.int64()))
    content = parquet(records(0, 4) | {"more": [1, 2, 3, 4]}, schema)
    assert _codes(_verify(_lying(describe(content, 0, 4), content).files())) == ["slice_schema_mismatch"]


def test_what_cannot_be_hashed_or_is_too_large_is_a_warning() -> None:
    dataset = _three_slices()
    report = _verify(dataset.files(), limits=Limits(slice_rows=8))
    assert report.ok
    assert [finding.severity for finding in report.findings] == [Severity.WARNING]


# Storage


class _Unsteady(MemoryStore):
    """A store that stops answering at the n-th call."""

    def __init__(self, calls: int) -> None:
        super().__init__()
        self.calls = calls

    def _count(self) -> None:
        self.calls -= 1
        if self.calls < 0:
            raise StoreUnavailable("The store does not answer.")

    def open(self, key: str, *, start: int = 0, end: int | None = None) -> Any:
        self._count()
        return super().open(key, start=start, end=end)


def test_a_store_that_stops_answering_is_no_finding() -> None:
    dataset = _three_slices()
    total = 1 + len(dataset.blocks) + len(_names(dataset, "data/")) + len(_names(dataset, "checkpoints/"))
    for calls in range(total + 1):
        store = _Unsteady(calls=1 << 30)
        for name, content in dataset.files().items():
            store.write(name, content, size=len(content))
        store.calls = calls
        if calls == total:
            assert verify_integrity(DatasetStore(store)).ok
            continue
        with pytest.raises(Unavailable):
            verify_integrity(DatasetStore(store))


class _Counting:
    """Counts how many objects are open at one time."""

    def __init__(self, store: DatasetStore) -> None:
        self._store = store
        self.open = self.most = 0

    def head(self) -> Multihash | None:
        return self._store.head()

    def read_block(self, block_hash: Multihash, /) -> bytes:
        return self._store.read_block(block_hash)

    @contextmanager
    def open_object(self, ref: ObjectRef, /) -> Iterator[Any]:
        self.open += 1
        self.most = max(self.most, self.open)
        with self._store.open_object(ref) as stream:
            yield stream
        self.open -= 1


def test_objects_are_read_a_few_at_a_time() -> None:
    dataset = root_dataset("many")
    for _ in range(12):
        dataset.add(1)
    for parallelism in (1, 2):
        counting = _Counting(_store(dataset.files()))
        report = verify_integrity(counting, VerifyOptions(parallelism=parallelism))
        assert report.ok
        assert 1 <= counting.most <= parallelism


def test_a_checkpoint_that_many_blocks_name_is_read_once() -> None:
    dataset = root_dataset("same")
    state = dataset.chain.objects[
        next(ref for ref in dataset.chain.objects if ref.kind is ObjectKind.CHECKPOINT)
    ]
    for _ in range(3):
        dataset.chain.add_data(data_slice=dataset.slice(dataset.next_offset, 2), checkpoint=state)
    report = _verify(dataset.files())
    assert report.ok
    assert report.summary.objects == 4 + 1


def test_findings_are_json() -> None:
    files = _three_slices().files()
    del files[next(name for name in files if name.startswith("data/"))]
    report = _verify(files)
    [finding] = report.findings
    assert isinstance(finding, Finding)
    assert set(finding.to_json()) == {"code", "severity", "message", "objects", "block"}
    assert report.summary.to_json()["errors"] == 1


def test_files_in_the_layout_are_what_is_read(tmp_path: Path) -> None:
    dataset = _three_slices()
    store = DatasetStore(DirectoryStore(dataset.write(tmp_path / "dataset")))
    assert verify_integrity(store).ok
    assert io.BytesIO(dataset.files()["refs/head"]).read().decode() == dataset.head
