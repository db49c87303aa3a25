"""Transformations that are defined: tried by their engine, pinned to it, or refused with their line."""

from dataclasses import replace
from typing import Any

import pytest

from odf_core.chain import Projection
from odf_core.engines.errors import QueryInvalid, QueryRefused
from odf_core.engines.identity import spark_identity
from odf_core.errors import OdfError
from odf_core.ingest.evolution_rules import EventRefused
from odf_core.metadata import MissingInputs, SetTransform, Timestamp, make_block
from odf_core.metadata.block import StoredBlock
from odf_core.metadata.events import MetadataBlock
from odf_core.transform.errors import (
    EngineNotInstalled,
    IncompatibleResult,
    InvalidQueryResult,
    QueryNotMigratable,
    TransformInputsChanged,
)
from tests.workspace_transforms.person import Person, csv, derivative, root, set_transform

TOTALS = "select station, max(event_time) as event_time, sum(mm) as mm from rain group by station"
WET = "select event_time, station, mm from rain where mm > 0"


@pytest.fixture
def rain(person: Person) -> Person:
    person.add(root("rain"))
    person.push("rain", csv("01,a,1", "01,b,2", "02,a,0"))
    return person


def transform_of(person: Person, name: str) -> SetTransform:
    found = Projection.of(person.blocks(name)).transform
    assert found is not None
    return found


def test_the_engine_is_pinned(rain: Person) -> None:
    (added,) = rain.add(derivative("wet", WET, "rain"))
    assert (transform_of(rain, "wet").transform.version, added.notes) == (spark_identity(), ())
    (totals,) = rain.add(derivative("totals", TOTALS, "rain"))
    assert any("nothing ever leaves its state" in note for note in totals.notes)


def test_inputs_without_a_schema_are_for_the_first_pull(person: Person) -> None:
    person.add(root("rain"))
    (added,) = person.add(derivative("wet", "select nothing from rain", "rain"))
    assert added.notes == ("rain has no schema yet, so the query is checked at the first pull",)
    assert transform_of(person, "wet").transform.version == spark_identity()
    assert not person.pull("wet").is_updated
    person.push("rain", csv("01,a,1"))
    with pytest.raises(QueryInvalid, match="nothing"):
        person.pull("wet")
    assert len(person.blocks("wet")) == 2


def test_a_derivative_of_what_is_made_in_the_same_call(rain: Person) -> None:
    wet, most = derivative("wet", WET, "rain"), "select max(mm) as most, max(event_time) as event_time from "
    rain.add(derivative("most", most + "wet", "wet"), wet)
    with pytest.raises(QueryInvalid, match=r"^manifest.yaml, line 13: .*`most`"):
        rain.add(derivative("bad", "select moss, event_time from most", "most"))
    assert rain.pull("wet").num_records == 2
    assert rain.pull("most").num_records == 1


BAD_QUERIES: dict[str, tuple[str, type[OdfError]]] = {
    "inches": ("select event_time, inches from rain", QueryInvalid),
    "no column event_time": ("select mm from rain", InvalidQueryResult),
    "event_time as int32": ("select 1 as event_time from rain", InvalidQueryResult),
    "a column offset": ("select event_time, 1 as offset from rain", InvalidQueryResult),
    "a column system_time": ("select event_time, system_time from rain", InvalidQueryResult),
    "rand": ("select event_time, rand() as r from rain", QueryRefused),
    "current_timestamp": ("select current_timestamp() as event_time from rain", QueryRefused),
    "java_method": ("select event_time, java_method('a.B', 'c', 0) as x from rain", QueryRefused),
    "parquet": ("select * from parquet.`/etc/passwd`", QueryRefused),
    "snow": ("select event_time from snow", OdfError),
}
BAD_MANIFESTS: dict[str, tuple[str, type[OdfError], str]] = {
    "rein": (derivative("bad", WET, "rein"), MissingInputs, "SetTransform"),
    "flink": (derivative("bad", WET, "rain", engine="flink"), EngineNotInstalled, "engine:"),
    "3.5": (derivative("bad", WET, "rain", version="3.5"), EngineNotInstalled, "version:"),
} | {
    word: (derivative("bad", query, "rain"), error, "query:") for word, (query, error) in BAD_QUERIES.items()
}


