"""Chains whose last block breaks a rule about data and queries; without it they are right."""

from odf_core.identity import Multihash
from odf_core.metadata import (
    AddData,
    DataField,
    ExecuteTransform,
)
from tests.builders.chain_builder import CITY_FIELDS, chain
from tests.chain.chain_shapes import (
    ELSEWHERE,
    INVALID,
    NO_OP,
    Case,
    add_data_from,
    derivative,
    query_input,
    root,
    with_query,
)

REFUSED_DATA = [
    Case(5, NO_OP, "empty AddData", lambda: root().event(AddData())),
    Case(
        6,
        NO_OP,
        "empty ExecuteTransform",
        lambda: derivative().event(ExecuteTransform(query_inputs=tuple(derivative().next_inputs()))),
    ),
    Case(7, "OffsetsAreNotSequential", "gap", lambda: add_data_from(11, 19)),
    Case(7, "OffsetsAreNotSequential", "overlap", lambda: add_data_from(9, 19)),
    Case(
        7,
        "OffsetsAreNotSequential",
        "query with a gap",
        lambda: with_query().execute_transform(fields={"prev_offset": 8}),
    ),
    Case(8, INVALID, "interval ends before it starts", lambda: add_data_from(10, 9)),
    Case(
        18,
        "WatermarkIsNotMonotonic",
        "earlier watermark",
        lambda: (
            root().add_data(1, watermark="2024-01-01T00:00:01Z").add_data(1, watermark="2024-01-01T00:00:00Z")
        ),
    ),
    Case(
        18,
        "WatermarkIsNotMonotonic",
        "dropped watermark",
        lambda: root().add_data(1, watermark="2024-01-01T00:00:01Z").info().add_data(1, watermark=None),
    ),
    Case(
        18,
        "WatermarkIsNotMonotonic",
        "dropped by a query",
        lambda: with_query().execute_transform(1, watermark=None),
    ),
    Case(
        19,
        INVALID,
        "offset left out",
        lambda: root().add_data(10).add_data(None, source_state="s", fields={"prev_offset": None}),
    ),
    Case(
        19,
        INVALID,
        "offset of another block",
        lambda: (
            root()
            .add_data(10)
            .event(
                AddData(prev_offset=8, new_data=chain().slice(1, 8)),
            )
        ),
    ),
    Case(
        19,
        INVALID,
        "offset where there are no data yet",
        lambda: (
            root()
            .add_data(None, source_state="a")
            .add_data(None, source_state="b", fields={"prev_offset": 0})
        ),
    ),
    Case(22, INVALID, "data before the schema", lambda: chain().seed().add_data(1)),
    Case(
        23,
        INVALID,
        "checkpoint from nowhere",
        lambda: root().add_data(1, fields={"prev_checkpoint": ELSEWHERE}),
    ),
    Case(
        23,
        INVALID,
        "checkpoint not taken up",
        lambda: root().add_data(1, checkpoint=b"c").add_data(1, fields={"prev_checkpoint": None}),
    ),
    Case(
        23,
        INVALID,
        "checkpoint of the block before the last",
        lambda: (
            root()
            .add_data(1, checkpoint=b"c")
            .add_data(1, fields={"new_checkpoint": None})
            .add_data(1, fields={"prev_checkpoint": Multihash.sha3_256(b"c")})
        ),
    ),
    Case(
        24,
        NO_OP,
        "nothing advances",
        lambda: (
            root()
            .add_data(1, watermark="2024-01-01T00:00:00Z", source_state="s", checkpoint=b"c")
            .add_data(None, source_state="s")
        ),
    ),
    Case(
        24,
        NO_OP,
        "watermark repeated",
        lambda: root().add_data(1, watermark="2024-01-01T00:00:00Z").add_data(None),
    ),
    Case(
        25,
        INVALID,
        "query before the schema",
        lambda: chain().seed("derivative").transform("one").execute_transform(1),
    ),
    Case(
        26,
        INVALID,
        "inputs swapped",
        lambda: derivative().execute_transform(inputs=derivative().next_inputs()[::-1]),
    ),
    Case(
        26,
        INVALID,
        "input left out",
        lambda: derivative().execute_transform(inputs=derivative().next_inputs()[:1]),
    ),
    Case(
        26,
        INVALID,
        "input too many",
        lambda: derivative().execute_transform(
            inputs=derivative().next_inputs() + chain().transform("three").next_inputs()
        ),
    ),
    Case(26, INVALID, "no inputs", lambda: derivative().execute_transform(inputs=[])),
    Case(
        26,
        INVALID,
        "inputs other than in the last query",
        lambda: with_query().execute_transform(inputs=with_query().next_inputs()[:1]),
    ),
    Case(
        26,
        INVALID,
        "inputs of the transform before",
        lambda: with_query().transform("one").execute_transform(),
    ),
    Case(
        26,
        INVALID,
        "inputs before a new transform and a new schema",
        lambda: (
            with_query()
            .transform("one")
            .schema(*CITY_FIELDS, DataField(name="x", type=CITY_FIELDS[1].type))
            .execute_transform()
        ),
    ),
    Case(
        27,
        INVALID,
        "query without a transform",
        lambda: chain().seed("derivative").schema().execute_transform(1, inputs=derivative().next_inputs()),
    ),
    Case(
        28,
        INVALID,
        "no block taken",
        lambda: query_input(new_block_hash=with_query().next_inputs()[0].prev_block_hash),
    ),
    Case(29, INVALID, "no record taken", lambda: query_input(new_offset=9)),
    Case(30, INVALID, "block gap", lambda: query_input(prev_block_hash=ELSEWHERE)),
    Case(30, INVALID, "block left out", lambda: query_input(prev_block_hash=None)),
    Case(31, INVALID, "offset gap", lambda: query_input(prev_offset=10)),
    Case(31, INVALID, "offset left out", lambda: query_input(prev_offset=None)),
    Case(32, INVALID, "records without a block", lambda: query_input(new_block_hash=None)),
    Case(
        33,
        INVALID,
        "checkpoint not taken up",
        lambda: with_query().execute_transform(fields={"prev_checkpoint": None}),
    ),
    Case(
        34,
        NO_OP,
        "nothing advances",
        lambda: with_query().execute_transform(None, inputs=with_query().next_inputs(advance=False)),
    ),
]
