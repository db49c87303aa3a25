"""Derivatives brought up to date by a real engine: only what is new, corrections, inputs rewritten."""

import json
from itertools import pairwise

import pytest

from odf_core.identity import Multihash
from odf_core.metadata import AddData, ExecuteTransform, SetDataSchema
from odf_core.transform.errors import InputDiverged
from odf_core.workspace import LocalDatasetNotFound
from odf_core.workspace.compaction.options import CompactionOptions
from odf_core.workspace.compaction.run import compact
from odf_core.workspace.pulling import PullNode
from odf_core.workspace.reset import reset_dataset
from odf_core.workspace.updates import Means, Updated, Updates
from odf_core.workspace.verification import verify_dataset
from tests.vectors import require_vectors
from tests.workspace_transforms.person import STATE, Person, csv, derivative, root

WET = "select event_time, station, mm from rain where mm > 0"
TOTALS = "select station, max(event_time) as event_time, sum(mm) as mm from rain group by station"
LEFT = "select event_time, station, mm * 10 as mm from wet"
RIGHT = (
    "select window.start as event_time, sum(mm) as mm from "
    "(select window(event_time, '1 day') as window, mm from wet) group by window"
)
BOTH = (
    "select left.event_time, left.station, left.mm / right.mm as share from left join right "
    "on left.event_time = right.event_time"
)


def assert_whole(person: Person, *names: str) -> None:
    for name in names:
        report = verify_dataset(person.workspace.dataset(name))
        assert report.ok, report.findings


def test_new_records_only_and_none_twice(person: Person) -> None:
    person.add(root("rain"), derivative("wet", WET, "rain"))
    person.push("rain", csv("01,a,1", "01,b,0", "02,a,2"))
    first = person.pull("wet")
    assert (first.num_blocks, first.num_records) == (2, 2)
    asked = person.asked["spark"]
    again = person.pull("wet")
    assert (again.is_updated, again.num_blocks, person.asked["spark"]) == (False, 0, asked)
    person.push("rain", csv("03,a,3"))
    assert person.pull("wet").num_records == 1
    assert person.records("wet") == [(0, 1, "a", 1.0), (0, 2, "a", 2.0), (0, 3, "a", 3.0)]
    inputs = [item.query_inputs[0] for item in person.events("wet") if isinstance(item, ExecuteTransform)]
    assert [(item.prev_offset, item.new_offset) for item in inputs] == [(None, 2), (2, 3)]
    assert inputs[1].prev_block_hash == inputs[0].new_block_hash
    assert_whole(person, "wet")


def test_corrections_and_retractions_pass(person: Person) -> None:
    person.add(root("rain", STATE), derivative("wet", WET, "rain"), derivative("totals", TOTALS, "rain"))
    person.push("rain", csv("01,a,1", "01,b,2"))
    person.pull("wet")
    person.pull("totals")
    person.push("rain", csv("01,a,5"))  # a is corrected, b is gone
    person.pull("wet")
    person.pull("totals")
    assert sorted(person.records("wet")[2:]) == [(1, 1, "b", 2.0), (2, 1, "a", 1.0), (3, 1, "a", 5.0)]
    totals = [(op, *values[1:]) for op, *values in person.records("totals")]
    assert sorted(totals[2:]) == [(1, "b", 2.0), (2, "a", 1.0), (3, "a", 5.0)]
    assert_whole(person, "wet", "totals")


def test_empty_inputs_as_the_deployed_coordinator_has_them(person: Person) -> None:
    steps = json.loads(require_vectors("transform/transform_cases.json").read_text())["cases"]
    expected = next(item for item in steps if item["id"] == "empty_inputs")["steps"]
    person.add(root("rain"), derivative("all", "select event_time, station, mm from rain", "rain"))
    assert (expected[0]["result"], person.pull("all").is_updated) == ("UpToDate", False)
    person.push("rain", csv())  # a schema and no record
    assert [type(item) for item in person.events("rain")][-1] is SetDataSchema
    done = person.pull("all")
    assert (done.num_blocks, len(person.slices("all"))) == (1, expected[1]["data_slices"])
    assert type(person.events("all")[-1]) is SetDataSchema
    assert not person.pull("all").is_updated
    person.push("rain", csv("01,a,1"))
    assert person.pull("all").num_records == len(expected[2]["rows"])


def test_a_diamond_and_a_chain_in_order(person: Person) -> None:
    person.add(
        derivative("both", BOTH, "left", "right"),
        derivative("right", RIGHT, "wet"),
        derivative("left", LEFT, "wet"),
        derivative("wet", WET, "rain"),
        root("rain"),
    )
    person.push("rain", csv("01,a,1", "01,b,3", "02,a,0", "02,b,2"))
    seen: list[str] = []
    assert [item.num_records for item in update(person, seen, "both")] == [0, 3, 3, 2, 3]
    assert seen == ["rain", "wet", "left", "right", "both"]
    shares = [(op, day, station, share) for op, day, station, share in person.records("both")]
    assert sorted(shares) == [(0, 1, "a", 2.5), (0, 1, "b", 7.5), (0, 2, "b", 10.0)]
    assert [item.is_updated for item in update(person, [], "both")] == [False] * 5
    person.push("rain", csv("02,c,2"))
    assert [item.is_updated for item in update(person, [], "both")] == [False, True, True, True, True]
    standing: list[tuple[object, ...]] = []
    for op, *values in person.records("both"):
        if op in (1, 2):
            standing.remove(tuple(values))
        else:
            standing.append(tuple(values))
    assert sorted(standing) == [(1, "a", 2.5), (1, "b", 7.5), (2, "b", 5.0), (2, "c", 5.0)]
    assert_whole(person, "wet", "left", "right", "both")


