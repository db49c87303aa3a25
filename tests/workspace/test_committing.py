"""Metadata of datasets that exist: events that become blocks, that change nothing, and that are refused."""

import json
import re
from pathlib import Path

import pytest

from odf_core.chain import Projection
from odf_core.data import arrow_schema_to_odf, ddl_schema_to_arrow
from odf_core.errors import OdfError
from odf_core.ingest.evolution_rules import EventRefused
from odf_core.metadata import (
    InvalidManifest,
    MetadataEvent,
    SetDataSchema,
    Timestamp,
    event_to_json,
    read_events,
    read_snapshots,
)
from odf_core.workspace import DatasetBusy, LocalDataset, OldHeadMismatch, PulledDataset, Workspace
from odf_core.workspace.adding import add_snapshots
from odf_core.workspace.committing import Committed, commit_events
from tests.builders.dataset_builder import root_dataset
from tests.workspace.local_datasets import assert_whole, derivative_of, new_workspace, put

NOW = Timestamp.parse("2026-01-02T03:04:05Z")
LATER = Timestamp.parse("2026-01-03T00:00:00Z")

PUSH = """\
kind: AddPushSource
sourceName: default
read:
  kind: Csv
  header: true
  ddlSchema:
  - city STRING
  - population BIGINT
merge:
  kind: Ledger
  primaryKey:
  - city
"""
POLL = """\
kind: SetPollingSource
fetch:
  kind: Url
  url: https://example.org/cities.csv
read:
  kind: Csv
  header: true
merge:
  kind: Append
"""
TRANSFORM = """\
kind: SetTransform
inputs: [{datasetRef: %s}]
transform: {kind: Sql, engine: spark, query: select 1}
"""
SYSTEM = ["offset BIGINT NOT NULL", "op INT NOT NULL", "system_time TIMESTAMP NOT NULL"]
CITIES = [*SYSTEM, "event_time TIMESTAMP NOT NULL", "city STRING", "population BIGINT"]


def schema_event(*columns: str) -> str:
    event = SetDataSchema(schema=arrow_schema_to_odf(ddl_schema_to_arrow(columns)))
    return json.dumps(event_to_json(event))


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    return new_workspace(tmp_path)


def made(workspace: Workspace, *events: str) -> LocalDataset:
    """A root dataset without records, of these events in YAML."""
    text = "kind: DatasetSnapshot\nversion: 1\ncontent: {name: foo, kind: Root, metadata: []}\n"
    (added,) = add_snapshots(workspace, read_snapshots(text, "foo.yaml"), NOW)
    if events:
        commit(workspace, *events)
    return added.dataset


def commit(workspace: Workspace, *texts: str, time: Timestamp = NOW, **options: object) -> Committed:
    events = [item for number, text in enumerate(texts) for item in read_events(text, f"{number}.yaml")]
    return commit_events(workspace, workspace.dataset("foo"), events, time, **options)  # type: ignore[arg-type]


def refused(workspace: Workspace, *texts: str) -> OdfError:
    """Why the events are refused; nothing was changed then."""
    head = workspace.dataset("foo").head
    with pytest.raises(OdfError) as caught:
        commit(workspace, *texts)
    assert workspace.dataset("foo").head == head
    return caught.value


def state(dataset: LocalDataset) -> Projection:
    return Projection.of(reversed(list(dataset.folder.walk())))


def test_events_of_one_call_are_blocks_of_one_time(workspace: Workspace) -> None:
    dataset = made(workspace)
    info = "kind: MetadataEvent\nversion: 1\ncontent: {kind: SetInfo, description: Cities}\n"
    done = commit(workspace, f"{info}---\n{PUSH}", "kind: SetVocab\neventTimeColumn: at\n", time=LATER)
    blocks = list(dataset.folder.walk())
    assert [block.block.sequence_number for block in blocks] == [3, 2, 1, 0]
    assert {block.block.system_time for block in blocks[:3]} == {LATER}
    assert (done.new_head, len(done.evolution.blocks)) == (dataset.head, 3)
    at = state(dataset)
    assert at.info is not None
    assert (at.info.description, at.vocabulary.event_time_column) == ("Cities", "at")
    assert_whole(dataset)


def test_what_the_dataset_says_already_makes_no_block(workspace: Workspace) -> None:
    license_ = "kind: SetLicense\nshortName: CC0\nname: Zero\nwebsiteUrl: https://example.org\n"
    attached = "kind: SetAttachments\nattachments: {kind: Embedded, items: [{path: a, content: b}]}\n"
    info = "kind: SetInfo\ndescription: Cities\n"
    texts = [license_, attached, info, PUSH, "kind: SetVocab\n", schema_event(*CITIES)]
    dataset = made(workspace, *texts)
    head = dataset.head
    again = commit(workspace, *texts, time=LATER)
    assert (again.old_head, again.new_head) == (head, head)
    assert [step.block for step in again.evolution.steps] == [None] * 6
    mixed = commit(workspace, info, "kind: SetInfo\ndescription: Towns\n", time=LATER)
    assert [step.block is None for step in mixed.evolution.steps] == [True, False]
    assert dataset.head == mixed.new_head != head


