"""Snapshots and the chains that they become."""

from typing import Any

import pytest

from odf_core.identity import DatasetAlias, DatasetId
from odf_core.metadata import (
    DatasetKind,
    InvalidSnapshot,
    MissingInputs,
    Seed,
    SqlQueryStep,
    Timestamp,
    TransformInput,
    event_to_json,
    load_manifest,
    read_block,
    snapshot_blocks,
    snapshot_events,
    snapshot_from_json,
)
from odf_core.metadata.snapshot import DatasetSnapshot
from tests.metadata.sample_blocks import EVENTS

ID, ONE, TWO = (DatasetId(bytes([number]) * 32) for number in range(3))
NOW = Timestamp.parse("2026-11-21T00:00:00Z")
KNOWN = {"one": ONE, "me/Two": TWO}

DERIVATIVE = """
kind: DatasetSnapshot
version: 1
content:
  name: me/derived
  kind: derivative
  metadata:
  - kind: setTransform
    inputs:
    - datasetRef: one
    - datasetRef: me/Two
      alias: second
    transform:
      kind: sql
      engine: datafusion
      query: select * from one
  - kind: SetVocab
    eventTimeColumn: at
"""


def resolve(reference: DatasetId | DatasetAlias) -> DatasetId | None:
    return reference if isinstance(reference, DatasetId) else KNOWN.get(str(reference))


def events_of(given: DatasetSnapshot) -> Any:
    return snapshot_events(given, resolve)


def snapshot(kind: str, *events: Any) -> DatasetSnapshot:
    content = {"name": "a", "kind": kind, "metadata": list(events)}
    return snapshot_from_json({"kind": "DatasetSnapshot", "version": 1, "content": content})


def polling(preprocess: Any = None) -> dict[str, Any]:
    return {
        "kind": "SetPollingSource",
        "fetch": {"kind": "Url", "url": "https://example.com"},
        "read": {"kind": "Csv"},
        "preprocess": preprocess,
        "merge": {"kind": "Append"},
    }


def sql(**queries: Any) -> dict[str, Any]:
    return {"kind": "Sql", "engine": "spark"} | queries


@pytest.mark.parametrize("version", [2, 3])
def test_a_snapshot_becomes_a_chain(version: int) -> None:
    blocks = snapshot_blocks(snapshot_from_json(load_manifest(DERIVATIVE)), ID, NOW, resolve, version)
    assert [read_block(block.data, block.hash) for block in blocks] == blocks
    assert blocks[0].block.event == Seed(dataset_id=ID, dataset_kind=DatasetKind.DERIVATIVE)
    assert [block.block.sequence_number for block in blocks] == [0, 1, 2]
    assert [block.block.prev_block_hash for block in blocks] == [None, blocks[0].hash, blocks[1].hash]
    assert {block.block.system_time for block in blocks} == {NOW}
    assert {block.version for block in blocks} == {version}
    transform: Any = blocks[1].block.event
    assert transform.inputs == (
        TransformInput(dataset_ref=ONE, alias="one"),
        TransformInput(dataset_ref=TWO, alias="second"),
    )
    assert transform.transform.query is None
    assert transform.transform.queries == (SqlQueryStep(query="select * from one"),)


def test_an_input_without_alias_is_called_as_it_was_referred_to() -> None:
    (event,) = events_of(
        snapshot(
            "Derivative",
            {
                "kind": "SetTransform",
                "inputs": [{"datasetRef": str(ONE)}, {"datasetRef": "me/Two"}],
                "transform": sql(query="x"),
            },
        )
    )
    assert [item.alias for item in event.inputs] == [str(ONE), "me/Two"]


def test_preprocessing_is_normalised_too() -> None:
    (event,) = events_of(snapshot("Root", polling(sql(query="x", version="3"))))
    assert event_to_json(event)["content"]["preprocess"] == {
        "kind": "Sql",
        "engine": "spark",
        "version": "3",
        "queries": [{"query": "x"}],
    }
    push = {
        "kind": "AddPushSource",
        "sourceName": "default",
        "read": {"kind": "Csv"},
        "merge": {"kind": "Append"},
    }
    (event,) = events_of(snapshot("Root", push | {"preprocess": sql(query="x")}))
    assert event.preprocess.queries == (SqlQueryStep(query="x"),)
    (event,) = events_of(snapshot("Root", polling()))
    assert event.preprocess is None


@pytest.mark.parametrize(
    ("kind", "event", "why"),
    [
        ("Derivative", polling(), "needs a dataset of kind Root"),
        ("Root", polling(sql(query="x", queries=[])), "but not both"),
        ("Root", polling(sql(queries=[{"query": "a"}, {"query": "b"}])), "without an alias"),
        (
            "Root",
            {"kind": "SetTransform", "inputs": [], "transform": sql(query="x")},
            "needs a dataset of kind Derivative",
        ),
    ],
)
def test_what_cannot_become_a_chain_is_refused(kind: str, event: Any, why: str) -> None:
    with pytest.raises(InvalidSnapshot, match=why):
        snapshot_events(snapshot(kind, event), resolve)


@pytest.mark.parametrize(
    "kind", ["Seed", "AddData", "ExecuteTransform", "DisablePollingSource", "DisablePushSource"]
)
def test_events_of_a_history_have_no_place_in_a_snapshot(kind: str) -> None:
    event = next(event for event in EVENTS if type(event).__name__ == kind)
    given = DatasetSnapshot(name=DatasetAlias.parse("a"), kind=DatasetKind.ROOT, metadata=(event,))
    with pytest.raises(InvalidSnapshot, match="cannot become a dataset"):
        snapshot_events(given, resolve)


def test_missing_inputs_are_named() -> None:
    event = {
        "kind": "SetTransform",
        "inputs": [{"datasetRef": "one"}, {"datasetRef": "nobody"}, {"datasetRef": "no/body"}],
        "transform": sql(query="x"),
    }
    with pytest.raises(MissingInputs) as caught:
        snapshot_events(snapshot("Derivative", event), resolve)
    assert caught.value.objects == ("nobody", "no/body")
    assert caught.value.message == "Snapshot a reads datasets that do not exist: nobody, no/body."
