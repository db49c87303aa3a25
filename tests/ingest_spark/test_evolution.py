"""What an ingest makes of a dataset whose metadata have changed since the last one."""

import os
from pathlib import Path

import pytest

from odf_core.data import arrow_schema_to_odf, ddl_schema_to_arrow
from odf_core.engines.datafusion.preprocess import PreprocessRefused
from odf_core.engines.errors import QueryInvalid, QueryRefused
from odf_core.engines.handle import SparkEngine
from odf_core.engines.querying import SparkQueries
from odf_core.engines.trial import QuickTrials
from odf_core.errors import OdfError
from odf_core.ingest.merge_errors import BadInputSchema, IncompatibleSchema, MergeKeyMissing
from odf_core.ingest.trial import Trial
from odf_core.metadata import (
    AddPushSource,
    FetchStepUrl,
    ManifestPlace,
    MergeStrategy,
    MergeStrategyAppend,
    MergeStrategyLedger,
    MergeStrategySnapshot,
    MergeStrategyUpsertStream,
    MetadataEvent,
    PlacedEvent,
    ReadStepCsv,
    ReadStepNdJson,
    SetDataSchema,
    SetPollingSource,
    SetVocab,
    SqlQueryStep,
    Timestamp,
    TransformSql,
)
from odf_core.workspace.committing import Committed, commit_events
from odf_core.workspace.queries import query
from odf_core.workspace.tail import tail
from odf_core.workspace.verification import verify_dataset
from tests.ingest_spark.making import Maker

SYSTEM = ("offset BIGINT NOT NULL", "op INT NOT NULL", "system_time TIMESTAMP NOT NULL")
CITIES = ("city STRING", "population BIGINT")
WIDER = (*CITIES, "url STRING", "tags ARRAY<STRING>")


def _schema(*columns: str) -> SetDataSchema:
    everything = (*SYSTEM, "event_time TIMESTAMP NOT NULL", *columns)
    return SetDataSchema(schema=arrow_schema_to_odf(ddl_schema_to_arrow(everything)))


def _source(ddl: tuple[str, ...], merge: MergeStrategy) -> AddPushSource:
    return AddPushSource(source_name="default", read=ReadStepNdJson(ddl_schema=ddl), merge=merge)


def _commit(maker: Maker, *events: MetadataEvent, trial: Trial | None = None) -> Committed:
    placed = [PlacedEvent(event, ManifestPlace("a test", "", 0)) for event in events]
    return commit_events(maker.workspace, maker.dataset, placed, Timestamp.parse(maker.now), trial=trial)


def _data(row: dict[str, object]) -> tuple[object, ...]:
    return tuple(row[name] for name in ("op", "city", "population", "url", "tags"))


@pytest.mark.parametrize(
    ("merge", "expected"),
    [
        (MergeStrategyLedger(primary_key=("city",)), [(0, "C", 3, "https://c", ["x"])]),
        (
            MergeStrategySnapshot(primary_key=("city",)),
            [
                (1, "B", 2, None, None),
                (2, "A", 1, None, None),
                (3, "A", 1, "https://a", None),
                (0, "C", 3, "https://c", ["x"]),
            ],
        ),
        (
            MergeStrategyUpsertStream(primary_key=("city",)),
            [
                (2, "A", 1, None, None),
                (3, "A", 1, "https://a", None),
                (0, "C", 3, "https://c", ["x"]),
            ],
        ),
        (
            MergeStrategyAppend(),
            [(0, "A", 1, "https://a", None), (0, "C", 3, "https://c", ["x"])],
        ),
    ],
    ids=lambda value: type(value).__name__.removeprefix("MergeStrategy"),
)
def test_new_optional_columns_are_filled(
    maker: Maker, merge: MergeStrategy, expected: list[tuple[object, ...]]
) -> None:
    """Records from before have nulls in them, also where they are compared or said again."""
    maker.make(_source(CITIES, merge))
    maker.push('{"city": "A", "population": 1}\n{"city": "B", "population": 2}\n')
    done = _commit(maker, _source(WIDER, merge), _schema(*WIDER))
    assert (len(done.evolution.blocks), done.evolution.notes) == (2, ())
    maker.push(
        '{"city": "A", "population": 1, "url": "https://a"}\n'
        '{"city": "C", "population": 3, "url": "https://c", "tags": ["x"]}\n'
    )
    found = [_data(row) for row in maker.rows()]
    assert sorted(found, key=repr) == sorted(expected, key=repr)
    assert [row["offset"] for row in maker.rows()] == list(range(2, 2 + len(expected)))
    report = verify_dataset(maker.dataset)
    assert report.ok, report.findings


