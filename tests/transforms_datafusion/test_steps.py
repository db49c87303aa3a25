"""Steps on DataFusion with our version: they add up to the query over the whole, in any division."""

import itertools

import pyarrow as pa
import pytest

from odf_core.engines.datafusion import warm_pool
from odf_core.engines.datafusion.calls import StepRequest, Validate
from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.datafusion.step import answer
from odf_core.engines.datafusion.transform import DataFusionTransforms
from odf_core.engines.errors import (
    EngineDied,
    EngineFailed,
    EngineTimeout,
    InvalidEngineRequest,
    QueryInvalid,
    QueryRefused,
)
from odf_core.engines.transform_calls import query_of
from odf_core.metadata import TransformSql
from odf_core.transform.errors import CheckpointUnreadable, InvalidQueryResult, QueryNotMigratable
from odf_core.transform.port import TableSchema
from tests.landlock import landlock_works
from tests.transforms_spark.stepping import VOCAB, Derived, Input, minute

COLUMNS = pa.schema(
    [pa.field("k", pa.string()), pa.field("n", pa.int64()), pa.field("tags", pa.list_(pa.string()))]
)
ENGINE = DataFusionTransforms()
OURS = ENGINE.version()
PROJECT = "select op, event_time, upper(k) as k, n * 2 as n from a where n > 0"
UNITE = "select op, event_time, k, n from a where n > 0 union all select op, event_time, k, -n from b"
UNNEST = "select op, event_time, unnest(tags) as tag, k from a"
RECORDS = [
    (0, 1, "x", 1, ["p", "q"]),
    (0, 2, "y", 2, []),
    (0, 2, "z", -1, ["r"]),
    (2, 1, "x", 1, ["p", "q"]),
    (3, 1, "x", 5, ["q"]),
    (1, 2, "y", 2, []),
    (2, 2, "z", -1, ["r"]),
    (3, 2, "z", 4, ["r", "s"]),
]


@pytest.fixture
def sources(tmp_path):
    return Input("a", COLUMNS, tmp_path), Input("b", COLUMNS, tmp_path)


def derived(sources, query, folder, version: str | None = OURS) -> Derived:
    return Derived(ENGINE, list(sources), query, folder, version=version)


def told(step) -> list[tuple]:
    hidden = ("offset", "system_time", "event_time")
    return [tuple(value for name, value in row.items() if name not in hidden) for row in step.records]


def tables(*names: str) -> list[TableSchema]:
    return [TableSchema(name, Input(name, COLUMNS, None).schema, VOCAB) for name in names]


def ask(query: str) -> None:
    """What validating raises, here rather than in a process of its own."""
    asked = query_of(TransformSql(engine="datafusion", query=query), tables("a", "b"), VOCAB)
    answer(StepRequest(call=Validate(query=asked), files=(), folder="", memory_bytes=1 << 30))


def valid(query: str):
    return ENGINE.validate(TransformSql(engine="datafusion", query=query), tables("a", "b"), VOCAB)


def folded(steps) -> list[tuple]:
    rows: list[tuple] = []
    for step in steps:
        for op, *row in told(step):
            rows.append(tuple(row)) if op in (0, 3) else rows.remove(tuple(row))
    return sorted(rows)


@pytest.mark.parametrize(
    ("query", "outcome"),
    [
        (PROJECT, [("X", 10), ("Z", 8)]),
        (UNITE, [("x", -5), ("x", 5), ("z", -4), ("z", 4)]),
        (UNNEST, [("q", "x"), ("r", "z"), ("s", "z")]),
    ],
)
@pytest.mark.parametrize("cuts", [(), (4,), (1, 3, 5, 7)])
def test_any_division_comes_to_the_same(query, outcome, cuts, sources, tmp_path):
    made = derived(sources, query, tmp_path)
    for start, end in zip((0, *cuts), (*cuts, len(RECORDS)), strict=True):
        made.step([source.slice(RECORDS[start:end]) for source in sources], [None, None])
    assert folded(made.steps) == outcome
    records = made.told()
    assert [row["offset"] for row in records] == list(range(len(records)))
    if not cuts:
        for one, other in itertools.pairwise(records):
            assert (one["op"] == 2) == (other["op"] == 3)


def test_the_same_request_gives_the_same_rows_each_time(sources, tmp_path):
    slices = [source.slice(RECORDS) for source in sources]
    hashes = {derived(sources, UNITE, tmp_path).step(slices, [1, 2]).logical_hash for _ in range(3)}
    assert len(hashes) == 1


