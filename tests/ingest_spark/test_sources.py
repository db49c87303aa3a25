"""Polling and push sources from file to chain: state, watermark, schema, inference, refusals."""

import datetime
import json
import os
from dataclasses import replace
from pathlib import Path

import pytest

from odf_core.engines.errors import QueryInvalid
from odf_core.ingest.errors import ArchiveDamaged
from odf_core.ingest.merge_errors import BadInputSchema, MergeKeyMissing, UnexpectedNulls
from odf_core.ingest.read import MalformedInput
from odf_core.ingest.sources import NoPollingSource, PushSourceAmbiguous, PushSourceNotFound
from odf_core.metadata import (
    AddPushSource,
    CompressionFormat,
    FetchStepUrl,
    MergeStrategyAppend,
    MergeStrategyLedger,
    MergeStrategySnapshot,
    PrepStepDecompress,
    ReadStepCsv,
    ReadStepNdJson,
    SetDataSchema,
    SetPollingSource,
    SqlQueryStep,
    Timestamp,
    TransformSql,
    event_kind,
)
from tests.ingest_spark.making import Maker
from tests.vectors import require_vectors

CITIES = ("date TIMESTAMP", "city STRING", "population BIGINT")


def _polling(path: Path) -> SetPollingSource:
    return SetPollingSource(
        fetch=FetchStepUrl(url=path.as_uri()),
        read=ReadStepCsv(header=True, ddl_schema=CITIES),
        merge=MergeStrategyLedger(primary_key=("date", "city")),
    )


def _put(path: Path, text: str, second: int) -> None:
    """A file with a time of modification of its own."""
    path.write_text(text)
    os.utime(path, (1_600_000_000 + second,) * 2)


def test_the_golden_polling_rounds(maker: Maker, tmp_path: Path) -> None:
    """The watermark does not go back; duplicates and an empty file leave a new source state only."""
    cases = json.loads(require_vectors("ingest/polling_push.json").read_text())["cases"]
    case = next(item for item in cases if item["id"] == "polling_ledger")
    source = tmp_path / "source.csv"
    maker.now = case["now"]
    maker.make(_polling(source), event_time="date")
    for number, step in enumerate(case["rounds"]):
        _put(source, step["input"], number)
        before = maker.history().projection.last_add_data
        maker.poll()
        added = maker.last()
        if "expected_rows" in step:
            assert [_plain(row) for row in maker.rows()] == step["expected_rows"]
            assert added.new_watermark == Timestamp.parse(step["new_watermark"])
        else:
            assert added.new_data is None
            assert added.new_watermark == Timestamp.parse(step["expected_add_data"]["newWatermark"])
        assert added.new_source_state is not None
        assert before is None or added.new_source_state != before.new_source_state
    assert not maker.poll().is_updated


def _plain(row: dict[str, object]) -> dict[str, object]:
    return {
        name: str(Timestamp.from_datetime(value)) if isinstance(value, datetime.datetime) else value
        for name, value in row.items()
    }


