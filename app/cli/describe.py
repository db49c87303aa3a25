"""What the command line says about a dataset and its blocks."""

from typing import Any, ClassVar

from odf_core.chain import Projection
from odf_core.errors import NotFound
from odf_core.metadata import AddData, ExecuteTransform, Seed, StoredBlock, event_kind, event_to_json
from odf_core.transfer.client import DatasetFolder
from odf_core.transfer.client.keyblocks import resume_chain
from odf_core.workspace import LocalDataset


class BlockNotFound(NotFound):
    """The chain has no block of this hash or number."""

    code: ClassVar[str] = "no_such_block"


def summary(dataset: LocalDataset) -> dict[str, Any]:
    """One row of `odf list`."""
    state, _ = resume_chain(dataset.folder, dataset.head)
    head, seed = state.head_block, state.seed
    return {
        "name": str(dataset.alias),
        "kind": _kind(seed),
        "blocks": head.block.sequence_number + 1 if head is not None else 0,
        "records": _records(dataset.folder),
        "updated": str(head.block.system_time) if head is not None else None,
        "head": str(dataset.head),
        "id": str(dataset.id),
    }


def log_entry(block: StoredBlock) -> dict[str, Any]:
    """One row of `odf log`."""
    event = block.block.event
    return {
        "number": block.block.sequence_number,
        "hash": str(block.hash),
        "time": str(block.block.system_time),
        "kind": event_kind(event),
        "summary": _event_summary(event),
    }


def describe(dataset: LocalDataset) -> dict[str, Any]:
    """What `odf show` shows: names, numbers, and the events that hold now, in the form of manifests."""
    blocks = list(dataset.folder.walk())
    now = Projection.of(reversed(blocks))
    remotes = dataset.remotes
    facts: dict[str, Any] = {
        "name": str(dataset.alias),
        "id": str(dataset.id),
        "kind": _kind(now.seed),
        "head": str(now.head),
        "numBlocks": len(blocks),
        "numRecords": now.num_records,
        "updated": str(now.system_time) if now.system_time is not None else None,
        "watermark": str(now.watermark) if now.watermark is not None else None,
        "pullAliases": list(remotes.pull),
        "pushAliases": list(remotes.push),
    }
    events = {
        "info": now.info,
        "license": now.license,
        "schema": now.schema,
        "attachments": now.attachments,
        "pollingSource": now.polling_source,
        "transform": now.transform,
    }
    shown = {name: _content(event) for name, event in events.items() if event is not None}
    sources = [_content(event) for event in now.push_sources.values()]
    return facts | shown | ({"pushSources": sources} if sources else {})


def find_block(folder: DatasetFolder, text: str) -> StoredBlock:
    """The block of this sequence number, hash, or end of a hash. Raises `BlockNotFound`."""
    for block in folder.walk():
        if text in (str(block.hash), str(block.block.sequence_number)):
            return block
        if len(text) >= 6 and str(block.hash).endswith(text.lower()):
            return block
    raise BlockNotFound(f"The chain has no block {text}.", objects=[text])


def _content(event: Any) -> Any:
    content = event_to_json(event)["content"]
    return {name: value for name, value in content.items() if name != "kind"}


def _kind(seed: Seed | None) -> str | None:
    return seed.dataset_kind.name.capitalize() if seed is not None else None


def _records(folder: DatasetFolder) -> int:
    """Records so far: offsets count them all (corrections included), so the newest data block knows."""
    for block in folder.walk():
        event = block.block.event
        if isinstance(event, AddData | ExecuteTransform):
            last = event.prev_offset if event.new_data is None else event.new_data.offset_interval.end
            return 0 if last is None else last + 1
    return 0


def _event_summary(event: Any) -> str:
    if isinstance(event, Seed):
        return f"{_kind(event)} {event.dataset_id}"
    if isinstance(event, AddData | ExecuteTransform):
        if event.new_data is None:
            return "no records"
        interval = event.new_data.offset_interval
        return f"records {interval.start} to {interval.end}, {event.new_data.size} bytes"
    return ""
