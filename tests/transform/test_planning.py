"""What the next step of a derivative reads, and what recorded steps read (data.md 4.1): no engine needed."""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from odf_core.chain import Projection
from odf_core.metadata import (
    DataField,
    DataTypeInt64,
    DataTypeOption,
    ExecuteTransformInput,
    SqlQueryStep,
    TransformSql,
)
from odf_core.transform.chains import InputChain
from odf_core.transform.derivation import Derivation, recorded_steps
from odf_core.transform.errors import InputDiverged, TransformInputsChanged, TransformNotDefined
from odf_core.transform.plan import PlannedStep, plan_next, plan_recorded
from tests.builders.chain_builder import CITY_FIELDS, ChainBuilder, chain
from tests.vectors import require_vectors

MORE = DataField(name="more", type=DataTypeOption(inner=DataTypeInt64()))


def case(name: str) -> Any:
    cases = json.loads(require_vectors("transform/transform_cases.json").read_text())["cases"]
    return next(item for item in cases if item["id"] == name)


def root(name: str = "root") -> ChainBuilder:
    return chain(name).seed().schema()


def derived(*inputs: str) -> ChainBuilder:
    return chain("derived").seed("derivative").transform(*inputs).schema()


def input_of(*builders: ChainBuilder) -> list[InputChain]:
    return [InputChain(item.dataset_id, item.name, list(item.blocks)) for item in builders]


def next_step(target: ChainBuilder, *inputs: ChainBuilder) -> PlannedStep | None:
    known = Derivation.of(target.blocks)
    return plan_next(known.state, input_of(*inputs), changed_since=known.changed_since)


def record(target: ChainBuilder, step: PlannedStep | None, records: int = 1) -> None:
    assert step is not None
    target.execute_transform(records, inputs=[item.taken for item in step.inputs])


def taken(step: PlannedStep | None) -> Sequence[ExecuteTransformInput]:
    assert step is not None
    return [item.taken for item in step.inputs]


def test_intervals_as_the_deployed_coordinator_plans_them() -> None:
    expected = case("plan_intervals")["expected_inputs"]
    source, target = root(), derived("root")
    hashes: dict[str | None, Any] = {None: None}
    growth = [
        ("T1", lambda: source.add_data(100, watermark="2024-01-01T00:00:00Z")),
        ("T3", lambda: source.add_data(10, watermark="2024-01-02T00:00:00Z")),
        ("T5", lambda: source.add_data(None, watermark="2024-01-03T00:00:00Z")),
    ]
    for (name, grow), wanted in zip(growth, expected, strict=True):
        grow()
        hashes[name] = source.head
        step = next_step(target, source)
        (found,) = taken(step)
        assert found == ExecuteTransformInput(
            dataset_id=source.dataset_id,
            prev_block_hash=hashes[wanted["prevBlockHash"]],
            new_block_hash=hashes[wanted["newBlockHash"]],
            prev_offset=wanted["prevOffset"],
            new_offset=wanted["newOffset"],
        )
        assert step is not None
        assert len(step.inputs[0].watermarks) == 1
        record(target, step)
        assert next_step(target, source) is None


def test_inputs_without_schema_or_data() -> None:
    assert [item["result"].split(":")[0] for item in case("empty_inputs")["steps"]] == [
        "UpToDate",
        "Updated",
        "Updated",
    ]
    source, target = chain("root").seed(), chain("derived").seed("derivative").transform("root")
    assert next_step(target, source) is None
    source.schema()
    step = next_step(target, source)
    assert step is not None
    assert (step.inputs[0].slices, step.inputs[0].offsets) == ((), None)
    target.schema()  # all that came of it
    assert next_step(target, source) is None
    source.add_data(1)
    step = next_step(target, source)
    assert step is not None
    offsets = step.inputs[0].offsets
    assert offsets is not None
    assert (offsets.start, offsets.end, step.next_offset) == (0, 0, 0)


def test_what_brings_no_news_makes_no_step_and_is_swept_along() -> None:
    source, target = root().add_data(5, watermark=None), derived("root")
    record(target, next_step(target, source))
    source.info()
    assert next_step(target, source) is None
    source.add_data(5)
    (found,) = taken(next_step(target, source))
    assert (found.prev_block_hash, found.new_block_hash) == (source.blocks[2].hash, source.head)
    assert (found.prev_offset, found.new_offset) == (4, 9)