def test_an_empty_first_file_without_schema_leaves_its_state(maker: Maker, tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    _put(source, "", 0)
    fetch = FetchStepUrl(url=source.as_uri())
    maker.make(
        SetPollingSource(fetch=fetch, read=ReadStepCsv(header=True), merge=MergeStrategyAppend()),
    )
    maker.poll()
    assert maker.last().new_data is None
    assert maker.last().new_source_state is not None
    assert maker.history().schema is None


def test_an_empty_first_file_with_a_schema_declares_it(maker: Maker) -> None:
    maker.with_push(ReadStepCsv(header=True, ddl_schema=CITIES), MergeStrategyAppend(), event_time="date")
    done = maker.push("")
    assert (done.num_blocks, done.num_records) == (1, 0)
    kinds = [event_kind(block.block.event) for block in maker.dataset.folder.walk()]
    assert kinds[0] == SetDataSchema.__name__


def test_a_date_may_be_the_event_time(maker: Maker) -> None:
    ddl = ("date DATE", "city STRING", "population BIGINT")
    maker.with_push(
        ReadStepCsv(header=True, ddl_schema=ddl),
        MergeStrategySnapshot(primary_key=("date", "city")),
        event_time="date",
    )
    maker.push("date,city,population\n2020-01-01,A,1000\n2020-01-02,B,2000\n")
    assert [row["date"] for row in maker.rows()] == [datetime.date(2020, 1, 1), datetime.date(2020, 1, 2)]
    assert maker.last().new_watermark == Timestamp.parse("2020-01-02T00:00:00Z")


def test_a_text_may_not_be_the_event_time(maker: Maker) -> None:
    ddl = ("date STRING", "city STRING", "population BIGINT")
    maker.with_push(ReadStepCsv(header=True, ddl_schema=ddl), MergeStrategyAppend(), event_time="date")
    head = maker.dataset.head
    with pytest.raises(BadInputSchema, match="'date' is string"):
        maker.push("date,city,population\n2020-01-01,A,1000\n")
    assert maker.dataset.head == head


def test_other_media_types_than_the_source_reads(maker: Maker) -> None:
    maker.with_push(
        ReadStepNdJson(ddl_schema=CITIES),
        MergeStrategyLedger(primary_key=("date", "city")),
        event_time="date",
    )
    maker.push("2020-01-01,A,1000\n", media_type="text/csv")
    maker.push('{"date": "2020-01-01", "city": "B", "population": 2000}\n', media_type="application/x-ndjson")
    maker.push('[{"date": "2020-01-01", "city": "C", "population": 3000}]', media_type="application/json")
    assert [(row["offset"], row["city"]) for row in maker.rows()] == [(2, "C")]


@pytest.mark.parametrize(
    ("record", "expected"),
    [
        (
            {"event_time": "2020-01-02T01:02:03.123456789Z", "foo": "bar"},
            {"event_time": "2020-01-02T01:02:03.123Z", "foo": "bar"},
        ),
        ({"event_time": 1577926923, "foo": "bar"}, {"event_time": "2020-01-02T01:02:03Z", "foo": "bar"}),
        ({"op": 123, "foo": "bar"}, {"event_time": "2050-01-01T12:00:00Z", "foo": "bar", "_op": 123}),
    ],
)
def test_what_is_inferred(maker: Maker, record: dict[str, object], expected: dict[str, object]) -> None:
    maker.with_push(ReadStepNdJson(), MergeStrategyAppend())
    maker.push(json.dumps(record) + "\n")
    system = {"offset": 0, "op": 0, "system_time": "2050-01-01T12:00:00Z"}
    [row] = maker.rows()
    assert _plain(row) == system | expected
    assert list(row) == [*system, *expected]


def test_nulls_in_a_required_column_are_counted(maker: Maker) -> None:
    ddl = ("date TIMESTAMP NOT NULL", "city STRING NOT NULL", "population BIGINT NOT NULL")
    maker.with_push(ReadStepNdJson(ddl_schema=ddl), MergeStrategyAppend(), event_time="date")
    maker.push('{"date": "2020-01-01", "city": "A", "population": 1000}\n')
    head = maker.dataset.head
    with pytest.raises(
        UnexpectedNulls,
        match=r"^Input 'input-2': Column `population` contains 1 null values .*, the first in row 2; mend",
    ):
        maker.push(
            '{"date": "2020-01-05", "city": "E", "population": 5000}\n'
            '{"date": "2020-01-04", "city": "D", "population": null}\n'
        )
    assert maker.dataset.head == head
    assert not list((maker.workspace.root / "work").iterdir())


def test_nulls_of_a_query_are_told_with_their_record(maker: Maker) -> None:
    ddl = ("city STRING NOT NULL", "population BIGINT NOT NULL")
    maker.with_push(ReadStepNdJson(ddl_schema=ddl), MergeStrategyAppend())
    maker.push('{"city": "A", "population": 1000}\n')
    query = SqlQueryStep(query="select city, nullif(population, 0) as population from input")
    source = AddPushSource(
        source_name="default",
        read=ReadStepNdJson(ddl_schema=ddl),
        merge=MergeStrategyAppend(),
        preprocess=TransformSql(engine="spark", queries=(query,)),
    )
    maker.commit(source)
    with pytest.raises(UnexpectedNulls, match=r"the first in the record .*city=B, population=None"):
        maker.push('{"city": "A", "population": 1000}\n{"city": "B", "population": 0}\n')


@pytest.mark.parametrize("engine", ["spark", "datafusion"])
def test_a_preprocess_of_several_steps(maker: Maker, engine: str) -> None:
    steps = (
        SqlQueryStep(alias="big", query="select * from input where population > 1500"),
        SqlQueryStep(query="select date, city, population + 1 as people from big"),
    )
    maker.with_push(
        ReadStepCsv(header=True, ddl_schema=CITIES),
        MergeStrategyAppend(),
        TransformSql(engine=engine, queries=steps),
        event_time="date",
    )
    maker.push("date,city,population\n2020-01-01,A,1000\n2020-01-01,B,2000\n2020-01-01,C,3000\n")
    assert [(row["offset"], row["city"], row["people"]) for row in maker.rows()] == [
        (0, "B", 2001),
        (1, "C", 3001),
    ]


def test_a_key_that_the_input_lacks(maker: Maker) -> None:
    maker.with_push(ReadStepCsv(header=True), MergeStrategyLedger(primary_key=("id",)))
    with pytest.raises(MergeKeyMissing, match=r"^Input 'input-1': Ledger names 'id', .* are 'city'; change"):
        maker.push("city\nA\n")


def test_faults_of_a_polled_source_name_it(maker: Maker, tmp_path: Path) -> None:
    source = tmp_path / "source.csv"
    maker.make(_polling(source))
    _put(source, "date,city,population\n2020-01-01,A\n", 0)
    with pytest.raises(MalformedInput, match=f"^Input '{source.as_uri()}', row 1: "):
        maker.poll()
    gunzip = (PrepStepDecompress(format=CompressionFormat.GZIP),)
    maker.commit(replace(_polling(source), prepare=gunzip))
    with pytest.raises(ArchiveDamaged, match=f"^Input '{source.as_uri()}': "):
        maker.poll()


def test_faults_of_a_preprocess_query_say_whose_it_is(maker: Maker) -> None:
    query = TransformSql(engine="spark", queries=(SqlQueryStep(query="SELECT citty FROM input"),))
    maker.with_push(ReadStepCsv(header=True), MergeStrategyAppend(), query)
    head = maker.dataset.head
    with pytest.raises(
        QueryInvalid,
        match=r"^Preprocess query of the source of foo: .*column 8: there is no column `citty` "
        r"\(the nearest are `city`\); `select",
    ):
        maker.push("city\nA\n")
    assert maker.dataset.head == head


def test_which_source(maker: Maker) -> None:
    source = AddPushSource(source_name="a", read=ReadStepCsv(header=True), merge=MergeStrategyAppend())
    maker.make()
    with pytest.raises(PushSourceNotFound):
        maker.push("x\n1\n")
    with pytest.raises(NoPollingSource):
        maker.poll()
    maker.commit(source)
    maker.commit(AddPushSource(source_name="b", read=source.read, merge=source.merge))
    with pytest.raises(PushSourceAmbiguous, match="'a', 'b'"):
        maker.push("x\n1\n")


def test_the_golden_slice_has_its_logical_hash(maker: Maker) -> None:
    """What our ingest makes of the golden input is what the deployed one made of it."""
    literals = json.loads(require_vectors("arrow_digest/literals.json").read_text())["cases"]
    golden = next(item for item in literals if item["id"] == "add_data_slice")
    ddl = ("city STRING NOT NULL", "population BIGINT NOT NULL")
    maker.with_push(ReadStepCsv(header=True, schema=_unsigned(ddl)), MergeStrategyAppend())
    maker.push("city,population\nA,100\nB,200\n")
    data = maker.last().new_data
    assert data is not None
    assert str(data.logical_hash) == golden["logicalHash"]


def _unsigned(ddl: tuple[str, ...]) -> object:
    import pyarrow as pa

    from odf_core.data import arrow_schema_to_odf, ddl_schema_to_arrow

    fields = [
        item.with_type(pa.uint64()) if item.type == pa.int64() else item for item in ddl_schema_to_arrow(ddl)
    ]
    return arrow_schema_to_odf(pa.schema(fields))
