"""What the blocks of a push say about their objects, with what the chain held at that point.

A slice is checked against its block, and a block's slice against the schema and the vocabulary in force
there; both are folded out of the chain while the blocks pass.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from app.transfer.object_urls import ObjectKey, key_of
from odf_core.chain import ChainState, Projection, Vocabulary
from odf_core.errors import LimitExceeded
from odf_core.identity import SHA3_256, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import AddData, DataSlice, ExecuteTransform, SetDataSchema, StoredBlock, read_block
from odf_core.transfer import BlocksBatch, read_batch
from odf_core.transfer.errors import UnknownHashCode

SHOWN_OBJECTS = 20


class ObjectTooLarge(LimitExceeded):
    """A block declares an object larger than the node takes."""

    code: ClassVar[str] = "object_too_large"


@dataclass(frozen=True, slots=True)
class Claim:
    """One block's word about one object; `data_slice` is None for a checkpoint."""

    ref: ObjectRef
    block: StoredBlock
    data_slice: DataSlice | None
    schema: SetDataSchema | None
    vocabulary: Vocabulary


@dataclass(frozen=True, slots=True)
class Intake:
    """The blocks of a push after every rule was applied, and what they claim."""

    blocks: tuple[StoredBlock, ...]
    claims: tuple[Claim, ...]

    @property
    def sizes(self) -> dict[ObjectKey, int]:
        """Declared bytes of each object."""
        return {key_of(claim.ref): claim.ref.size or 0 for claim in self.claims}


def read_blocks_of(batch: BlocksBatch, limits: Limits) -> tuple[StoredBlock, ...]:
    """The blocks of an archive, each hashed, compared with its name and decoded; oldest first."""
    return tuple(read_block(data, name, limits) for name, data in read_batch(batch, limits))


def take_in(known: Sequence[StoredBlock], blocks: Sequence[StoredBlock], limits: Limits) -> Intake:
    """Apply the chain's rules to `blocks`, which follow the chain that `known` key blocks stand for.

    Raises `ChainViolation` leaves, `ObjectTooLarge` and `UnknownHashCode`.
    """
    state = ChainState.resume(known)
    projection = Projection.of(known)
    claims: list[Claim] = []
    for block in blocks:
        state.append(block)
        projection.feed(block)
        claims.extend(_claims(block, projection))
    _check_declarations(claims, limits)
    return Intake(tuple(blocks), tuple(claims))


def _claims(block: StoredBlock, projection: Projection) -> Iterable[Claim]:
    event = block.block.event
    if not isinstance(event, AddData | ExecuteTransform):
        return
    if (data := event.new_data) is not None:
        ref = ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size)
        yield Claim(ref, block, data, projection.schema, projection.vocabulary)
    if (checkpoint := event.new_checkpoint) is not None:
        ref = ObjectRef(ObjectKind.CHECKPOINT, checkpoint.physical_hash, checkpoint.size)
        yield Claim(ref, block, None, projection.schema, projection.vocabulary)


def _check_declarations(claims: Iterable[Claim], limits: Limits) -> None:
    oversized = [claim.ref for claim in claims if (claim.ref.size or 0) > limits.object_bytes]
    if oversized:
        raise ObjectTooLarge(
            f"An object may have {limits.object_bytes} bytes; split the data into smaller slices.",
            objects=oversized[:SHOWN_OBJECTS],
        )
    unknown = [claim.ref for claim in claims if claim.ref.hash.code != SHA3_256]
    if unknown:
        raise UnknownHashCode(
            "Objects are named by their SHA3-256; these hashes have another code.",
            objects=unknown[:SHOWN_OBJECTS],
        )
