"""Blocks that follow a head."""

from collections.abc import Sequence

from odf_core.chain.projection import Projection
from odf_core.identity import Multihash
from odf_core.metadata import MetadataBlock, MetadataEvent, StoredBlock, Timestamp, make_block


def chained(
    at: Projection, events: Sequence[MetadataEvent], system_time: Timestamp
) -> tuple[StoredBlock, ...]:
    """The events as blocks that follow the head, all of one system time."""
    blocks: list[StoredBlock] = []
    previous: Multihash | None = at.head
    number = at.sequence_number
    for event in events:
        number = 0 if number is None else number + 1
        block = make_block(
            MetadataBlock(
                system_time=system_time, prev_block_hash=previous, sequence_number=number, event=event
            )
        )
        blocks.append(block)
        previous = block.hash
    return tuple(blocks)
