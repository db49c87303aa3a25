"""Watermarks by hand (data.md 3.8)."""

from dataclasses import dataclass

from odf_core.identity import Multihash
from odf_core.metadata import AddData, DatasetKind, MetadataBlock, Timestamp
from odf_core.workspace.creation import append_blocks
from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import NotOfThisKind, PulledDataset
from odf_core.workspace.reset import require_head
from odf_core.workspace.state import current_state


@dataclass(frozen=True, slots=True)
class WatermarkSet:
    """The heads and the watermarks before and after; with equal heads, the dataset was as far already."""

    old_head: Multihash
    new_head: Multihash
    old_watermark: Timestamp | None
    watermark: Timestamp | None


def set_watermark(dataset: LocalDataset, watermark: Timestamp, system_time: Timestamp) -> WatermarkSet:
    """Say that records up to `watermark` are in; nothing happens where the dataset says so already.

    The state of the source is said again: a block without it would make the next poll fetch everything
    anew. Raises `NotOfThisKind` for a derivative dataset, `PulledDataset` for one that is pulled, and
    what `append_blocks` raises.
    """
    with dataset.lock():
        head = require_head(dataset, None)
        state = current_state(dataset.folder)
        if state.seed is None or state.seed.dataset_kind is not DatasetKind.ROOT:
            raise NotOfThisKind(
                f"{dataset.alias} is derivative: its watermark follows from its inputs.", objects=[dataset.id]
            )
        if dataset.remotes.pull:
            raise PulledDataset(
                f"{dataset.alias} is pulled from {', '.join(dataset.remotes.pull)}; a block of its own would "
                "make it diverge. Set the watermark there.",
                objects=[dataset.id],
            )
        old = state.watermark
        if old is not None and watermark <= old:
            return WatermarkSet(head, head, old, old)
        last = state.last_add_data
        checkpoint = last.new_checkpoint if last is not None else None
        event = AddData(
            prev_checkpoint=checkpoint.physical_hash if checkpoint is not None else None,
            prev_offset=state.last_offset,
            new_checkpoint=checkpoint,
            new_watermark=watermark,
            new_source_state=last.new_source_state if last is not None else None,
        )
        block = MetadataBlock(
            system_time=system_time,
            prev_block_hash=head,
            sequence_number=(state.sequence_number or 0) + 1,
            event=event,
        )
        new_head = append_blocks(dataset.folder, [block], None)
    return WatermarkSet(head, new_head, old, watermark)
