"""The objects of a dataset beside its blocks: data slices and checkpoints."""

import enum
from dataclasses import dataclass

from odf_core.identity.multihash import Multihash


class ObjectKind(enum.StrEnum):
    """What an object is; the values are the words of the transfer protocol (wire.md 3.4)."""

    DATA_SLICE = "DataSlice"
    CHECKPOINT = "Checkpoint"


@dataclass(frozen=True, slots=True)
class ObjectRef:
    """An object by its physical hash; `size` in bytes, None where it is not known."""

    kind: ObjectKind
    hash: Multihash
    size: int | None

    def __str__(self) -> str:
        return f"{self.kind} {self.hash}"
