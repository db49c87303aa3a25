"""Every rule of metadata.md 6: chains whose last block breaks it, and chains that break none."""

import dataclasses

import pytest

from odf_core.chain import BlockRefused, ChainState
from odf_core.errors import ChainViolation, Conflict, IntegrityError
from odf_core.metadata import (
    AddData,
    DataField,
    FetchStepEthereumLogs,
    ReadStepNdJson,
    SetDataSchema,
    SqlQueryStep,
)
from tests.builders.chain_builder import CITY_FIELDS, chain
from tests.chain.chain_shapes import ELSEWHERE, root, sql, stale, with_query
from tests.chain.refused_data import REFUSED_DATA
from tests.chain.refused_definitions import REFUSED_DEFINITIONS

REFUSED = REFUSED_DEFINITIONS + REFUSED_DATA


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case.rule}: {case.defect}")
def test_refuses(case):
    builder = case.build()
    *chain_before, wrong = builder.blocks
    state = ChainState()
    for block in chain_before:
        state.append(block)
    with pytest.raises(BlockRefused) as caught:
        state.append(wrong)
    error = caught.value
    assert (error.rule, error.variant) == (case.rule, case.variant)
    assert error.extras == {"rule": case.rule, "variant": case.variant}
    assert str(wrong.hash) in error.objects and str(wrong.hash) in error.message
    assert error.message.endswith(".") and "None" not in type(error).__name__
    assert isinstance(error, Conflict if case.defect == "not after the head" else ChainViolation)
    assert state.head == (chain_before[-1].hash if chain_before else None), "the state stays as it was"


def test_every_rule_has_a_case():
    assert {case.rule for case in REFUSED} == set(range(1, 39)) - {37}


def test_rule_37_an_unexpected_hash():
    block = chain().seed().last
    with pytest.raises(IntegrityError) as caught:
        ChainState().append(block, expected_hash=ELSEWHERE)
    assert caught.value.objects == (str(block.hash), str(ELSEWHERE))
    assert (caught.value.rule, caught.value.variant) == (37, "HashMismatch")


ACCEPTED = {
    "seed only": lambda: chain().seed(),
    "the whole life of a root dataset": lambda: (
        root()
        .vocab(offset_column="nr")
        .info()
        .license()
        .attachments()
        .push_source()
        .add_data(10, watermark="2024-01-01T00:00:00Z", source_state="a", checkpoint=b"c")
        .add_data(None, watermark="2024-01-02T00:00:00Z")
        .add_data(None, checkpoint=b"d")
        .add_data(None, source_state="b")
        .add_data(1)
    ),
    "the whole life of a derivative dataset": lambda: (
        with_query().execute_transform(5).execute_transform(None).transform("two", "three").info()
    ),
    "identical definitions, which nobody refuses": lambda: root().info().info().license().license(),
    "equal system times": lambda: (
        root()
        .info()
        .event(SetDataSchema(raw_arrow_schema=b"not checked"), system_time="2024-01-01T00:00:02Z")
    ),
    "equal watermarks with data": lambda: (
        root().add_data(1, watermark="2024-01-01T00:00:00Z").add_data(1, watermark="2024-01-01T00:00:00Z")
    ),
    "first data block with an offset": lambda: root().event(
        AddData(prev_offset=99, new_data=chain().slice(1, 99))
    ),
    "watermark before the schema": lambda: chain().seed().add_data(None, watermark="2024-01-01T00:00:00Z"),
    "polling source again": lambda: chain().seed().polling_source().polling_source(),
    "polling source after it was disabled": lambda: (
        chain().seed().polling_source().disable_polling_source().polling_source()
    ),
    "push source changed": lambda: (
        chain().seed().push_source().push_source(read=ReadStepNdJson(date_format="y"))
    ),
    "push source changed, with another between": lambda: (
        chain()
        .seed()
        .push_source("a")
        .push_source("b")
        .push_source("a", read=ReadStepNdJson(date_format="y"))
    ),
    "disabled push source": lambda: chain().seed().push_source().disable_push_source(),
    "one of two push sources disabled": lambda: (
        chain().seed().push_source("a").push_source("b").disable_push_source("b")
    ),
    "named queries before the last": lambda: (
        chain()
        .seed()
        .push_source(preprocess=sql(SqlQueryStep(query="q", alias="a"), SqlQueryStep(query="q")))
    ),
    "Ethereum by node": lambda: (
        chain().seed().polling_source(fetch=FetchStepEthereumLogs(node_url="http://x"))
    ),
    "data of the wrong kind of dataset, which nobody refuses": lambda: (
        chain().seed("derivative").schema().add_data(1)
    ),
    "new inputs after a new transform": lambda: (
        with_query()
        .transform("one", "two", "three")
        .execute_transform(
            inputs=[
                *with_query().next_inputs(),
                *chain().transform("three").next_inputs(),
            ]
        )
    ),
    "checkpoint dropped": lambda: (
        root().add_data(1, checkpoint=b"c").add_data(1, fields={"new_checkpoint": None}).add_data(1)
    ),
    "query that only takes blocks": lambda: with_query().execute_transform(
        None,
        inputs=[dataclasses.replace(item, new_offset=None) for item in with_query().next_inputs()],
    ),
    "raw Arrow schema again": lambda: chain().seed().schema(raw_arrow=b"x").schema(raw_arrow=b"x"),
}


@pytest.mark.parametrize("name", ACCEPTED)
def test_accepts(name):
    state = ChainState()
    builder = ACCEPTED[name]()
    for block in builder.blocks:
        state.append(block, expected_hash=block.hash)
    assert state.head == builder.head
    assert state.head_block == builder.last
    assert state.sequence_number == len(builder.blocks) - 1
    assert state.seed == builder.blocks[0].block.event


def test_rule_26_an_old_transform_is_not_looked_at():
    """The walk back stops at the schema and the query; what the transform before them says is over."""
    builder = chain().seed("derivative").transform("one").schema().execute_transform()
    state = ChainState()
    for block in builder.blocks:
        state.append(block)
    builder.schema(*CITY_FIELDS, DataField(name="x", type=CITY_FIELDS[1].type))
    state.append(builder.last)
    builder.execute_transform()
    state.append(builder.last)


def test_a_state_without_hashes_does_not_know_old_blocks():
    builder = stale()
    state = ChainState(remember_hashes=False)
    for block in builder.blocks[:-1]:
        state.append(block)
    with pytest.raises(BlockRefused) as caught:
        state.append(builder.last)
    assert caught.value.variant == "PrevBlockNotFound"


def test_an_empty_state():
    state = ChainState()
    assert (state.head, state.head_block, state.sequence_number, state.seed) == (None, None, None, None)