def test_columns_in_another_order(maker: Maker) -> None:
    merge = MergeStrategySnapshot(primary_key=("city",))
    maker.make(_source(CITIES, merge))
    maker.push('{"city": "A", "population": 1}\n')
    turned = CITIES[::-1]
    done = _commit(maker, _schema(*turned))
    (note,) = done.evolution.notes
    assert "in the order" in note
    with pytest.raises(IncompatibleSchema, match="in the order"):
        maker.push('{"city": "A", "population": 2}\n')
    assert _commit(maker, _source(turned, merge)).evolution.notes == ()
    assert not maker.push('{"city": "A", "population": 1}\n').is_updated
    maker.push('{"city": "A", "population": 2}\n')
    assert maker.table().column_names[4:] == ["population", "city"]
    assert [(row["op"], row["population"]) for row in maker.rows()] == [(2, 1), (3, 2)]


def test_a_source_that_does_not_fit_the_schema_is_told_when_it_is_set(maker: Maker) -> None:
    maker.make(_source(CITIES, MergeStrategyAppend()))
    maker.push('{"city": "A", "population": 1}\n')
    done = _commit(maker, _source(("city STRING", "population INT"), MergeStrategyAppend()))
    (note,) = done.evolution.notes
    assert "column population is Int32, but is declared Int64" in note
    head = maker.dataset.head
    with pytest.raises(IncompatibleSchema, match="population is Int32"):
        maker.push('{"city": "A", "population": 1}\n')
    assert maker.dataset.head == head


@pytest.mark.parametrize("merge", [MergeStrategyAppend(), MergeStrategySnapshot(primary_key=("city",))])
def test_a_vocabulary_that_was_changed_elsewhere(maker: Maker, merge: MergeStrategy) -> None:
    """The chain's rules let it through, so a chain that is pulled or pushed may have it."""
    maker.make(_source(CITIES, merge))
    maker.push('{"city": "A", "population": 1}\n')
    maker.commit(SetVocab(offset_column="number"))
    head = maker.dataset.head
    with pytest.raises(IncompatibleSchema, match="names the system columns 'number'"):
        maker.push('{"city": "B", "population": 1}\n')
    assert maker.dataset.head == head
    _commit(maker, SetVocab())
    maker.push('{"city": "A", "population": 1}\n{"city": "B", "population": 1}\n')
    assert maker.rows()[-1]["city"] == "B"


def test_a_vocabulary_may_be_set_before_the_first_record(maker: Maker) -> None:
    maker.make(_source(CITIES, MergeStrategyAppend()))
    _commit(maker, SetVocab(offset_column="number", event_time_column="at"))
    maker.push('{"city": "A", "population": 1}\n')
    assert maker.table().column_names[:4] == ["number", "op", "system_time", "at"]


def test_a_new_address_is_asked_from_the_start(maker: Maker, tmp_path: Path) -> None:
    """The state that the old one left, the time of a newer file, would hide what the new one has."""
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    first.write_text("city\nA\n")
    second.write_text("city\nB\n")
    os.utime(first, (1_600_000_000, 1_600_000_000))
    os.utime(second, (1_600_000_000, 1_600_000_000))

    def polling(path: Path) -> SetPollingSource:
        return SetPollingSource(
            fetch=FetchStepUrl(url=path.as_uri()), read=ReadStepCsv(header=True), merge=MergeStrategyAppend()
        )

    maker.make(polling(first))
    assert maker.poll().is_updated
    assert not maker.poll().is_updated
    _commit(maker, polling(second))
    assert maker.poll().is_updated
    assert [row["city"] for row in maker.rows()] == ["B"]
    assert not maker.poll().is_updated


