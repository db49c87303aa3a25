"""Renaming, deleting, resetting local datasets, and watermarks by hand."""

from pathlib import Path

import pytest

from odf_core.chain import SystemTimeNotMonotonic
from odf_core.identity import DatasetAlias, Multihash
from odf_core.metadata import DatasetKind, Timestamp, read_snapshots
from odf_core.transfer.client.keyblocks import resume_chain
from odf_core.workspace import (
    DatasetBusy,
    DatasetInUse,
    LocalDatasetExists,
    LocalDatasetNotFound,
    NotAnAncestor,
    NotOfThisKind,
    OldHeadMismatch,
    PulledDataset,
    Workspace,
)
from odf_core.workspace.adding import add_snapshots
from odf_core.workspace.deletion import delete_datasets
from odf_core.workspace.reset import reset_dataset
from odf_core.workspace.state import current_state
from odf_core.workspace.tail import tail
from odf_core.workspace.templates import template
from odf_core.workspace.watermark import set_watermark
from tests.builders.dataset_builder import root_dataset
from tests.workspace.local_datasets import assert_whole, derivative_of, new_workspace, put

NOW = Timestamp.parse("2026-01-02T03:04:05Z")
NOON = Timestamp.parse("2024-05-01T12:00:00Z")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path)


def test_renaming(workspace: Workspace, tmp_path: Path) -> None:
    dataset = put(workspace, "foo", root_dataset("foo"), tmp_path)
    put(workspace, "other", root_dataset("other"), tmp_path)
    head = dataset.head
    with pytest.raises(LocalDatasetExists, match="called Other already"):
        workspace.rename(dataset, DatasetAlias.parse("Other"))
    workspace.rename(dataset, DatasetAlias.parse("FOO"))
    workspace.rename(dataset, DatasetAlias.parse("account/bar"))
    assert workspace.dataset("account/bar").head == head
    with pytest.raises(LocalDatasetNotFound):
        workspace.dataset("foo")


