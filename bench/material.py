"""Datasets to move: the same bytes in every run (fixed seeds), made with the library."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from odf_core.data import write_slice
from odf_core.identity import DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.metadata import (
    AddData,
    DataField,
    DataSchema,
    DatasetKind,
    DataSlice,
    DataTypeFloat64,
    DataTypeInt32,
    DataTypeInt64,
    DataTypeString,
    DataTypeTimestamp,
    MetadataBlock,
    MetadataEvent,
    Seed,
    SetDataSchema,
    SourceState,
    StoredBlock,
    Timestamp,
    make_block,
)
from odf_core.transfer.client import DatasetFolder

_START = datetime(2024, 1, 1, tzinfo=UTC)
_ROWS = 32_000  # make files of a MiB: see `_records`
_MILLISECONDS = pa.timestamp("ms", "UTC")
_ARROW_SCHEMA = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("op", pa.int32(), nullable=False),
        pa.field("system_time", _MILLISECONDS, nullable=False),
        pa.field("event_time", _MILLISECONDS, nullable=False),
        pa.field("station", pa.string(), nullable=False),
        pa.field("reading", pa.float64(), nullable=False),
        pa.field("counter", pa.int64(), nullable=False),
    ]
)
_ODF_SCHEMA = DataSchema(
    fields=(
        DataField(name="offset", type=DataTypeInt64()),
        DataField(name="op", type=DataTypeInt32()),
        DataField(name="system_time", type=DataTypeTimestamp()),
        DataField(name="event_time", type=DataTypeTimestamp()),
        DataField(name="station", type=DataTypeString()),
        DataField(name="reading", type=DataTypeFloat64()),
        DataField(name="counter", type=DataTypeInt64()),
    )
)


@dataclass(frozen=True, slots=True)
class Material:
    """A local dataset that can be pushed."""

    folder: DatasetFolder
    dataset_id: DatasetId
    blocks: tuple[StoredBlock, ...]
    objects: tuple[ObjectRef, ...]

    @property
    def object_bytes(self) -> int:
        return sum(ref.size or 0 for ref in self.objects)

    @property
    def block_bytes(self) -> int:
        return sum(len(block.data) for block in self.blocks)


def make_slices(folder: Path, count: int) -> list[DataSlice]:
    """Parquet files of about a MiB each in `folder`, named by their hashes; what a block says of them."""
    folder.mkdir(parents=True, exist_ok=True)
    made = []
    for number in range(count):
        written = write_slice(_records(number), folder / f"{number}.pending")
        written.path.rename(folder / str(written.data_slice.physical_hash))
        made.append(written.data_slice)
    return made


def _records(number: int) -> Any:
    """Readings of stations: sequential offsets and times, noise that does not compress."""
    random = np.random.default_rng(number)
    first, begin = number * _ROWS, int(_START.timestamp() * 1000)
    offsets = np.arange(first, first + _ROWS, dtype=np.int64)
    columns = [
        pa.array(offsets),
        pa.array(np.zeros(_ROWS, np.int32)),
        pa.array(np.full(_ROWS, begin + number * 1000), _MILLISECONDS),
        pa.array(begin + offsets * 250, _MILLISECONDS),
        pa.array([f"station-{item:02}" for item in range(64)]).take(pa.array(random.integers(0, 64, _ROWS))),
        pa.array(random.normal(size=_ROWS)),
        pa.array(random.integers(0, 1 << 40, _ROWS)),
    ]
    return pa.Table.from_arrays(columns, schema=_ARROW_SCHEMA)


def sliced_dataset(target: Path, name: str, slices: list[DataSlice], files: Path) -> Material:
    """A dataset at `target` with a block for each slice; its files are links to those in `files`."""
    events: list[MetadataEvent] = [SetDataSchema(schema=_ODF_SCHEMA)]
    last: int | None = None
    for item in slices:
        events.append(AddData(prev_offset=last, new_data=item))
        last = item.offset_interval.end
    return _dataset(target, name, events, files)


def long_dataset(target: Path, name: str, num_blocks: int) -> Material:
    """A dataset of `num_blocks` blocks without objects: a source that was polled and had nothing new."""
    random = np.random.default_rng(num_blocks)
    events: list[MetadataEvent] = [SetDataSchema(schema=_ODF_SCHEMA)]
    for number in range(num_blocks - 2):
        state = SourceState(source_name="default", kind="odf/etag", value=random.bytes(16).hex())
        watermark = Timestamp.from_datetime(_START + timedelta(minutes=number))
        events.append(AddData(new_watermark=watermark, new_source_state=state))
    return _dataset(target, name, events, None)


def _dataset(target: Path, name: str, events: list[MetadataEvent], files: Path | None) -> Material:
    dataset_id = DatasetId.from_name_seed(name)
    blocks = tuple(_chain([Seed(dataset_id=dataset_id, dataset_kind=DatasetKind.ROOT), *events]))
    folder = DatasetFolder(target)
    folder.create()
    objects = []
    for event in events:
        if isinstance(event, AddData) and event.new_data is not None and files is not None:
            data = event.new_data
            ref = ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size)
            folder.object_path(ref).hardlink_to(files / str(data.physical_hash))
            objects.append(ref)
    folder.write_blocks((block.hash, block.data) for block in blocks)
    folder.move_head(blocks[-1].hash, expected=None)
    return Material(folder, dataset_id, blocks, tuple(objects))


def _chain(events: list[MetadataEvent]) -> Iterator[StoredBlock]:
    prev: Multihash | None = None
    for number, event in enumerate(events):
        block = make_block(
            MetadataBlock(
                system_time=Timestamp.from_datetime(_START + timedelta(seconds=number)),
                prev_block_hash=prev,
                sequence_number=number,
                event=event,
            )
        )
        prev = block.hash
        yield block
