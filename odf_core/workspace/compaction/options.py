"""What a compaction is asked for, and what comes of it."""

from dataclasses import dataclass

from odf_core.identity import Multihash
from odf_core.workspace.dataset import LocalDataset


@dataclass(frozen=True, slots=True, kw_only=True)
class CompactionOptions:
    """Bounds of a slice that is made of several, by the sizes of their files in bytes and by records.

    `keep_metadata_only` drops all records and queries instead. `keep_old_files` leaves the blocks and
    files on the disk that only the old chain named.
    """

    max_slice_size: int = 300_000_000
    max_slice_records: int = 10_000
    keep_metadata_only: bool = False
    keep_old_files: bool = False

    def __post_init__(self) -> None:
        if self.max_slice_size <= 0 or self.max_slice_records <= 0:
            raise ValueError("the bounds of a slice have to be positive")


@dataclass(frozen=True, slots=True)
class CompactionResult:
    """The heads (equal: there was nothing to do), and how many blocks and slices there were and are.

    `broken` have read blocks that are no more: they have to be reset and computed anew.
    """

    old_head: Multihash
    new_head: Multihash
    old_blocks: int
    new_blocks: int
    old_slices: int
    new_slices: int
    broken: tuple[LocalDataset, ...] = ()