def test_a_polling_source_is_replaced_or_disabled(workspace: Workspace) -> None:
    dataset = made(workspace, POLL)
    assert not commit(workspace, POLL).evolution.blocks
    commit(workspace, POLL.replace("cities.csv", "towns.csv"))
    assert "towns.csv" in str(state(dataset).polling_source)
    commit(workspace, "kind: DisablePollingSource\n")
    assert state(dataset).polling_source is None
    assert "none is active" in refused(workspace, "kind: DisablePollingSource\n").message
    assert "after a source was disabled" in refused(workspace, PUSH).message


def test_a_query_is_written_as_a_list(workspace: Workspace) -> None:
    query = PUSH + "preprocess: {kind: Sql, engine: spark, query: select * from input}\n"
    dataset = made(workspace, query)
    source = state(dataset).push_sources["default"]
    assert source.preprocess is not None
    assert source.preprocess.query is None
    assert not commit(workspace, query).evolution.blocks


@pytest.mark.parametrize(
    ("before", "event", "line", "says"),
    [
        ([], "kind: Seed\ndatasetId: did:odf:fed01{}\ndatasetKind: Root\n", 1, "takes no second"),
        ([], "kind: AddData\nnewWatermark: 2020-01-01T00:00:00Z\n", 1, "`odf set-watermark`"),
        ([], "kind: ExecuteTransform\nqueryInputs: []\n", 1, "by computing"),
        (
            [],
            TRANSFORM % "foo",
            1,
            "for Derivative datasets, and this one is Root",
        ),
        ([PUSH], POLL, 1, "^0.yaml, line 1: The event sets a polling source, but push sources .* 'default'"),
        ([POLL], PUSH, 1, "adds a push source while a polling source is active"),
        ([PUSH], "kind: DisablePushSource\nsourceName: other\n", 1, "'other', which is not active"),
        ([], PUSH.replace("BIGINT", "BIGGINT"), 8, "In column 'population', .*'BIGGINT' is not"),
        ([], PUSH.replace("ddlSchema", "schema").replace("BIGINT", "BIGGINT"), 8, "is not known"),
        (
            [],
            PUSH.replace("  - city\n", "  - town\n"),
            12,
            "Ledger names 'town', but .* 'city', 'population'",
        ),
        ([], PUSH.replace("city STRING", "offset STRING"), 6, "'offset', which is a system column"),
        ([], PUSH.replace("city STRING", "event_time STRING"), 6, "must be DATE or TIMESTAMP"),
        ([], PUSH.replace("city STRING", "city MAP<STRING, INT>"), 6, "no slice can hold"),
        ([], PUSH.replace("header: true", "separator: '::'"), 5, "not one ASCII character"),
        ([], PUSH + "preprocess: {kind: Sql, engine: flink, query: x}\n", 13, "only spark and datafusion"),
        ([PUSH], "kind: SetVocab\neventTimeColumn: city\n", 1, "push source 'default' any more: .*'city'"),
        ([], "kind: SetVocab\noffsetColumn: op\n", 1, "two system columns would be called 'op'"),
        ([], "kind: SetInfo\ncolour: red\n", 2, "unknown property 'colour'"),
        ([], "kind: SetInfos\n", 1, "one of AddData"),
        ([], "kind: DatasetSnapshot\nversion: 1\n", 1, "`odf add`"),
        ([], "kind: MetadataEvent\nversion: 2\ncontent: {kind: SetInfo}\n", 2, "version 2"),
    ],
)
def test_events_that_are_refused(
    workspace: Workspace, before: list[str], event: str, line: int, says: str
) -> None:
    made(workspace, *before)
    error = refused(workspace, event.replace("{}", "00" * 32) if "Seed" in event else event)
    assert error.message.startswith(f"0.yaml, line {line}: "), error.message
    assert re.search(says, error.message, re.IGNORECASE), error.message