def test_rows_for_a_closed_window_are_counted(person: Person) -> None:
    person.add(root("wet"), derivative("right", RIGHT, "wet"))
    person.push("wet", csv("01,a,1", "03,a,2"))  # its watermark is the third day
    person.pull("right")
    person.push("wet", csv("01,b,1", "03,b,1"))
    done = person.pull("right")
    assert done.late_rows == 1
    assert sorted(person.records("right")) == [(0, 1, 1.0), (0, 3, 2.0), (2, 3, 2.0), (3, 3, 3.0)]


def test_one_that_fails_keeps_its_readers_back(person: Person) -> None:
    person.add(root("rain"), derivative("bad", "select event_time, no from rain", "rain"))
    person.add(derivative("reader", "select event_time from bad", "bad"), derivative("wet", WET, "rain"))
    person.add(derivative("last", "select event_time from reader", "reader"))
    person.push("rain", csv("01,a,1"))
    done = {item.node.name: item for item in update(person, [], "last", "wet")}
    assert done["bad"].error is not None
    assert done["bad"].error.code == "query_invalid"
    assert [done[name].why for name in ("reader", "last")] == [
        "bad could not be brought up to date",
        "reader could not be brought up to date",
    ]
    assert done["wet"].is_updated


def update(person: Person, seen: list[str], *names: str) -> list[Updated]:
    """Everything upstream of these, by the means that derivatives need."""

    class Watch:
        def begin(self, node: PullNode, number: int, count: int) -> None:
            seen.append(node.name)

        def end(self, done: Updated) -> None:
            assert done.node.name == seen[-1]

    def transform(node: PullNode) -> Updated:
        done = person.pull(node.id)
        return Updated(node, done.old_head, done.new_head, done.num_blocks, done.num_records)

    def never(*_: object) -> Updated:
        raise AssertionError("nothing is polled or pulled here")

    updates = Updates(person.workspace, Means(transform, never, never), Watch())
    done = updates.run([person.workspace.dataset(name) for name in names], recursive=True)
    return [item if item.num_records is not None else _without_records(item) for item in done]


def _without_records(done: Updated) -> Updated:
    return Updated(done.node, done.old_head, done.new_head, 0, 0, why=done.why, error=done.error)


@pytest.fixture
def read(person: Person) -> Person:
    """`wet` has read three slices of `rain`."""
    person.add(root("rain"), derivative("wet", WET, "rain"))
    for day in ("01", "02", "03"):
        person.push("rain", csv(f"{day},a,1"))
    assert person.pull("wet").num_records == 3
    return person


def assert_diverged_and_mended(person: Person, remaining: list[int]) -> None:
    """The pull is refused, twice and with nothing written; after a reset it computes the dataset anew."""
    before = person.blocks("wet")
    last = next(item for item in reversed(person.events("wet")) if isinstance(item, ExecuteTransform))
    for _ in range(2):
        with pytest.raises(InputDiverged, match="Input rain no longer has block") as refused:
            person.pull("wet")
        assert "back to the block of its SetTransform" in refused.value.message
        assert refused.value.extras["block"] == str(last.query_inputs[0].new_block_hash)
    assert person.blocks("wet") == before
    reset_dataset(person.workspace, person.workspace.dataset("wet"), definition_of(person))
    person.pull("wet")
    assert [day for _, day, *_ in person.records("wet")] == remaining
    assert_whole(person, "wet")


def definition_of(person: Person) -> Multihash:
    """The block before the schema of `wet`: its SetTransform."""
    pairs = pairwise(person.blocks("wet"))
    return next(one.hash for one, two in pairs if isinstance(two.block.event, SetDataSchema))


def test_an_input_that_was_reset(read: Person) -> None:
    data = [block for block in read.blocks("rain") if isinstance(block.block.event, AddData)]
    result = reset_dataset(read.workspace, read.workspace.dataset("rain"), data[0].hash)
    assert [str(item.alias) for item in result.broken] == ["wet"]
    assert_diverged_and_mended(read, [1])


def test_an_input_that_was_reset_and_has_grown_again(read: Person) -> None:
    data = [block for block in read.blocks("rain") if isinstance(block.block.event, AddData)]
    reset_dataset(read.workspace, read.workspace.dataset("rain"), data[1].hash)
    read.push("rain", csv("05,a,1"))
    read.push("rain", csv("06,a,1"))
    assert_diverged_and_mended(read, [1, 2, 5, 6])


def test_an_input_that_was_compacted(read: Person) -> None:
    done = compact(read.workspace, read.workspace.dataset("rain"), CompactionOptions())
    assert done.new_head != done.old_head
    assert len(read.slices("rain")) == 1
    assert_diverged_and_mended(read, [1, 2, 3])


def test_an_input_that_is_gone(read: Person) -> None:
    read.workspace.delete(read.workspace.dataset("rain"))
    with pytest.raises(LocalDatasetNotFound, match=r"rain \(did:odf:\w+\)\. Pull them, or `odf pull wet"):
        read.pull("wet")
