"""Chains whose last block breaks a rule about links, times or definitions; without it they are right."""

from odf_core.metadata import (
    AddData,
    DataField,
    DataTypeString,
    FetchStepEthereumLogs,
    ReadStepNdJson,
    Seed,
    SetDataSchema,
    SqlQueryStep,
    TransformInput,
    TransformSql,
)
from tests.builders.chain_builder import alias, chain, dataset_id, schema_of
from tests.chain.chain_shapes import ELSEWHERE, INVALID, NO_OP, Case, root, seed_fields, sql, stale

REFUSED_DEFINITIONS = [
    Case(1, INVALID, "polling source that is not there", lambda: chain().seed().disable_polling_source()),
    Case(1, INVALID, "push source that is not there", lambda: chain().seed().disable_push_source()),
    Case(
        1,
        INVALID,
        "push source of another name",
        lambda: chain().seed().push_source("a").disable_push_source("A"),
    ),
    Case(
        1,
        INVALID,
        "polling source twice",
        lambda: chain().seed().polling_source().disable_polling_source().disable_polling_source(),
    ),
    Case(
        1,
        INVALID,
        "push source twice",
        lambda: chain().seed().push_source().disable_push_source().disable_push_source(),
    ),
    Case(2, "AppendingSeedBlockToNonEmptyChain", "second seed", lambda: chain().seed().seed()),
    Case(3, "FirstBlockMustBeSeed", "chain without a seed", lambda: chain().schema()),
    Case(3, "FirstBlockMustBeSeed", "no link", lambda: chain().seed().event(SetDataSchema(), prev=None)),
    Case(4, "SequenceIntegrity", "seed with a number", lambda: chain().seed(sequence_number=1)),
    Case(
        9,
        INVALID,
        "single query",
        lambda: chain().seed().push_source(preprocess=TransformSql(engine="spark", query="q")),
    ),
    Case(
        9,
        INVALID,
        "no query",
        lambda: chain().seed().polling_source(preprocess=TransformSql(engine="spark")),
    ),
    Case(
        9,
        INVALID,
        "named last query",
        lambda: chain().seed().push_source(preprocess=sql(SqlQueryStep(query="q", alias="a"))),
    ),
    Case(
        9,
        INVALID,
        "nameless query before the last",
        lambda: chain().seed().push_source(preprocess=sql(SqlQueryStep(query="q"), SqlQueryStep(query="q"))),
    ),
    Case(
        10,
        INVALID,
        "Ethereum without a chain",
        lambda: chain().seed().polling_source(fetch=FetchStepEthereumLogs()),
    ),
    Case(
        11,
        INVALID,
        "push source with two schemas",
        lambda: chain().seed().push_source(read=ReadStepNdJson(ddl_schema=("a INT",), schema=schema_of())),
    ),
    Case(
        11,
        INVALID,
        "polling source with two schemas",
        lambda: chain().seed().polling_source(read=ReadStepNdJson(ddl_schema=(), schema=schema_of())),
    ),
    Case(12, INVALID, "no inputs", lambda: chain().seed("derivative").transform()),
    Case(12, INVALID, "input twice", lambda: chain().seed("derivative").transform("one", "two", "one")),
    Case(
        12,
        INVALID,
        "two inputs without an id",
        lambda: (
            chain()
            .seed("derivative")
            .transform(
                inputs=(
                    TransformInput(dataset_ref=alias("one"), alias="one"),
                    TransformInput(dataset_ref=alias("two"), alias="two"),
                )
            )
        ),
    ),
    Case(
        13,
        INVALID,
        "input without an id",
        lambda: (
            chain()
            .seed("derivative")
            .transform(inputs=(TransformInput(dataset_ref=alias("one"), alias="one"),))
        ),
    ),
    Case(
        13,
        INVALID,
        "input without an alias",
        lambda: chain().seed("derivative").transform(inputs=(TransformInput(dataset_ref=dataset_id("one")),)),
    ),
    Case(
        14,
        INVALID,
        "single query",
        lambda: chain().seed("derivative").transform("one", transform=sql(query="q")),
    ),
    Case(
        15,
        "PrevBlockNotFound",
        "unknown block",
        lambda: chain().seed().event(SetDataSchema(schema=schema_of()), prev=ELSEWHERE),
    ),
    Case(
        15,
        "PrevBlockNotFound",
        "link in an empty chain",
        lambda: chain().event(
            AddData(
                prev_offset=1,
                extra=None,
                new_watermark=None,
                new_source_state=None,
                new_checkpoint=chain().checkpoint(b""),
            ),
            prev=ELSEWHERE,
        ),
    ),
    Case(
        16, "SequenceIntegrity", "number repeated", lambda: root().add_data(1).add_data(1, sequence_number=2)
    ),
    Case(
        16, "SequenceIntegrity", "number left out", lambda: root().add_data(1).add_data(1, sequence_number=4)
    ),
    Case(16, "SequenceIntegrity", "number 0", lambda: root().add_data(1).add_data(1, sequence_number=0)),
    Case(
        17,
        "SystemTimeIsNotMonotonic",
        "a nanosecond earlier",
        lambda: root().add_data(1, system_time="2024-01-01T00:00:00.999999999Z"),
    ),
    Case(20, INVALID, "push after polling", lambda: chain().seed().polling_source().push_source()),
    Case(
        20,
        INVALID,
        "push after disabled polling",
        lambda: chain().seed().polling_source().disable_polling_source().push_source(),
    ),
    Case(
        20,
        INVALID,
        "push after disabled push",
        lambda: chain().seed().push_source().disable_push_source().push_source(),
    ),
    Case(
        20,
        INVALID,
        "other push after disabled push",
        lambda: chain().seed().push_source("a").disable_push_source("a").push_source("b"),
    ),
    Case(
        20,
        NO_OP,
        "same push source",
        lambda: chain().seed().push_source("a").push_source("b").push_source("a"),
    ),
    Case(21, INVALID, "polling after push", lambda: chain().seed().push_source().polling_source()),
    Case(
        21,
        INVALID,
        "polling after disabled push",
        lambda: chain().seed().push_source().disable_push_source().polling_source(),
    ),
    Case(35, NO_OP, "same schema", lambda: root().schema()),
    Case(36, INVALID, "field removed", lambda: root().schema(DataField(name="city", type=DataTypeString()))),
    Case(36, INVALID, "no schema at all", lambda: chain().seed().event(SetDataSchema())),
    Case(38, "RefCASFailed", "not after the head", lambda: stale()),
    Case(
        38,
        "RefCASFailed",
        "chain begun again",
        lambda: root().event(Seed(**seed_fields()), prev=None, sequence_number=0),
    ),
]
