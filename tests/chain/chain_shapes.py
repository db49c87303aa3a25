"""Shapes of chains that the tests of the rules share."""

import dataclasses
from collections.abc import Callable
from typing import NamedTuple

from odf_core.identity import Multihash
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataTypeInt64,
    OffsetInterval,
    SetDataSchema,
    SqlQueryStep,
    TransformSql,
)
from tests.builders.chain_builder import ChainBuilder, chain

ELSEWHERE = Multihash.sha3_256(b"a block of another chain")


def sql(*queries, **fields):
    return TransformSql(engine="spark", queries=queries or (SqlQueryStep(query="q"),), **fields)


def root() -> ChainBuilder:
    return chain().seed().schema()


def derivative() -> ChainBuilder:
    return chain().seed("derivative").transform("one", "two").schema()


def with_query() -> ChainBuilder:
    return derivative().execute_transform(10, checkpoint=b"c", watermark="2024-01-01T00:00:00Z")


def changed_slice(event, **interval):
    """The event's slice with another offset interval."""
    return {"new_data": dataclasses.replace(event.new_data, offset_interval=OffsetInterval(**interval))}


def add_data_from(start: int, end: int) -> ChainBuilder:
    """A chain of ten records whose last block adds the records `start` to `end`, after offset 9."""
    builder = root().add_data(10).add_data(10)
    event = builder.pop().block.event
    return builder.event(dataclasses.replace(event, **changed_slice(event, start=start, end=end)))


def query_input(**fields) -> ChainBuilder:
    """A second query whose first input has other fields than those that continue the first query."""
    builder = with_query()
    first, second = builder.next_inputs()
    return builder.execute_transform(inputs=[dataclasses.replace(first, **fields), second])


class Case(NamedTuple):
    """The chain's last block breaks the rule; without it the chain is right."""

    rule: int
    variant: str
    defect: str
    build: Callable[[], ChainBuilder]


INVALID, NO_OP = "InvalidEvent", "NoOpEvent"


def stale() -> ChainBuilder:
    """The last block continues the one before the head."""
    builder = root().add_data(1)
    late = builder.fork()
    late.pop()
    stale = late.make(SetDataSchema(schema=DataSchema(fields=(DataField(name="a", type=DataTypeInt64()),))))
    builder.blocks.append(stale)
    return builder


def seed_fields():
    event = chain("other").seed().last.block.event
    return {"dataset_id": event.dataset_id, "dataset_kind": event.dataset_kind}
