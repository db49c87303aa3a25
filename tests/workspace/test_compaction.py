"""Hard compaction: the same records and the same state in fewer slices."""

import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odf_core.metadata import (
    AddData,
    DataField,
    DataTypeOption,
    DataTypeString,
    ExtraAttributes,
    MetadataEvent,
    SetDataSchema,
)
from odf_core.workspace import LocalDataset, NotOfThisKind, OldHeadMismatch, Workspace
from odf_core.workspace.compaction.options import CompactionOptions, CompactionResult
from odf_core.workspace.compaction.run import CompactionFailed, compact
from odf_core.workspace.state import current_state
from odf_core.workspace.tail import TailRange, tail
from tests.builders.chain_builder import CITY_FIELDS
from tests.builders.dataset_builder import (
    SLICE_SCHEMA,
    DatasetBuilder,
    describe,
    parquet,
    records,
    root_dataset,
)
from tests.vectors import require_vectors
from tests.workspace.local_datasets import assert_whole, derivative_of, new_workspace, put

EARLY, LATE = "2024-02-01T00:00:00Z", "2024-03-01T00:00:00Z"


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path)


def rows(dataset: LocalDataset) -> Any:
    return tail(dataset, TailRange(limit=10_000)).to_pylist()


def events(dataset: LocalDataset) -> list[MetadataEvent]:
    return [block.block.event for block in dataset.folder.walk()][::-1]


def data_events(dataset: LocalDataset) -> list[AddData]:
    return [event for event in events(dataset) if isinstance(event, AddData)]


def intervals(dataset: LocalDataset) -> list[tuple[int, int]]:
    slices = [event.new_data for event in data_events(dataset) if event.new_data is not None]
    return [(item.offset_interval.start, item.offset_interval.end) for item in slices]


def objects(dataset: LocalDataset) -> set[str]:
    return {path.name for part in ("data", "checkpoints") for path in (dataset.path / part).iterdir()}


def state(dataset: LocalDataset) -> tuple[Any, ...]:
    now = current_state(dataset.folder)
    last = now.last_add_data
    return (now.watermark, now.last_offset, last and last.new_source_state, last and last.new_checkpoint)


def run(workspace: Workspace, dataset: LocalDataset, **options: Any) -> CompactionResult:
    """A compaction that must change neither records nor state."""
    before = rows(dataset), state(dataset)
    done = compact(workspace, dataset, CompactionOptions(**options))
    assert (rows(dataset), state(dataset)) == before
    assert done.new_head == dataset.head
    assert not list(dataset.path.glob(".*"))
    assert_whole(dataset)
    return done


