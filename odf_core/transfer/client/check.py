"""A chain checked from its head to its seed and back: hashes and links, then every rule."""

from dataclasses import dataclass

from odf_core.chain import ChainState, iter_back
from odf_core.errors import OdfError, Unavailable
from odf_core.identity import Multihash
from odf_core.metadata import Seed, StoredBlock
from odf_core.transfer.client.source import DatasetSource


@dataclass(frozen=True, slots=True)
class ChainReport:
    """What was found: blocks that are right, counted from the seed, and the first problem, if any."""

    head: Multihash
    num_blocks: int
    seed: Seed | None
    problem: OdfError | None


def check_chain(source: DatasetSource) -> ChainReport:
    """Check the chain of `source`. Problems of the chain are told in the report.

    Raises only what keeps the check from being made: `RemoteDatasetNotFound`, `RemoteUnavailable`.
    """
    head = source.head()
    blocks: list[StoredBlock] = []
    state = ChainState(remember_hashes=False)
    problem: OdfError | None = None
    try:
        blocks.extend(iter_back(source.read_block, head))
        for block in reversed(blocks):
            state.append(block)
    except Unavailable:
        raise
    except OdfError as error:
        problem = error
    count = 0 if state.sequence_number is None else state.sequence_number + 1
    return ChainReport(head, count, state.seed, problem)
