"""A person's verbs: manifests to datasets, files into them, derivatives brought up to date."""

from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import yaml

from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.engines.transforming import SparkTransforms
from odf_core.identity import DatasetId, ObjectKind, ObjectRef
from odf_core.metadata import (
    AddData,
    DataSlice,
    ExecuteTransform,
    MetadataEvent,
    StoredBlock,
    Timestamp,
    TransformSql,
    read_events,
    read_snapshots,
)
from odf_core.transform.errors import EngineNotInstalled
from odf_core.transform.port import TransformEngine
from odf_core.workspace import Workspace
from odf_core.workspace.adding import Added, add_snapshots
from odf_core.workspace.committing import Committed, commit_events
from odf_core.workspace.ingests import Ingested, Ingests
from odf_core.workspace.transforms import Transformed, Transforms

NOW = Timestamp.parse("2024-06-01T00:00:00Z")
COLUMNS = ["event_time TIMESTAMP", "station STRING", "mm DOUBLE"]
LEDGER = {"kind": "Append"}
STATE = {"kind": "Snapshot", "primaryKey": ["station"]}


def root(name: str, merge: dict[str, Any] | None = None, columns: list[str] | None = None) -> str:
    read = {"kind": "Csv", "header": True, "schema": columns or COLUMNS}
    source = {"kind": "AddPushSource", "sourceName": "default", "read": read, "merge": merge or LEDGER}
    return _manifest(name, "Root", source)


def derivative(
    name: str, query: str, *inputs: str, vocabulary: dict[str, str] | None = None, **transform: str
) -> str:
    events = [set_transform(query, *inputs, **transform)]
    if vocabulary is not None:
        events.insert(0, {"kind": "SetVocab", **vocabulary})
    return _manifest(name, "Derivative", *events)


def set_transform(query: str, *inputs: str, **transform: str) -> dict[str, Any]:
    return {
        "kind": "SetTransform",
        "inputs": [{"datasetRef": item} for item in inputs],
        "transform": {"kind": "Sql", "engine": "spark", "query": query} | transform,
    }


def _manifest(name: str, kind: str, *events: dict[str, Any]) -> str:
    content = {"name": name, "kind": kind, "metadata": list(events)}
    return yaml.safe_dump({"kind": "DatasetSnapshot", "version": 1, "content": content}, sort_keys=False)


def csv(*rows: str) -> str:
    """`day,station,mm` each."""
    return "event_time,station,mm\n" + "".join(f"2024-01-{row}\n" for row in rows)


@dataclass
class Person:
    workspace: Workspace
    engine: SparkEngine
    asked: Counter[str] = field(default_factory=Counter)
    """How often the engine was chosen."""
    _files: int = 0

    @classmethod
    def at(cls, folder: Path, engine: SparkEngine) -> "Person":
        return cls(Workspace.init(folder), engine)

    def choose(self, transform: TransformSql) -> TransformEngine:
        self.asked[transform.engine] += 1
        engine = SparkTransforms(self.engine, 120.0)
        if transform.engine != "spark" or transform.version not in (None, engine.version()):
            raise EngineNotInstalled(f"There is no engine {transform.engine} {transform.version} here.")
        return engine

    def add(self, *manifests: str, replace: bool = False) -> list[Added]:
        found = [item for text in manifests for item in read_snapshots(text, "manifest.yaml")]
        return add_snapshots(self.workspace, found, NOW, choose=self.choose, replace_existing=replace)

    def commit(self, name: str, *events: dict[str, Any], dry_run: bool = False) -> Committed:
        text = "---\n".join(yaml.safe_dump(item, sort_keys=False) for item in events)
        placed = read_events(text, "event.yaml")
        dataset = self.workspace.dataset(name)
        return commit_events(
            self.workspace, dataset, placed, Timestamp.now(), choose=self.choose, dry_run=dry_run
        )

    def push(self, name: str, text: str) -> Ingested:
        self._files += 1
        path = self.workspace.root / f"file-{self._files}"
        path.write_text(text)
        return Ingests(self.workspace, SparkMerges(self.engine, 120.0)).push(name, path)

    def pull(self, name: str | DatasetId) -> Transformed:
        return self.transforms().update(name)

    def transforms(self) -> Transforms:
        return Transforms(self.workspace, self.choose)

    def blocks(self, name: str) -> list[StoredBlock]:
        return list(self.workspace.dataset(name).folder.walk())[::-1]

    def events(self, name: str) -> list[MetadataEvent]:
        return [block.block.event for block in self.blocks(name)]

    def slices(self, name: str) -> list[DataSlice]:
        events = self.events(name)
        data = [item.new_data for item in events if isinstance(item, AddData | ExecuteTransform)]
        return [item for item in data if item is not None]

    def records(self, name: str) -> list[tuple[Any, ...]]:
        """Operation, day of the event time, and the other values."""
        folder, told = self.workspace.dataset(name).folder, []
        for item in self.slices(name):
            ref = ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size)
            for row in pq.read_table(folder.object_path(ref)).to_pylist():
                op, _, when, *values = list(row.values())[1:]
                told.append((op, when.day, *values))
        return told
