"""Why a block may not follow a chain, and why two chains do not meet (metadata.md 6, wire.md 3.8).

Each leaf of an append carries `variant`, the name of the deployed implementation's error, and `rule`,
the number in the table of metadata.md 6; both stand in `extras`, too.
"""

from collections.abc import Iterable
from typing import ClassVar

from odf_core.errors import ChainViolation, Conflict, IntegrityError, InternalError, OdfError
from odf_core.identity import Multihash


class BlockRefused(OdfError):
    """What every refusal of an append has: the rule, its variant, and the hash of the refused block."""

    code: ClassVar[str] = "block_refused"
    variant: ClassVar[str]

    def __init__(
        self, message: str, *, rule: int, block: Multihash | None, objects: Iterable[object] = ()
    ) -> None:
        about = () if block is None else (block,)
        super().__init__(message, objects=(*about, *objects), extras={"rule": rule, "variant": self.variant})
        self.rule = rule


class SeedOnNonEmptyChain(BlockRefused, ChainViolation):
    """A Seed that links to a previous block (rule 2)."""

    code: ClassVar[str] = "seed_on_nonempty_chain"
    variant = "AppendingSeedBlockToNonEmptyChain"


class FirstBlockMustBeSeed(BlockRefused, ChainViolation):
    """A block other than a Seed that links to none (rule 3)."""

    code: ClassVar[str] = "first_block_must_be_seed"
    variant = "FirstBlockMustBeSeed"


class SequenceBroken(BlockRefused, ChainViolation):
    """A sequence number that is not the previous one plus one (rules 4 and 16)."""

    code: ClassVar[str] = "sequence_broken"
    variant = "SequenceIntegrity"


class NoOpEvent(BlockRefused, ChainViolation):
    """An event that changes nothing (rules 5, 6, 20, 24, 34 and 35)."""

    code: ClassVar[str] = "no_op_event"
    variant = "NoOpEvent"


class OffsetsNotSequential(BlockRefused, ChainViolation):
    """A slice that does not start where the previous one ended (rule 7)."""

    code: ClassVar[str] = "offsets_not_sequential"
    variant = "OffsetsAreNotSequential"


class InvalidEvent(BlockRefused, ChainViolation):
    """An event that may not stand at this place of the chain (most other rules)."""

    code: ClassVar[str] = "invalid_event"
    variant = "InvalidEvent"


class PrevBlockNotFound(BlockRefused, ChainViolation):
    """A link to a block that the chain does not have (rule 15)."""

    code: ClassVar[str] = "prev_block_not_found"
    variant = "PrevBlockNotFound"


class SystemTimeNotMonotonic(BlockRefused, ChainViolation):
    """A system time before that of the previous block (rule 17)."""

    code: ClassVar[str] = "system_time_not_monotonic"
    variant = "SystemTimeIsNotMonotonic"


class WatermarkNotMonotonic(BlockRefused, ChainViolation):
    """A watermark that goes back or is dropped (rule 18)."""

    code: ClassVar[str] = "watermark_not_monotonic"
    variant = "WatermarkIsNotMonotonic"


class UnexpectedBlockHash(BlockRefused, IntegrityError):
    """A block that came under another hash than that of its bytes (rule 37)."""

    code: ClassVar[str] = "unexpected_block_hash"
    variant = "HashMismatch"


class HeadIsElsewhere(BlockRefused, Conflict):
    """A block that continues an earlier block of the chain instead of its head (rule 38)."""

    code: ClassVar[str] = "head_is_elsewhere"
    variant = "RefCASFailed"


class SecondSeed(BlockRefused, ChainViolation):
    """A Seed that links to no previous block, although the chain has begun (rule 38)."""

    code: ClassVar[str] = "second_seed"
    variant = "RefCASFailed"


class InvalidInterval(Conflict):
    """The chain of `head` ends in its seed without meeting `tail`."""

    code: ClassVar[str] = "invalid_interval"

    def __init__(
        self, head: Multihash | None, tail: Multihash, common_ancestor: Multihash | None = None
    ) -> None:
        super().__init__(
            f"Block {tail} is not in the chain of {head}{_meeting(common_ancestor)}; take the whole chain "
            "of one side by force, or start from a block that both have.",
            objects=(item for item in (head, tail) if item is not None),
            extras=_facts(head=head, tail=tail, common_ancestor=common_ancestor),
        )
        self.head = head
        self.tail = tail
        self.common_ancestor = common_ancestor


class Diverged(Conflict):
    """Two chains of one dataset that each have blocks which the other lacks."""

    code: ClassVar[str] = "diverged"

    def __init__(self, ours: Multihash, theirs: Multihash, common_ancestor: Multihash | None) -> None:
        super().__init__(
            f"The chains of {ours} and {theirs} have diverged{_meeting(common_ancestor)}; append the missing "
            "blocks anew to one of them, or replace the other by force.",
            objects=(ours, theirs),
            extras=_facts(ours=ours, theirs=theirs, common_ancestor=common_ancestor),
        )
        self.ours = ours
        self.theirs = theirs
        self.common_ancestor = common_ancestor


class InvalidKeyBlocks(InternalError):
    """A chain's state was to be resumed from blocks that are not the key blocks of one chain."""

    code: ClassVar[str] = "invalid_key_blocks"


def _meeting(common_ancestor: Multihash | None) -> str:
    return "" if common_ancestor is None else f" (their last common block is {common_ancestor})"


def _facts(**hashes: Multihash | None) -> dict[str, str | None]:
    return {name: None if value is None else str(value) for name, value in hashes.items()}