def test_slices_become_one(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(5).add(7)
    dataset = put(workspace, "foo", builder, tmp_path)
    done = run(workspace, dataset)
    assert (done.old_blocks, done.new_blocks, done.old_slices, done.new_slices) == (6, 4, 3, 1)
    assert intervals(dataset) == [(0, 21)]
    assert [block.hash for block in dataset.folder.walk()][:0:-1] == [b.hash for b in builder.blocks[:3]]
    (event,) = data_events(dataset)
    assert dataset.folder.read_block(done.new_head).block.system_time == builder.blocks[-1].block.system_time
    assert event.new_data is not None
    assert event.new_checkpoint is not None
    assert objects(dataset) == {
        str(event.new_data.physical_hash),
        str(event.new_checkpoint.physical_hash),
    }
    assert len(list((dataset.path / "blocks").iterdir())) == 4
    again = run(workspace, dataset)
    assert again.old_head == again.new_head == done.new_head


def test_the_same_chain_gives_the_same_chain(tmp_path: Path) -> None:
    heads = set()
    for number in range(2):
        workspace = new_workspace(tmp_path / str(number))
        dataset = put(workspace, "foo", root_dataset("foo").add(5).add(7), tmp_path / str(number))
        heads.add(compact(workspace, dataset).new_head)
    assert len(heads) == 1


def test_old_files_may_be_kept(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(5)
    dataset = put(workspace, "foo", builder, tmp_path)
    before = objects(dataset)
    run(workspace, dataset, keep_old_files=True)
    assert before < objects(dataset)
    assert all(dataset.folder.block_path(block.hash).exists() for block in builder.blocks)


def test_bounds_of_records_and_bytes(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(10).add(10).add(25).add(1).add(2)
    dataset = put(workspace, "foo", builder, tmp_path)
    run(workspace, dataset, max_slice_records=20)
    assert intervals(dataset) == [(0, 19), (20, 29), (30, 54), (55, 57)]
    assert run(workspace, dataset, max_slice_size=100).old_blocks == 7
    assert len(intervals(dataset)) == 4
    sizes = [event.new_data.size for event in data_events(dataset) if event.new_data is not None]
    run(workspace, dataset, max_slice_size=sizes[0] + sizes[1], max_slice_records=10**6)
    assert intervals(dataset)[0] == (0, 29)


def test_other_events_close_a_run(workspace: Workspace, tmp_path: Path) -> None:
    dataset = put(workspace, "foo", root_dataset("foo").add(1).info("x").add(2).add(3), tmp_path)
    run(workspace, dataset)
    assert [type(item).__name__ for item in events(dataset)][3:] == ["AddData", "SetInfo", "AddData"]
    assert intervals(dataset) == [(0, 10), (11, 15)]


def test_watermark_and_source_state_beside_one_slice_are_kept(workspace: Workspace, tmp_path: Path) -> None:
    """The fault of the deployed implementation: only the block with the slice is left there."""
    builder = root_dataset("foo")
    builder.chain.add_data(None, watermark=EARLY, source_state="a")
    builder.chain.add_data(None, watermark=LATE, source_state="b", checkpoint=b"newer")
    dataset = put(workspace, "foo", builder, tmp_path)
    files = objects(dataset)
    run(workspace, dataset)
    (event,) = data_events(dataset)
    assert (str(event.new_watermark), event.new_source_state and event.new_source_state.value) == (LATE, "b")
    assert intervals(dataset) == [(0, 9)]
    assert len(objects(dataset)) == len(files) - 1  # the slice is the same file; one checkpoint is past


def test_a_source_state_that_was_cleared_stays_cleared(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    builder.chain.add_data(None, source_state="a")
    builder.add(3)
    dataset = put(workspace, "foo", builder, tmp_path)
    run(workspace, dataset)
    assert data_events(dataset)[0].new_source_state is None


def test_steps_that_cancel_each_other_leave_no_block(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    builder.chain.info().add_data(None, source_state="a").add_data(None)
    dataset = put(workspace, "foo", builder, tmp_path)
    done = run(workspace, dataset)
    assert (done.old_blocks, done.new_blocks) == (7, 5)


def test_a_schema_that_grew(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(2)
    later = (*CITY_FIELDS, DataField(name="mayor", type=DataTypeOption(inner=DataTypeString())))
    builder.chain.schema(*later)
    schema = SLICE_SCHEMA.append(pa.field("mayor", pa.string()))
    for count in (3, 4):
        start = builder.next_offset
        content = parquet(records(start, count) | {"mayor": ["x"] * count}, schema)
        described = describe(content, start, count)
        builder.put(described, content)
        builder.chain.add_data(data_slice=described)
    dataset = put(workspace, "foo", builder, tmp_path)
    run(workspace, dataset)
    assert intervals(dataset) == [(0, 11), (12, 18)]
    assert sum(isinstance(event, SetDataSchema) for event in events(dataset)) == 2


def test_operations_stay_as_they_are(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    for ops in ([1, 2], [3, 0, 1]):
        start = builder.next_offset
        content = parquet(records(start, len(ops)) | {"op": ops})
        described = describe(content, start, len(ops))
        builder.put(described, content)
        builder.chain.add_data(data_slice=described)
    dataset = put(workspace, "foo", builder, tmp_path)
    run(workspace, dataset)
    assert [row["op"] for row in rows(dataset)][10:] == [1, 2, 3, 0, 1]


def test_linked_objects_are_counted_together(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo")
    for number in (1, 2):
        linked = {"opendatafabric.org/linkedObjects": {"numObjectsNaive": number, "sizeNaive": 10 * number}}
        extra = ExtraAttributes.from_object(linked | {"example.org/n": number})
        builder.chain.add_data(data_slice=builder.slice(builder.next_offset, 2), fields={"extra": extra})
    dataset = put(workspace, "foo", builder, tmp_path)
    run(workspace, dataset)
    (event,) = data_events(dataset)
    assert event.extra is not None
    assert event.extra.to_object() == {
        "opendatafabric.org/linkedObjects": {"numObjectsNaive": 3, "sizeNaive": 30},
        "example.org/n": 2,
    }


def test_metadata_only(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(2).info("x")
    root = put(workspace, "foo", builder, tmp_path)
    derived = put(workspace, "derived", derivative_of(builder, "derived"), tmp_path)
    with pytest.raises(NotOfThisKind, match="keep-metadata-only"):
        compact(workspace, derived)
    for dataset, left in ((root, 4), (derived, 3)):
        done = compact(workspace, dataset, CompactionOptions(keep_metadata_only=True))
        assert (done.new_blocks, done.new_slices) == (left, 0)
        assert objects(dataset) == set()
        assert_whole(dataset)
        assert rows(dataset) == []


def test_what_it_breaks(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").add(2)
    dataset = put(workspace, "foo", builder, tmp_path)
    put(workspace, "before", derivative_of(builder, "before", builder.blocks[2].hash), tmp_path)
    put(workspace, "after", derivative_of(builder, "after"), tmp_path)
    done = run(workspace, dataset)
    assert [str(item.alias) for item in done.broken] == ["after"]


def test_damage_stops_it(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("foo").info("x").add(2).add(3)
    dataset = put(workspace, "foo", builder, tmp_path)
    first, *_ = (event.new_data for event in data_events(dataset))
    assert first is not None
    path = dataset.path / "data" / str(first.physical_hash)
    content = path.read_bytes()
    path.write_bytes(content[:-20] + b"x" * 20)  # not one of those that are merged
    before = set(dataset.path.rglob("*"))
    with pytest.raises(CompactionFailed, match="nothing has changed"):
        compact(workspace, dataset)
    path.unlink()
    with pytest.raises(CompactionFailed):
        compact(workspace, dataset)
    with pytest.raises(OldHeadMismatch):
        compact(workspace, dataset, old_head=builder.blocks[0].hash)
    assert set(dataset.path.rglob("*")) == before - {path}
    assert dataset.head == builder.chain.head


def test_what_a_killed_run_left_is_swept(workspace: Workspace, tmp_path: Path) -> None:
    dataset = put(workspace, "foo", root_dataset("foo").add(2), tmp_path)
    (dataset.path / ".pending-compaction-1" / "data").mkdir(parents=True)
    run(workspace, dataset)


def test_the_published_dataset_has_nothing_to_compact(workspace: Workspace) -> None:
    from odf_core.workspace import Transfers

    there = require_vectors("datasets/city-population")
    dataset = Transfers(workspace).pull(f"file://{there}").dataset
    assert run(workspace, dataset).new_blocks == 6


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("slice"), st.integers(1, 6), st.booleans()),
        st.tuples(st.just("state"), st.sampled_from(["a", "b", None]), st.booleans()),
        st.just(("info",)),
    ),
    max_size=9,
)


def build(steps: list[tuple[Any, ...]]) -> DatasetBuilder:
    builder = DatasetBuilder("random")
    builder.chain.seed().push_source().schema()
    hour = 0
    for step in steps:
        match step:
            case ("slice", count, with_checkpoint):
                builder.add(count, with_checkpoint=with_checkpoint)
            case ("state", value, moves):
                hour += moves
                last = builder.chain.last_event(AddData)
                old = last.new_source_state.value if last and last.new_source_state else None
                says_something = value is not None or (last and (last.new_watermark or last.new_checkpoint))
                if moves or (value != old and says_something):
                    mark = {"watermark": f"2024-04-01T{hour:02}:00:00Z"} if moves else {}
                    builder.chain.add_data(None, source_state=value, **mark)
            case _:
                builder.info(f"number {len(builder.blocks)}")
    return builder


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(STEPS, st.integers(1, 12))
def test_any_history(steps: list[tuple[Any, ...]], most: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        workspace = new_workspace(Path(name))
        dataset = put(workspace, "random", build(steps), Path(name))
        done = run(workspace, dataset, max_slice_records=most)
        assert done.new_blocks <= done.old_blocks
        assert run(workspace, dataset, max_slice_records=most).old_head == done.new_head
