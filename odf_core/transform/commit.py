"""The blocks that follow from a step (data.md 4.2)."""

from dataclasses import dataclass, field
from pathlib import Path

from odf_core.chain import Projection
from odf_core.chain.following import chained
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import ExecuteTransform, MetadataEvent, SetDataSchema, StoredBlock, Timestamp
from odf_core.transform.execute import Executed


@dataclass(frozen=True, slots=True)
class TransformCommit:
    """Blocks to append, oldest first, and the files of the objects that they declare."""

    blocks: tuple[StoredBlock, ...]
    objects: dict[ObjectRef, Path] = field(default_factory=dict)
    num_records: int = 0


def recorded_event(executed: Executed) -> ExecuteTransform:
    """The event that records the step, whether it says anything new or not."""
    before, data = executed.step.before, executed.data
    return ExecuteTransform(
        query_inputs=tuple(item.taken for item in executed.step.inputs),
        prev_checkpoint=before.last_checkpoint.physical_hash if before.last_checkpoint is not None else None,
        prev_offset=before.last_offset,
        new_data=data.data_slice if data is not None else None,
        new_checkpoint=executed.checkpoint,
        new_watermark=executed.done.new_watermark or before.watermark,
    )


def commit_of(executed: Executed, system_time: Timestamp) -> TransformCommit | None:
    """The blocks of the step, None where it changes nothing.

    A watermark never goes back: one of the engine that is earlier than the dataset's is refused when the
    block is appended (`WatermarkNotMonotonic`).
    """
    before = executed.step.before
    events: list[MetadataEvent] = []
    if before.schema is None and executed.schema is not None:
        events.append(SetDataSchema(schema=executed.schema))
    event = recorded_event(executed)
    if _says_something(event, before):
        events.append(event)
    if not events:
        return None
    objects: dict[ObjectRef, Path] = {}
    data, checkpoint = executed.data, executed.checkpoint
    if data is not None:
        slice_ = data.data_slice
        objects[ObjectRef(ObjectKind.DATA_SLICE, slice_.physical_hash, slice_.size)] = data.path
    if checkpoint is not None:
        ref = ObjectRef(ObjectKind.CHECKPOINT, checkpoint.physical_hash, checkpoint.size)
        objects[ref] = executed.checkpoint_path
    return TransformCommit(
        chained(before, events, system_time), objects, data.num_rows if data is not None else 0
    )


def _says_something(event: ExecuteTransform, before: Projection) -> bool:
    """An event of a step that read no data and moved nothing is left out; so is one that would be empty."""
    if event.new_data is not None or event.new_watermark != before.watermark:
        return True
    if event.new_checkpoint != before.last_checkpoint:
        return True
    is_empty = event.new_checkpoint is None and event.new_watermark is None
    return not is_empty and any(item.new_block_hash is not None for item in event.query_inputs)