def test_all_events_or_none(workspace: Workspace) -> None:
    made(workspace, PUSH)
    error = refused(workspace, "kind: SetInfo\ndescription: x\n", f"kind: SetInfo\n---\n{POLL}")
    assert error.message.startswith("1.yaml, line 3: ")


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        ([*CITIES[:-1], "population INT"], "population changes its type from Int64 to Int32"),
        ([*CITIES[:-1], "population INT", "url STRING"], "population changes its type from Int64 to Int32"),
        (CITIES[:-1], "field population is gone"),
        ([*CITIES[:-1], "people BIGINT"], "field population is gone; new field|is gone"),
        ([*CITIES, "url STRING NOT NULL"], "new field url is not optional"),
        ([*CITIES[:-1], "population BIGINT NOT NULL"], "population becomes required"),
        ([*CITIES[:4], CITIES[5], CITIES[4], "city STRING"], "'city' twice"),
        ([CITIES[4], *CITIES[:4], CITIES[5]], "column 1 is city, not offset"),
    ],
)
def test_schemas_that_records_could_not_be_read_by(
    workspace: Workspace, columns: list[str], says: str
) -> None:
    made(workspace, schema_event(*CITIES))
    if "twice" in says:
        text = schema_event(*CITIES).replace('"population"', '"city"')
    else:
        text = schema_event(*columns)
    error = refused(workspace, text)
    assert isinstance(error, EventRefused)
    assert says.split("|")[0].split(";")[0] in error.message, error.message


def test_schemas_may_grow_and_be_put_in_another_order(workspace: Workspace) -> None:
    dataset = made(workspace, PUSH, schema_event(*CITIES))
    done = commit(workspace, schema_event(*CITIES, "url STRING"))
    (note,) = done.evolution.notes
    assert note.startswith(
        "the push source 'default' does not fit the dataset's schema: column url is missing"
    )
    commit(workspace, schema_event(*CITIES[:4], "url STRING", "city STRING", "population BIGINT"))
    assert len(list(dataset.folder.walk())) == 5
    wider = PUSH.replace("  - city STRING\n", "  - url STRING\n  - city STRING\n")
    assert commit(workspace, wider).evolution.notes == ()
    assert_whole(dataset)


@pytest.mark.parametrize(
    ("columns", "says"),
    [
        (["city STRING"], "column 1 is city, not offset"),
        (["offset INT NOT NULL", *CITIES[1:]], "offset is not Int64, required"),
        ([*CITIES[:3], "event_time STRING NOT NULL"], "event_time is not Timestamp"),
        ([*SYSTEM, "event_time DATE", "city STRING"], None),
    ],
)
def test_a_first_schema_has_the_system_columns(
    workspace: Workspace, columns: list[str], says: str | None
) -> None:
    made(workspace)
    if says is None:
        assert commit(workspace, schema_event(*columns)).evolution.blocks
    else:
        assert says in refused(workspace, schema_event(*columns)).message


def test_a_vocabulary_stays_once_there_is_a_schema(workspace: Workspace) -> None:
    made(workspace, schema_event(*CITIES))
    assert not commit(workspace, "kind: SetVocab\noffsetColumn: offset\n").evolution.blocks
    error = refused(workspace, "kind: SetVocab\neventTimeColumn: at\n")
    assert "'event_time' to 'at'" in error.message


def test_derivative_datasets(workspace: Workspace, tmp_path: Path) -> None:
    builder = root_dataset("root")
    put(workspace, "root", builder, tmp_path)
    derived = put(workspace, "foo", derivative_of(builder, "foo"), tmp_path)
    assert "for Root datasets" in refused(workspace, PUSH).message
    assert "reads datasets that do not exist: none" in refused(workspace, TRANSFORM % "none").message
    commit(workspace, TRANSFORM % "root")
    found = state(derived).transform
    assert found is not None
    assert [str(item.dataset_ref) for item in found.inputs] == [str(workspace.dataset("root").id)]


def test_when_nothing_may_be_committed(workspace: Workspace) -> None:
    dataset = made(workspace)
    info = "kind: SetInfo\ndescription: x\n"
    with pytest.raises(OldHeadMismatch):
        commit(workspace, info, old_head=commit(workspace, info).old_head)
    dry = commit(workspace, PUSH, dry_run=True)
    assert (dry.old_head, dry.new_head, len(dry.evolution.blocks)) == (dataset.head, dataset.head, 1)
    with pytest.raises(EventRefused, match="before that of the previous block"):
        commit(workspace, PUSH, time=Timestamp.parse("1999-01-01T00:00:00Z"))
    with dataset.lock(), pytest.raises(DatasetBusy):
        commit(workspace, PUSH)
    dataset.remember(pull="https://example.org/foo")
    with pytest.raises(PulledDataset, match=r"Change its metadata there"):
        commit(workspace, PUSH)


@pytest.mark.parametrize("text", ["", "[]", "kind: [1]\n", "- kind: SetInfo\n", "x: 1\n"])
def test_texts_without_an_event(text: str) -> None:
    with pytest.raises(InvalidManifest, match=r"^x\.yaml"):
        read_events(text, "x.yaml")


def test_events_may_be_json_too() -> None:
    (one,) = read_events('{"kind": "SetInfo", "description": "x"}', "x")
    event: MetadataEvent = one.event
    assert event_to_json(event)["content"] == {"kind": "SetInfo", "description": "x"}