def test_what_others_read_is_not_deleted(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    root = put(workspace, "foo", builder, tmp_path)
    derived = put(workspace, "derived", derivative_of(builder, "derived"), tmp_path)
    with pytest.raises(DatasetInUse, match="derived read foo"):
        delete_datasets(workspace, [root])
    assert root.head is not None
    assert [item.id for item in delete_datasets(workspace, [root], force=True)] == [derived.id]
    assert [item.id for item in workspace.datasets()] == [derived.id]


def test_what_is_deleted_together_may_depend_on_each_other(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    root = put(workspace, "foo", builder, tmp_path)
    derived = put(workspace, "derived", derivative_of(builder, "derived"), tmp_path)
    assert delete_datasets(workspace, [root, derived]) == []
    assert list(workspace.datasets()) == []


def test_where_one_is_busy_none_is_deleted_or_replaced(workspace: Workspace, tmp_path: Path) -> None:
    first = put(workspace, "foo", root_dataset("foo"), tmp_path)
    second = put(workspace, "bar", root_dataset("bar"), tmp_path)
    snapshots = [
        item
        for name in ("foo", "bar")
        for item in read_snapshots(template(DatasetAlias.parse(name), DatasetKind.ROOT), name)
    ]
    with second.lock():
        with pytest.raises(DatasetBusy):
            delete_datasets(workspace, [first, second])
        with pytest.raises(DatasetBusy):
            add_snapshots(workspace, snapshots, NOW, replace_existing=True)
    assert {item.id for item in workspace.datasets()} == {first.id, second.id}


def test_a_reset_takes_blocks_off(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(5).info("newer")
    dataset = put(workspace, "foo", builder, tmp_path)
    target = builder.blocks[3].hash
    done = reset_dataset(workspace, dataset, target, old_head=builder.chain.head)
    assert (done.old_head, done.new_head, done.num_blocks) == (builder.chain.head, target, 2)
    assert dataset.head == target
    assert current_state(dataset.folder).last_offset == 9
    assert resume_chain(dataset.folder, target)[0].head == target
    assert tail(dataset).column("offset").to_pylist() == list(range(10))
    assert_whole(dataset)
    workspace.append_blocks(dataset, builder.blocks[4:])
    assert dataset.head == builder.chain.head


def test_a_reset_goes_to_the_seed_unless_told_otherwise(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    dataset = put(workspace, "foo", builder, tmp_path)
    assert reset_dataset(workspace, dataset).new_head == builder.blocks[0].hash
    again = reset_dataset(workspace, dataset)
    assert (again.num_blocks, again.old_head) == (0, again.new_head)
    assert_whole(dataset)


def test_a_reset_that_is_refused(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    dataset = put(workspace, "foo", builder, tmp_path)
    with pytest.raises(NotAnAncestor):
        reset_dataset(workspace, dataset, Multihash.sha3_256(b"unknown"))
    with pytest.raises(OldHeadMismatch, match="look at what has changed"):
        reset_dataset(workspace, dataset, old_head=builder.blocks[1].hash)
    assert dataset.head == builder.chain.head
    reset_dataset(workspace, dataset, builder.blocks[2].hash)
    with pytest.raises(NotAnAncestor):  # it lies on the disk still, but it is no ancestor
        reset_dataset(workspace, dataset, builder.blocks[3].hash)


def test_a_reset_tells_what_it_breaks(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(5)
    root = put(workspace, "foo", builder, tmp_path)
    early, late = builder.blocks[3].hash, builder.blocks[4].hash
    put(workspace, "early", derivative_of(builder, "early", early), tmp_path)
    put(workspace, "late", derivative_of(builder, "late", late), tmp_path)
    done = reset_dataset(workspace, root, early)
    assert [str(item.alias) for item in done.broken] == ["late"]


def test_a_watermark_by_hand(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    builder.chain.add_data(None, source_state="etag-1", checkpoint=b"state")
    dataset = put(workspace, "foo", builder, tmp_path)
    before = current_state(dataset.folder)
    done = set_watermark(dataset, NOON, NOW)
    assert (done.old_watermark, done.watermark) == (None, NOON)
    after = current_state(dataset.folder)
    assert (after.head, after.watermark, after.last_offset) == (done.new_head, NOON, 9)
    assert before.last_add_data is not None
    assert after.last_add_data is not None
    assert after.last_add_data.new_source_state == before.last_add_data.new_source_state is not None
    assert after.last_checkpoint == before.last_checkpoint is not None
    assert_whole(dataset)


@pytest.mark.parametrize(
    "earlier", ["2024-05-01T12:00:00Z", "2024-05-01T14:00:00+02:00", "1999-01-01T00:00:00Z"]
)
def test_a_watermark_never_goes_back(workspace: Workspace, tmp_path: Path, earlier: str) -> None:
    dataset = put(workspace, "foo", root_dataset("foo"), tmp_path)
    head = set_watermark(dataset, NOON, NOW).new_head
    done = set_watermark(dataset, Timestamp.parse(earlier), NOW)
    assert (done.old_head, done.new_head, done.watermark) == (head, head, NOON)


def test_a_watermark_of_a_dataset_without_records(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").first(3)
    dataset = put(workspace, "foo", builder, tmp_path)
    set_watermark(dataset, NOON, NOW)
    assert current_state(dataset.folder).last_offset is None
    assert_whole(dataset)


def test_watermarks_that_are_refused(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    root = put(workspace, "foo", builder, tmp_path)
    derived = put(workspace, "derived", derivative_of(builder, "derived"), tmp_path)
    with pytest.raises(NotOfThisKind, match="derived is derivative"):
        set_watermark(derived, NOON, NOW)
    with pytest.raises(SystemTimeNotMonotonic):
        set_watermark(root, NOON, Timestamp.parse("1999-01-01T00:00:00Z"))
    root.remember(pull="https://example.org/foo")
    with pytest.raises(PulledDataset, match=r"pulled from https://example\.org/foo"):
        set_watermark(root, NOON, NOW)
    assert root.head == builder.chain.head
