"""From a block to the columns of the index."""

from typing import Any

from odf_core.chain import new_objects
from odf_core.metadata import AddData, ExecuteTransform, StoredBlock, event_kind


def block_values(stored: StoredBlock) -> dict[str, Any]:
    """The columns of `Block` that follow from the block itself."""
    block, objects = stored.block, new_objects(stored.block)
    return {
        "hash": stored.hash.to_bytes(),
        "sequence_number": block.sequence_number,
        "prev_hash": None if block.prev_block_hash is None else block.prev_block_hash.to_bytes(),
        "event_kind": event_kind(block.event),
        "system_time": block.system_time.to_datetime(),
        "size": len(stored.data),
        "data": stored.data,
        "num_objects": len(objects),
        "num_records": _records(stored),
        "object_bytes": sum(item.size or 0 for item in objects),
    }


def _records(stored: StoredBlock) -> int:
    event = stored.block.event
    if not isinstance(event, AddData | ExecuteTransform) or event.new_data is None:
        return 0
    interval = event.new_data.offset_interval
    return interval.end - interval.start + 1