@pytest.mark.parametrize("word", BAD_MANIFESTS)
def test_what_is_refused_with_its_line(rain: Person, word: str) -> None:
    manifest, error, what = BAD_MANIFESTS[word]
    with pytest.raises(error) as refused:
        rain.add(derivative("good", WET, "rain"), manifest)
    line = refused.value.extras["line"]
    assert refused.value.message.startswith(f"manifest.yaml, line {line}: ")
    assert what in manifest.split("\n")[line - 1]
    assert word in refused.value.message
    assert [str(item.alias) for item in rain.workspace.datasets()] == ["rain"]


def test_a_new_query_of_a_dataset(rain: Person) -> None:
    rain.add(derivative("wet", WET, "rain"))
    rain.pull("wet")
    assert rain.commit("wet", set_transform(WET, "rain")).evolution.blocks == ()
    wetter = "select event_time, station, mm from rain where mm > 1"
    done = rain.commit("wet", set_transform(wetter, "rain"))
    assert len(done.evolution.blocks) == 1
    assert transform_of(rain, "wet").transform.version == spark_identity()
    rain.push("rain", csv("03,c,1", "03,d,5"))
    assert rain.pull("wet").num_records == 1


CHANGES: dict[str, tuple[dict[str, Any], type[OdfError], str]] = {
    "other columns": (
        set_transform("select event_time, station from rain", "rain"), IncompatibleResult, "mm",
    ),
    "another input": (set_transform("select * from snow", "snow"), TransformInputsChanged, "inputs"),
    "state": (
        set_transform(
            "select max(event_time) as event_time, station, max(mm) as mm from rain group by station", "rain"
        ),
        QueryNotMigratable, "follow",
    ),
    "itself": (set_transform("select * from wet", "wet"), EventRefused, "would read itself"),
    "its reader": (set_transform("select * from more", "more"), EventRefused, "computed from it"),
    "unknown column": (set_transform("select event_time, x from rain", "rain"), QueryInvalid, "x"),
}  # fmt: skip


@pytest.mark.parametrize("name", CHANGES)
def test_changes_that_are_refused(rain: Person, name: str) -> None:
    event, error, word = CHANGES[name]
    rain.add(root("snow"), derivative("wet", WET, "rain"))
    rain.add(derivative("more", "select event_time, mm from wet where mm > 1", "wet"))
    rain.push("snow", csv("01,a,1"))
    rain.pull("wet")
    before = rain.blocks("wet")
    with pytest.raises(error, match=r"^event.yaml, line \d+: ") as refused:
        rain.commit("wet", event)
    assert word in refused.value.message
    assert rain.blocks("wet") == before


def test_what_comes_from_elsewhere_stays_as_it_came(rain: Person) -> None:
    rain.add(derivative("wet", WET, "rain"))
    rain.pull("wet")
    theirs = _without_version(rain.blocks("wet")[:2])
    copy = rain.workspace
    rain.workspace.delete(rain.workspace.dataset("wet"))
    copy.create_from_blocks("wet", theirs)
    assert transform_of(rain, "wet").transform.version is None
    assert rain.commit("wet", set_transform(WET, "rain")).evolution.blocks == ()


def _without_version(blocks: list[StoredBlock]) -> list[StoredBlock]:
    made: list[StoredBlock] = []
    for block in blocks:
        event = block.block.event
        if isinstance(event, SetTransform):
            event = replace(event, transform=replace(event.transform, version=None))
        head = made[-1].hash if made else None
        made.append(make_block(MetadataBlock(
            system_time=Timestamp.parse("2024-01-01T00:00:00Z"), prev_block_hash=head,
            sequence_number=len(made), event=event,
        )))  # fmt: skip
    return made


def test_a_result_under_names_of_its_own(rain: Person) -> None:
    names = {"eventTimeColumn": "day", "operationTypeColumn": "change"}
    wet = "select event_time as day, station, mm from rain where mm > 0"
    with pytest.raises(InvalidQueryResult, match=r"line \d+: .*day"):
        rain.add(derivative("bad", WET, "rain", vocabulary=names))
    rain.add(derivative("wet", wet, "rain", vocabulary=names))
    most = "select max(day) as event_time, max(mm) as mm from wet"
    rain.add(derivative("most", most, "wet"))
    assert rain.pull("wet").num_records == 2
    assert rain.pull("most").num_records == 1
    rain.commit("wet", set_transform(wet.replace("mm > 0", "mm > 1"), "rain"))
    rain.push("rain", csv("04,a,1", "04,b,3"))
    assert rain.pull("wet").num_records == 1