def test_one_of_several_inputs_moves() -> None:
    left, right, target = root("left").add_data(5), root("right").add_data(3), derived("left", "right")
    record(target, next_step(target, left, right))
    right.add_data(2)
    still, moved = taken(next_step(target, left, right))
    assert (still.prev_block_hash, still.new_block_hash) == (left.head, None)
    assert (still.prev_offset, still.new_offset) == (4, None)
    assert (moved.prev_offset, moved.new_offset) == (2, 4)


def test_a_step_ends_before_the_columns_of_an_input_change() -> None:
    source, target = root().add_data(5), derived("root")
    first = source.head
    source.schema(*CITY_FIELDS, MORE).add_data(2).schema(
        *CITY_FIELDS, MORE, DataField(name="x", type=MORE.type)
    )
    source.add_data(1)
    seen = []
    while (step := next_step(target, source)) is not None:
        record(target, step)
        item = step.inputs[0]
        seen.append((item.taken.new_block_hash, item.taken.new_offset, len(item.schema.fields)))
    assert seen == [(first, 4, 6), (source.blocks[4].hash, 6, 7), (source.head, 7, 8)]


def test_a_change_before_the_first_record_ends_nothing() -> None:
    source, target = root().vocab(event_time_column="at").add_data(5), derived("root")
    step = next_step(target, source)
    assert step is not None
    assert taken(step)[0].new_block_hash == source.head
    assert step.inputs[0].vocabulary.event_time_column == "at"


def test_a_step_recorded_across_such_a_change_is_taken_as_it_stands() -> None:
    source, target = root().add_data(5).schema(*CITY_FIELDS, MORE).add_data(2), derived("root")
    target.execute_transform(
        7,
        inputs=[
            ExecuteTransformInput(dataset_id=source.dataset_id, new_block_hash=source.head, new_offset=6)
        ],
    )
    source.add_data(1)
    (recorded,) = recorded_steps(target.blocks)
    step = plan_recorded(recorded.before, recorded.event, input_of(source))
    (item,) = step.inputs
    assert (len(item.slices), len(item.schema.fields)) == (2, 7)  # the schema of its last block
    assert item.taken == recorded.event.query_inputs[0]
    following = next_step(target, source)
    assert (taken(following)[0].prev_offset, taken(following)[0].new_offset) == (6, 7)


def test_another_query_goes_on_from_where_the_last_one_was() -> None:
    source, target = root().add_data(5), derived("root")
    record(target, next_step(target, source))
    old = Projection.of(target.blocks).transform
    assert old is not None
    new = TransformSql(engine="spark", queries=(SqlQueryStep(query="select 1"),))
    target.transform("root", transform=new)
    assert next_step(target, source) is None  # the new one has nothing to tell yet
    source.add_data(5)
    step = next_step(target, source)
    assert step is not None
    assert (step.migrates_from, step.transform) == (old.transform, new)
    record(target, step)
    source.add_data(5)
    after = next_step(target, source)
    assert after is not None
    assert after.migrates_from is None
    assert [item.changed_since for item in recorded_steps(target.blocks)] == [None, old.transform]


def test_an_input_that_was_reset_or_compacted() -> None:
    source, target = root().add_data(5), derived("root")
    record(target, next_step(target, source))
    other = root().add_data(6)
    with pytest.raises(InputDiverged, match="reset or compacted") as refused:
        next_step(target, other)
    assert refused.value.extras == {"input": str(source.dataset_id), "block": str(source.head)}
    with pytest.raises(InputDiverged):
        (recorded,) = recorded_steps(target.blocks)
        plan_recorded(recorded.before, recorded.event, input_of(other))


def test_a_dataset_without_transformation() -> None:
    with pytest.raises(TransformNotDefined):
        next_step(chain("derived").seed("derivative"))


def test_other_inputs_than_before() -> None:
    left, right, target = root("left").add_data(1), root("right").add_data(1), derived("left")
    record(target, next_step(target, left))
    target.transform("left", "right")
    with pytest.raises(TransformInputsChanged, match="no dataset where the query now reads right"):
        next_step(target, left, right)
    target.transform("right")
    with pytest.raises(TransformInputsChanged, match="now reads right"):
        next_step(target, right)


def test_the_state_at_a_block_whatever_was_asked_before() -> None:
    made = root().add_data(3).push_source().add_data(2).add_data(4)
    (source,) = input_of(made)
    for place in (4, 2, 5, 0, 6, 3, 3):
        state = source.until(made.blocks[place - 1].hash if place else None)
        assert state == Projection.of(made.blocks[:place])
        for block in made.blocks[place:]:  # what a caller feeds is the caller's
            state.feed(block)
