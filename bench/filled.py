"""Datasets that are filled without an ingest, by slices of a million made records; what follows of them."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.chain.following import chained
from odf_core.data import arrow_schema_to_odf, write_slice
from odf_core.identity import DatasetId
from odf_core.ingest.commit import objects_of
from odf_core.ingest.history import History
from odf_core.ingest.write import NewSlice
from odf_core.metadata import (
    AddData,
    AddPushSource,
    DatasetKind,
    MergeStrategy,
    MetadataBlock,
    MetadataEvent,
    ReadStepCsv,
    Seed,
    SetDataSchema,
    SetTransform,
    SqlQueryStep,
    Timestamp,
    TransformInput,
    TransformSql,
)
from odf_core.transform.port import TransformEngine
from odf_core.workspace import LocalDataset, Workspace

DDL = ("event_time TIMESTAMP", "station STRING", "reading DOUBLE", "counter BIGINT")
START = np.datetime64("2024-01-01T00:00:00", "ms")
SLICE_ROWS = 1_000_000
NUM_STATIONS = 97
_INSTANT = pa.timestamp("ms", "UTC")
_NOW = Timestamp.parse("2024-01-01T00:00:00Z")
SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("op", pa.int32(), nullable=False),
        pa.field("system_time", _INSTANT, nullable=False),
        pa.field("event_time", _INSTANT, nullable=False),
        pa.field("station", pa.string()),
        pa.field("reading", pa.float64()),
        pa.field("counter", pa.int64()),
    ]
)


def filled(
    workspace: Workspace, name: str, merge: MergeStrategy, records: int, *, behind: int = 0
) -> LocalDataset:
    """A dataset with a push source and so many records, one for each second of event time.

    Its watermark is `behind` the last record by so many seconds.
    """
    dataset = _begun(workspace, name, DatasetKind.ROOT)
    source = AddPushSource(source_name="default", read=ReadStepCsv(header=True, ddl_schema=DDL), merge=merge)
    append(workspace, dataset, [source, SetDataSchema(schema=arrow_schema_to_odf(SCHEMA))])
    for start in range(0, records, SLICE_ROWS):
        add_records(workspace, dataset, start, min(SLICE_ROWS, records - start), behind=behind)
    return dataset


def add_records(
    workspace: Workspace, dataset: LocalDataset, start: int, rows: int, *, behind: int = 0
) -> None:
    """One more slice: the records from number `start` on, which is their offset too."""
    written = write_slice(records_of(start, rows), workspace.root / "slice")
    last = start - 1 if start else None
    latest = Timestamp.parse(str(START + np.timedelta64(start + rows - 1 - behind, "s")) + "Z")
    event = AddData(prev_offset=last, new_data=written.data_slice, new_watermark=latest)
    append(workspace, dataset, [event], NewSlice(written, latest))


def derived(
    workspace: Workspace, name: str, source: LocalDataset, query: str, engine: TransformEngine
) -> LocalDataset:
    """A dataset without steps yet; the query knows its one input as `readings`."""
    dataset = _begun(workspace, name, DatasetKind.DERIVATIVE)
    transform = TransformSql(
        engine=engine.name, version=engine.version(), queries=(SqlQueryStep(query=query),)
    )
    given = TransformInput(dataset_ref=source.id, alias="readings")
    append(workspace, dataset, [SetTransform(inputs=(given,), transform=transform)])
    return dataset


def append(
    workspace: Workspace, dataset: LocalDataset, events: list[MetadataEvent], new: NewSlice | None = None
) -> None:
    """Blocks with these events behind the head."""
    at = History.of(list(dataset.folder.walk())[::-1]).projection
    workspace.append_blocks(dataset, chained(at, events, _NOW), objects_of(new))


def slice_files(dataset: LocalDataset) -> list[Path]:
    """The files of all slices, oldest first."""
    history = History.of(list(dataset.folder.walk())[::-1])
    return [dataset.folder.object_path(ref) for ref in history.slices]


def records_of(start: int, rows: int) -> Any:
    """Records as a table: the number is the offset, the counter and the second of the event time."""
    numbers = np.arange(start, start + rows)
    times = pa.array(START + numbers.astype("timedelta64[s]")).cast(_INSTANT)
    return pa.table(
        [
            pa.array(numbers),
            pa.array(np.zeros(rows, np.int32)),
            pa.array(np.full(rows, START)).cast(_INSTANT),
            times,
            pa.array([f"station-{number % NUM_STATIONS}" for number in numbers]),
            pa.array(numbers / 7),
            pa.array(numbers),
        ],
        schema=SCHEMA,
    )


def _begun(workspace: Workspace, name: str, kind: DatasetKind) -> LocalDataset:
    dataset_id, _ = DatasetId.generate()
    seed = Seed(dataset_id=dataset_id, dataset_kind=kind)
    return workspace.create_from_blocks(
        name, [MetadataBlock(system_time=_NOW, sequence_number=0, event=seed)]
    )
