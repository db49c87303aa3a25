"""What a transfer came to, as values."""

from dataclasses import dataclass

from odf_core.identity import Multihash


@dataclass(frozen=True, slots=True)
class TransferStats:
    """What a transfer moved: objects and bytes over the wire, objects that were there already."""

    objects_moved: int = 0
    objects_present: int = 0
    bytes_moved: int = 0

    def __add__(self, other: "TransferStats") -> "TransferStats":
        return TransferStats(
            self.objects_moved + other.objects_moved,
            self.objects_present + other.objects_present,
            self.bytes_moved + other.bytes_moved,
        )


@dataclass(frozen=True, slots=True)
class UpToDate:
    """Both sides had the same head; nothing was moved."""

    head: Multihash


@dataclass(frozen=True, slots=True)
class Updated:
    """The receiving side went from `old_head` (None: it had none) to `new_head` by `num_blocks` blocks."""

    old_head: Multihash | None
    new_head: Multihash
    num_blocks: int
    stats: TransferStats = TransferStats()


TransferResult = UpToDate | Updated
