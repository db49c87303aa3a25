"""Which events follow from an ingest (data.md 3.7, 3.8), and the blocks that carry them."""

from dataclasses import dataclass, field
from pathlib import Path

from odf_core.chain import Projection
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.ingest.write import NewSlice
from odf_core.metadata import (
    AddData,
    DataSchema,
    ExtraAttributes,
    MetadataEvent,
    SetDataSchema,
    SourceState,
    StoredBlock,
)


@dataclass(frozen=True, slots=True)
class IngestCommit:
    """Blocks to append, oldest first, and the files of the objects that they declare."""

    blocks: tuple[StoredBlock, ...]
    objects: dict[ObjectRef, Path] = field(default_factory=dict)
    num_records: int = 0


def data_events(
    at: Projection,
    *,
    schema: DataSchema | None,
    new: NewSlice | None,
    source_state: SourceState | None,
    extra: ExtraAttributes | None = None,
) -> tuple[MetadataEvent, ...]:
    """The events of one ingest: none where it changes nothing.

    `schema` is that of the input, None where the input had no columns either; the first one is declared
    ahead of the data. `extra` is said of the new slice. A source state is said again with each block, or it
    would be forgotten.
    """
    events: list[MetadataEvent] = []
    if at.schema is None and schema is not None:
        events.append(SetDataSchema(schema=schema))
    last_state = at.last_add_data.new_source_state if at.last_add_data is not None else None
    if new is None and (source_state is None or source_state == last_state):
        return tuple(events)
    watermark = at.watermark
    if new is not None and (watermark is None or new.latest_event_time > watermark):
        watermark = new.latest_event_time
    events.append(
        AddData(
            prev_checkpoint=at.last_checkpoint.physical_hash if at.last_checkpoint is not None else None,
            prev_offset=at.last_offset,
            new_data=new.written.data_slice if new is not None else None,
            new_watermark=watermark,
            new_source_state=source_state,
            extra=extra,
        )
    )
    return tuple(events)


def objects_of(new: NewSlice | None) -> dict[ObjectRef, Path]:
    """The file of a new slice by the object that its block declares."""
    if new is None:
        return {}
    data = new.written.data_slice
    return {ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size): new.written.path}
