"""Snapshots as chains that the rules admit: what `odf add` and a node make of a manifest."""

from odf_core.chain.errors import BlockRefused
from odf_core.chain.state import ChainState
from odf_core.identity import DatasetId
from odf_core.metadata import InvalidSnapshot, PlacedSnapshot, StoredBlock, Timestamp, snapshot_blocks
from odf_core.metadata.snapshot import ResolveInput


def snapshot_chain(
    placed: PlacedSnapshot, dataset_id: DatasetId, system_time: Timestamp, resolve: ResolveInput
) -> list[StoredBlock]:
    """The blocks of a snapshot, the Seed first, held against the rules of chains.

    Raises `InvalidSnapshot` and `MissingInputs`, told with the manifest's source and the event's line.
    """
    place, state = placed.place, ChainState(remember_hashes=False)
    with place.telling():
        blocks = snapshot_blocks(placed.snapshot, dataset_id, system_time, resolve)
    for number, block in enumerate(blocks):
        try:
            state.append(block)
        except BlockRefused as error:
            refused = InvalidSnapshot(
                f"The snapshot cannot become a dataset: {error.message}",
                objects=error.objects,
                extras=error.extras,
            )
            raise place.told(refused, ("content", "metadata", number - 1)) from error
    return blocks
