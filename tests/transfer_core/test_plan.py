"""The arithmetic of a transfer plan (wire.md 3.2)."""

from dataclasses import replace

from odf_core.identity import ARROW0_SHA3_256, Multihash
from odf_core.metadata import DataSlice, OffsetInterval, make_block
from odf_core.transfer import TransferPlan
from tests.transfer_core.values import chain


def test_plan_of_a_chain():
    blocks = chain()
    assert TransferPlan.of(blocks) == TransferPlan(
        num_blocks=3,
        num_objects=3,
        num_records=5 + 3,
        bytes_in_raw_blocks=sum(len(block.data) for block in blocks),
        bytes_in_raw_objects=1202 + 32 + 700,
    )


def test_plan_of_nothing_and_of_a_seed():
    seed = chain()[0]
    assert TransferPlan.of([]) == TransferPlan.empty() == TransferPlan(0, 0, 0, 0, 0)
    assert TransferPlan.of([seed]) == TransferPlan(1, 0, 0, len(seed.data), 0)


def test_plans_add_up():
    blocks = chain()
    assert TransferPlan.of(blocks[:1]) + TransferPlan.of(blocks[1:]) == TransferPlan.of(blocks)
    unknown = TransferPlan(1, 0, None, 10, 0)
    assert (unknown + unknown).num_blocks == 2


def test_sizes_that_lie_stay_within_64_bits():
    def lying(block):
        event = replace(
            block.block.event,
            new_data=DataSlice(
                logical_hash=Multihash(ARROW0_SHA3_256, bytes(32)),
                physical_hash=block.hash,
                offset_interval=OffsetInterval(start=0, end=2**64 - 1),
                size=2**64 - 1,
            ),
        )
        return make_block(replace(block.block, event=event))

    plan = TransferPlan.of([lying(block) for block in chain()[1:]])
    assert plan.bytes_in_raw_objects == 2**64 - 1
    assert plan.num_records == 2**64 - 1


def test_an_interval_that_runs_backwards_counts_nothing():
    block = chain()[1]
    event = replace(
        block.block.event,
        new_data=replace(block.block.event.new_data, offset_interval=OffsetInterval(start=10, end=3)),
    )
    assert TransferPlan.of_block(make_block(replace(block.block, event=event))).num_records == 0
