"""The chain after a compaction: blocks that nothing changes, and blocks that are made anew."""

from collections.abc import Callable, Iterable
from dataclasses import replace

from odf_core.chain import Vocabulary
from odf_core.metadata import (
    AddData,
    DataSlice,
    MetadataBlock,
    SetDataSchema,
    SetVocab,
    StoredBlock,
    make_block,
)
from odf_core.workspace.compaction.plan import Run, Step

Merge = Callable[[list[DataSlice], SetDataSchema | None, Vocabulary], DataSlice]
"""Makes one slice of several, under the schema and the vocabulary in force."""


def rebuild(steps: Iterable[Step], merge: Merge) -> list[StoredBlock]:
    """The blocks of the steps, linked anew where something before them has changed, oldest first."""
    blocks: list[StoredBlock] = []
    schema: SetDataSchema | None = None
    vocabulary = Vocabulary()
    last: AddData | None = None
    for step in steps:
        newest = step.blocks[-1] if isinstance(step, Run) else step
        event = newest.block.event
        if isinstance(step, Run):
            slices = step.slices
            merged = merge(slices, schema, vocabulary) if len(slices) > 1 else None
            event = step.event(merged or next(iter(slices), None))
            if _changes_nothing(event, last):
                continue
        match event:
            case SetDataSchema():
                schema = event
            case SetVocab():
                vocabulary = Vocabulary.of(event)
            case AddData():
                last = event
        blocks.append(_linked(newest, replace(newest.block, event=event), blocks))
    return blocks


def _changes_nothing(event: AddData, last: AddData | None) -> bool:
    """Whether steps forth and back have cancelled each other (rule 24 of metadata.md 6)."""
    if event.new_data is not None:
        return False
    before = last or AddData()
    return (event.new_checkpoint, event.new_watermark, event.new_source_state) == (
        before.new_checkpoint,
        before.new_watermark,
        before.new_source_state,
    )


def _linked(old: StoredBlock, block: MetadataBlock, before: list[StoredBlock]) -> StoredBlock:
    """The block after those before it; the very same bytes where nothing is different."""
    linked = replace(block, sequence_number=len(before), prev_block_hash=before[-1].hash if before else None)
    return old if linked == old.block else make_block(linked, old.version)
