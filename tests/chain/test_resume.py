"""Resuming from the key blocks behaves as the whole chain does for any next block."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odf_core.chain import KEY_EVENT_KINDS, BlockRefused, ChainState, InvalidKeyBlocks
from odf_core.metadata import AddData, DataField, DataTypeInt64, DataTypeOption, ExecuteTransform, event_kind
from tests.builders.chain_builder import CITY_FIELDS, chain

WATERMARKS = st.sampled_from([None, "2024-01-01T00:00:00Z", "2024-01-02T00:00:00Z"])
NAMES = st.sampled_from(["a", "b"])


def _optional(name):
    return DataField(name=name, type=DataTypeOption(inner=DataTypeInt64()))


def _inputs(builder, advance, swap):
    inputs = builder.next_inputs(advance=advance)
    return inputs[::-1] if swap else inputs


@st.composite
def steps(draw):
    """A function that makes a builder's next block, mostly a right one."""
    kind = draw(
        st.sampled_from(["data", "query", "schema", "push", "polling", "disable", "transform", "other"])
    )
    if kind == "data":
        records, mark = draw(st.sampled_from([None, 1, 10])), draw(st.booleans())
        options = {"checkpoint": draw(st.sampled_from([None, b"c", b"d"]))}
        options |= {"source_state": draw(st.sampled_from([None, "s", "t"]))}
        options |= {"watermark": draw(WATERMARKS)} if mark else {}
        wrong = draw(st.sampled_from([{}, {}, {}, {"prev_offset": 3}, {"prev_checkpoint": None}]))
        return lambda builder: builder.add_data(records, **options, fields=wrong)
    if kind == "query":
        advance, swap = draw(st.booleans()), draw(st.sampled_from([False, False, True]))
        records = draw(st.sampled_from([None, 5]))
        return lambda builder: (
            builder.execute_transform(records, inputs=_inputs(builder, advance, swap))
            if builder.last_event(ExecuteTransform) or "transform" in _kinds(builder)
            else builder.execute_transform(records, inputs=[])
        )
    if kind == "schema":
        extra = draw(st.sampled_from([(), (_optional("x"),), (_optional("x"), _optional("y"))]))
        return lambda builder: builder.schema(*CITY_FIELDS, *extra)
    if kind == "push":
        name, url = draw(NAMES), draw(st.booleans())
        return lambda builder: builder.push_source(name, **({} if url else {"preprocess": None}))
    if kind == "polling":
        return lambda builder: builder.polling_source()
    if kind == "disable":
        name, push = draw(NAMES), draw(st.booleans())
        return lambda builder: builder.disable_push_source(name) if push else builder.disable_polling_source()
    if kind == "transform":
        names = draw(st.sampled_from([("one",), ("one", "two"), ("two", "one")]))
        return lambda builder: builder.transform(*names)
    return lambda builder: builder.info(f"{len(builder.blocks)}")


def _kinds(builder):
    return {"transform" for item in builder.blocks if event_kind(item.block.event) == "SetTransform"}


def _key_blocks(blocks):
    last = {}
    for position, item in enumerate(blocks):
        last[event_kind(item.block.event)] = position
    wanted = {last.get("AddData"), last.get("ExecuteTransform"), len(blocks) - 1}
    return [
        item
        for position, item in enumerate(blocks)
        if position in wanted or event_kind(item.block.event) in KEY_EVENT_KINDS
    ]


def _verdict(state, block):
    try:
        state.append(block)
    except BlockRefused as error:
        return type(error), error.rule, error.message
    return None


@settings(max_examples=150, deadline=None)
@given(st.lists(steps(), max_size=12), st.lists(steps(), min_size=1, max_size=3))
def test_resumed_is_as_good_as_whole(history, next_steps):
    builder = chain().seed()
    whole = ChainState()
    whole.append(builder.last)
    for step in history:
        step(builder)
        if _verdict(whole, builder.last) is not None:
            builder.pop()
    resumed = ChainState.resume(_key_blocks(builder.blocks))
    assert (resumed.head, resumed.sequence_number, resumed.seed) == (
        whole.head,
        whole.sequence_number,
        whole.seed,
    )
    for step in next_steps:
        step(builder)
        verdict = _verdict(whole, builder.last)
        assert _verdict(resumed, builder.last) == verdict
        if verdict is not None:
            builder.pop()


def test_resumed_from_nothing_is_empty():
    state = ChainState.resume([])
    state.append(chain().seed().last)
    assert state.sequence_number == 0


def test_what_cannot_be_key_blocks():
    builder = chain().seed().schema().add_data(1)
    for wrong in (builder.blocks[1:], builder.blocks[::-1], [builder.blocks[0], builder.blocks[0]]):
        with pytest.raises(InvalidKeyBlocks):
            ChainState.resume(wrong)


def test_a_long_chain_is_checked_block_by_block_in_constant_work():
    """Not a benchmark: only that nothing walks back; 20,000 blocks would take minutes if something did."""
    builder = chain().seed().schema()
    state = ChainState()
    for item in builder.blocks:
        state.append(item)
    for number in range(2000):
        builder.event(
            AddData(
                prev_offset=number - 1 if number else None,
                new_data=builder.slice(1, number - 1 if number else None, b"same"),
            )
        )
        state.append(builder.last)
    assert state.sequence_number == 2001
    assert len(_key_blocks(builder.blocks)) == 3