@pytest.mark.parametrize(
    ("engine", "sql", "merge", "error", "says"),
    [
        ("spark", "select citty from input", MergeStrategyAppend(), QueryInvalid, "citty"),
        ("spark", "selec city from input", MergeStrategyAppend(), QueryInvalid, "selec"),
        ("spark", "select now() as at from input", MergeStrategyAppend(), QueryRefused, "now"),
        ("spark", "select city as op from input", MergeStrategyAppend(), BadInputSchema, "'op'"),
        (
            "spark",
            "select city as town from input",
            MergeStrategyLedger(primary_key=("city",)),
            MergeKeyMissing,
            "names 'city'",
        ),
        ("datafusion", "select citty from input", MergeStrategyAppend(), PreprocessRefused, "citty"),
    ],
)
def test_queries_are_tried_when_the_engine_is_warm(
    maker: Maker,
    spark_engine: SparkEngine,
    engine: str,
    sql: str,
    merge: MergeStrategy,
    error: type[OdfError],
    says: str,
) -> None:
    spark_engine.start()
    maker.make()
    read = ReadStepCsv(header=True, ddl_schema=CITIES)
    steps = TransformSql(engine=engine, queries=(SqlQueryStep(query=sql),))
    source = AddPushSource(source_name="default", read=read, merge=merge, preprocess=steps)
    head = maker.dataset.head
    with pytest.raises(error, match=says):
        _commit(maker, source, trial=QuickTrials(spark_engine, 120.0))
    assert maker.dataset.head == head


def test_a_query_that_passes_its_trial(maker: Maker, spark_engine: SparkEngine) -> None:
    spark_engine.start()
    maker.make()
    read = ReadStepCsv(header=True, ddl_schema=CITIES)
    steps = (
        SqlQueryStep(query="select * from input", alias="all"),
        SqlQueryStep(query="select city from all"),
    )
    source = AddPushSource(
        source_name="default",
        read=read,
        merge=MergeStrategyLedger(primary_key=("city",)),
        preprocess=TransformSql(engine="spark", queries=steps),
    )
    assert _commit(maker, source, trial=QuickTrials(spark_engine, 120.0)).evolution.blocks
    assert _commit(maker, source, trial=QuickTrials(None, 0)).evolution.blocks == ()


def test_a_type_that_a_chain_from_elsewhere_changed(maker: Maker) -> None:
    merge = MergeStrategySnapshot(primary_key=("city",))
    maker.make(_source(CITIES, merge))
    maker.push('{"city": "A", "population": 1}\n')
    changed = ("city STRING", "population STRING", "url STRING")
    maker.commit(_schema(*changed))
    maker.commit(_source(changed, merge))
    head = maker.dataset.head
    with pytest.raises(IncompatibleSchema, match="population changes its type from Int64 to String"):
        maker.push('{"city": "A", "population": "1"}\n')
    assert maker.dataset.head == head


def test_older_records_have_nulls_in_newer_columns(maker: Maker, queries: SparkQueries) -> None:
    wider = ("url STRING", *CITIES)
    maker.make(_source(CITIES, MergeStrategyAppend()))
    maker.push('{"city": "A", "population": 1}\n')
    _commit(maker, _source(wider, MergeStrategyAppend()), _schema(*wider))
    maker.push('{"city": "B", "population": 1, "url": "x"}\n')
    assert [row["url"] for row in tail(maker.dataset).to_pylist()] == [None, "x"]
    found = query(maker.workspace, queries, "select city, url from foo order by city")
    assert found.to_pylist() == [{"city": "A", "url": None}, {"city": "B", "url": "x"}]