def test_half_a_correction_that_is_left_is_an_addition_or_a_retraction(sources, tmp_path):
    done = derived(sources, PROJECT, tmp_path).step([sources[0].slice(RECORDS), None], [None, None])
    assert told(done)[2:] == [(2, "X", 2), (3, "X", 10), (1, "Y", 4), (0, "Z", 8)]


def test_the_watermark_of_each_input_is_remembered(sources, tmp_path):
    made = derived(sources, UNITE, tmp_path)
    steps = [made.step([None, None], marks) for marks in ([5, None], [None, 3], [None, 4], [4, 9])]
    found = [step.watermark and step.watermark.to_datetime() for step in steps]
    assert found == [None, minute(3), minute(4), minute(5)]
    other = derived(sources, UNITE, tmp_path)
    once = other.step([None, None], [5, 9])
    assert once.checkpoint.read_bytes() == steps[-1].checkpoint.read_bytes()


def test_a_deployed_chain_forgets(sources, tmp_path):
    made = derived(sources, UNITE, tmp_path, version=None)
    steps = [made.step([None, None], marks) for marks in ([5, None], [None, 3])]
    assert [step.watermark.to_datetime() for step in steps] == [minute(5), minute(3)]
    assert steps[-1].checkpoint is None


def test_a_deployed_chain_groups_new_records_alone(sources, tmp_path):
    query = "select max(event_time) as event_time, count(*) as c from a"
    made = derived(sources[:1], query, tmp_path, version=None)
    for records in (RECORDS[:2], RECORDS[2:3]):
        made.step([sources[0].slice(records)], [None])
    assert [(row["op"], row["c"]) for row in made.told()] == [(0, 2), (0, 1)]


@pytest.mark.parametrize(
    ("query", "error", "words"),
    [
        ("select event_time, count(*) from a group by event_time", QueryRefused, "groups rows"),
        ("select distinct event_time, k from a", QueryRefused, "drops rows that are equal"),
        ("select event_time, k from a union select event_time, k from b", QueryRefused, "drops rows"),
        ("select a.event_time, b.n from a join b on a.k = b.k", QueryRefused, "joins rows"),
        ("select event_time, row_number() over () as r from a", QueryRefused, "neighbouring rows"),
        ("select event_time, k from a order by k", QueryRefused, "in order"),
        ("select event_time, k from a limit 1", QueryRefused, "limits"),
        ("select event_time, (select max(n) from b) as m from a", QueryRefused, "subquery in place"),
        ("select event_time from a where k in (select k from b)", QueryRefused, "subquery in a condition"),
        ("select timestamp '2020-01-01T00:00:00' as event_time", QueryRefused, "rows of its own"),
        ("select event_time, 1 as x from a cross join generate_series(1, 3)", QueryRefused, "joins rows"),
        ("select to_timestamp(value) as event_time from generate_series(1, 3)", QueryRefused, "none of its"),
        ("explain select event_time from a", InvalidQueryResult, "event_time"),
        ("select event_time, now() as n from a", QueryRefused, "something else each time"),
        ("select current_timestamp as event_time from a", QueryRefused, "something else each time"),
        ("select event_time, random() as n, uuid() as u from a", QueryRefused, "something else each time"),
        ("select event_time, version() as n from a", QueryRefused, "something else each time"),
        ("select event_time from '/etc/passwd'", QueryInvalid, "none of its inputs"),
        ("select event_time from information_schema.tables", QueryInvalid, "none of its inputs"),
        ("create table x as select * from a", QueryRefused, "Only queries"),
        ("create external table x stored as csv location '/etc/passwd'", QueryRefused, "Only queries"),
        ("copy a to '/tmp/x' stored as csv", QueryRefused, "Only queries"),
        ("set datafusion.execution.batch_size = 1", QueryRefused, "Only queries"),
        ("select event_time, nothing from a", QueryInvalid, "nothing"),
        ("select event_time, EVENT_TIME as x from a", QueryInvalid, "EVENT_TIME"),
        ("selec event_time from a", QueryInvalid, "selec"),
        ("select event_time from a; select event_time from b", QueryInvalid, "single"),
        ("select k from a", InvalidQueryResult, "no column event_time"),
        ("select 1 as event_time from a", InvalidQueryResult, "int64"),
        ("select * from a", InvalidQueryResult, "offset"),
        ("select event_time, n as system_time from a", InvalidQueryResult, "system_time"),
        ("select event_time, cast(0 as int) as op from a", InvalidQueryResult, "computes op"),
        (
            "select event_time, op, cast(n as int) as n from a union all "
            "select event_time, cast(n as int) as n, op from b",
            InvalidQueryResult,
            "computes op",
        ),
        ("select event_time, interval '1 month' as x from a", InvalidQueryResult, "cannot have"),
        ("select event_time, k, n as k from a", QueryInvalid, "k"),
    ],
)
def test_what_is_refused(query, error, words):
    with pytest.raises(error, match=words) as raised:
        ask(query)
    assert raised.value.message.endswith(".")


