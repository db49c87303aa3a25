"""Datasets with sources, and rounds of ingest into them."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from odf_core.chain.following import chained
from odf_core.data import arrow_schema_to_odf, ddl_schema_to_arrow
from odf_core.identity import DatasetId
from odf_core.ingest.fetch import FetchPolicy
from odf_core.ingest.history import History
from odf_core.ingest.merge_job import MergeEngine
from odf_core.metadata import (
    AddData,
    AddPushSource,
    DatasetKind,
    MergeStrategy,
    MetadataBlock,
    MetadataEvent,
    ReadStep,
    Seed,
    SetDataSchema,
    SetVocab,
    Timestamp,
    Transform,
)
from odf_core.workspace import LocalDataset, Workspace
from odf_core.workspace.ingests import Ingested, Ingests

NOW = "2050-01-01T12:00:00Z"


@dataclass
class Maker:
    """Makes datasets called `foo` and ingests into them at a time of the test's choosing."""

    workspace: Workspace
    engine: MergeEngine
    folder: Path
    now: str = NOW
    dataset: LocalDataset = field(init=False)
    _files: int = 0

    def make(self, *events: MetadataEvent, event_time: str | None = None) -> LocalDataset:
        dataset_id, _ = DatasetId.generate()
        vocab = [SetVocab(event_time_column=event_time)] if event_time is not None else []
        blocks = [self._seed(dataset_id)]
        self.dataset = self.workspace.create_from_blocks("foo", blocks)
        self.commit(*vocab, *events)
        return self.dataset

    def with_push(
        self,
        read: ReadStep,
        merge: MergeStrategy,
        preprocess: Transform | None = None,
        event_time: str | None = None,
    ) -> LocalDataset:
        source = AddPushSource(source_name="default", read=read, merge=merge, preprocess=preprocess)
        return self.make(source, event_time=event_time)

    def source(self, read: ReadStep, merge: MergeStrategy) -> None:
        """The push source from now on."""
        event = AddPushSource(source_name="default", read=read, merge=merge)
        if self.history().projection.push_sources.get("default") != event:
            self.commit(event)

    def commit(self, *events: MetadataEvent) -> None:
        history = self.history()
        if events:
            blocks = chained(history.projection, events, Timestamp.parse(self.now))
            self.workspace.append_blocks(self.dataset, blocks)

    def declare(self, ddl: list[str]) -> None:
        """SetDataSchema of the system columns and these."""
        instant = pa.timestamp("ms", "UTC")
        fields = ddl_schema_to_arrow(ddl)
        rest = [item for item in fields if item.name != "event_time"]
        times = [item for item in fields if item.name == "event_time"] or [pa.field("event_time", instant)]
        system = [
            pa.field("offset", pa.int64(), nullable=False),
            pa.field("op", pa.int32(), nullable=False),
            pa.field("system_time", instant, nullable=False),
            pa.field("event_time", times[0].type, nullable=False),
        ]
        self.commit(SetDataSchema(schema=arrow_schema_to_odf(pa.schema(system + rest))))

    def push(
        self, data: str | bytes, *, event_time: str | None = None, media_type: str | None = None
    ) -> Ingested:
        self._files += 1
        path = self.folder / f"input-{self._files}"
        path.write_bytes(data.encode() if isinstance(data, str) else data)
        moment = Timestamp.parse(event_time) if event_time is not None else None
        return self.ingests().push("foo", path, event_time=moment, media_type=media_type)

    def poll(self, **options: Any) -> Ingested:
        return self.ingests().poll("foo", **options)

    def ingests(self) -> Ingests:
        return Ingests(
            self.workspace, self.engine, now=lambda: Timestamp.parse(self.now), policy=FetchPolicy.person()
        )

    def history(self) -> History:
        return History.of(list(self.dataset.folder.walk())[::-1])

    def last(self) -> AddData:
        event = self.history().projection.last_add_data
        assert event is not None
        return event

    def rows(self) -> list[dict[str, Any]]:
        """The rows of the newest slice."""
        return self.table().to_pylist()

    def table(self, number: int = -1) -> Any:
        return pq.read_table(self.dataset.folder.object_path(self.history().slices[number]))

    def _seed(self, dataset_id: DatasetId) -> MetadataBlock:
        return MetadataBlock(
            system_time=Timestamp.parse(self.now),
            sequence_number=0,
            event=Seed(dataset_id=dataset_id, dataset_kind=DatasetKind.ROOT),
        )


def texts(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    """Rows as the golden files have them: every cell a text, null the empty one."""
    return [{name: _text(value) for name, value in row.items()} for row in rows]


def _text(value: Any) -> str:
    if value is None:
        return ""
    if hasattr(value, "tzinfo"):
        return str(Timestamp.from_datetime(value))
    return str(value)
