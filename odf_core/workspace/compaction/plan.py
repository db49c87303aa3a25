"""Which blocks become one: runs of AddData within the bounds of a slice. No file is looked at."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from odf_core.ingest.links import LINKED_OBJECTS
from odf_core.metadata import AddData, DataSlice, ExecuteTransform, ExtraAttributes, StoredBlock
from odf_core.workspace.compaction.options import CompactionOptions


@dataclass(frozen=True, slots=True)
class Run:
    """Consecutive AddData blocks, oldest first, that become one."""

    blocks: tuple[StoredBlock, ...]

    @property
    def events(self) -> list[AddData]:
        return [item.block.event for item in self.blocks if isinstance(item.block.event, AddData)]

    @property
    def slices(self) -> list[DataSlice]:
        return [event.new_data for event in self.events if event.new_data is not None]

    def event(self, data_slice: DataSlice | None) -> AddData:
        """What the block says that takes the place of the run: it begins where the oldest began, and
        leaves things as the newest left them."""
        events = self.events
        first, last = events[0], events[-1]
        return AddData(
            prev_checkpoint=first.prev_checkpoint,
            prev_offset=first.prev_offset,
            new_data=data_slice,
            new_checkpoint=last.new_checkpoint,
            new_watermark=last.new_watermark,
            new_source_state=last.new_source_state,
            extra=merged_extra(event.extra for event in events),
        )


Step: TypeAlias = StoredBlock | Run
"""A block as it is, or several that become one."""


def plan(blocks: Iterable[StoredBlock], options: CompactionOptions) -> list[Step]:
    """The steps from the oldest block to the newest; runs of one block are that block."""
    steps: list[Step] = []
    held: list[StoredBlock] = []

    def close() -> None:
        steps.extend(held if len(held) == 1 else [Run(tuple(held))] if held else [])
        held.clear()

    for block in blocks:
        event = block.block.event
        if isinstance(event, AddData | ExecuteTransform) and options.keep_metadata_only:
            continue
        if not isinstance(event, AddData):
            close()
            steps.append(block)
            continue
        if not _fits(Run((*held, block)), options):
            close()
        held.append(block)
    close()
    return steps


def _fits(run: Run, options: CompactionOptions) -> bool:
    slices = run.slices
    if len(slices) < 2 or run.events[-1].new_data is None:
        return True
    records = sum(item.offset_interval.end - item.offset_interval.start + 1 for item in slices)
    size = sum(item.size for item in slices)
    return records <= options.max_slice_records and size <= options.max_slice_size


def merged_extra(extras: Iterable[ExtraAttributes | None]) -> ExtraAttributes | None:
    """The attributes of all, the newest counting; of linked objects, number and size together."""
    merged: dict[str, object] = {}
    linked: dict[str, int] = {}
    for extra in extras:
        found = extra.to_object() if extra is not None else {}
        merged |= found
        counts = found.get(LINKED_OBJECTS)
        for name, count in counts.items() if isinstance(counts, dict) else ():
            if isinstance(count, int):
                linked[name] = linked.get(name, 0) + count
    if linked:
        merged[LINKED_OBJECTS] = linked
    return ExtraAttributes.from_object(merged) if merged else None