def test_a_refusal_comes_back_from_the_process():
    with pytest.raises(QueryRefused, match="groups rows") as raised:
        valid("select event_time, count(*) from a group by event_time")
    assert raised.value.objects == ("Aggregate",)


def test_what_is_valid_gets_the_version_and_the_columns():
    found = valid(UNNEST)
    assert found.transform == TransformSql(engine="datafusion", version=OURS, query=UNNEST)
    assert found.columns.names == ["event_time", "tag", "k"]
    assert not found.is_stateful
    words = valid("select event_time, 'say now()' as k, lower(k) like 'a%' as b from a")
    assert words.columns.types[1:] == [pa.string(), pa.bool_()]
    nested = valid("select * except (offset, system_time) from (select * from a where k is not null) q")
    assert nested.columns.names == ["event_time", "k", "n", "tags"]


def test_retractions_that_a_query_leaves_out_stop_it(sources, tmp_path):
    made = derived(sources[:1], "select event_time, k from a", tmp_path)
    made.step([sources[0].slice(RECORDS[:2])], [None])
    with pytest.raises(QueryRefused, match=r"input a has retractions or corrections.*select it too"):
        made.step([sources[0].slice(RECORDS[2:])], [None])


def test_another_query_takes_over_the_watermarks(sources, tmp_path):
    made = derived(sources, UNITE, tmp_path)
    checkpoint = made.step([None, None], [5, 3]).checkpoint
    old, new = made.transform, TransformSql(engine="datafusion", version=OURS, query=PROJECT)
    ENGINE.migrate(old, new, tables("a", "b"), VOCAB, checkpoint, tmp_path / "migrated")
    other = derived(sources, PROJECT, tmp_path)
    other.checkpoint = checkpoint
    with pytest.raises(CheckpointUnreadable):
        other.step([None, None], [None, 4])
    other.checkpoint = tmp_path / "migrated"
    assert other.step([None, None], [None, 4]).watermark.to_datetime() == minute(4)
    of_spark = TransformSql(engine="spark", version="4", query=PROJECT)
    with pytest.raises(QueryNotMigratable, match="spark 4"):
        ENGINE.migrate(of_spark, new, tables("a", "b"), VOCAB, None, tmp_path / "none")


def test_what_is_not_handed_over_cannot_be_read(sources, tmp_path, monkeypatch):
    """The fences of a call are for its files alone."""
    if not landlock_works():
        pytest.skip("this kernel has no Landlock")
    made = derived(sources[:1], "select op, event_time, k from a", tmp_path)
    slices = [sources[0].slice(RECORDS)]
    made.step(slices, [None])
    monkeypatch.setattr("odf_core.engines.datafusion.transform._files", lambda request: ())
    with pytest.raises(InvalidEngineRequest, match="Permission denied"):
        made.step(slices, [None])


def test_a_process_that_was_killed_is_replaced(sources, tmp_path):
    made = derived(sources[:1], "select op, event_time, k from a", tmp_path)
    made.step([sources[0].slice(RECORDS)], [None])
    for _, process in warm_pool._idle:
        process.kill()
    assert made.step([sources[0].slice(RECORDS)], [None]).interval is not None


def test_a_step_that_takes_too_long_or_too_much_is_ended(sources, tmp_path):
    query = "select event_time, repeat('x', 1000000000) as s from a"
    slices = [sources[0].slice(RECORDS)]
    greedy = Derived(
        DataFusionTransforms(DataFusionOptions(memory_bytes=1 << 30)), [sources[0]], query, tmp_path
    )
    with pytest.raises((EngineDied, EngineFailed, QueryInvalid)):
        greedy.step(slices, [None])
    slow = Derived(
        DataFusionTransforms(DataFusionOptions(step_seconds=0.001)), [sources[0]], PROJECT, tmp_path
    )
    with pytest.raises(EngineTimeout):
        slow.step(slices, [None])
    assert not list(tmp_path.glob("step-*/data"))
