"""The admission of blocks: what may follow what (metadata.md 6), as a state machine without I/O."""

from collections.abc import Iterable

from odf_core.chain.data_rules import check_data_event
from odf_core.chain.errors import (
    FirstBlockMustBeSeed,
    HeadIsElsewhere,
    InvalidKeyBlocks,
    PrevBlockNotFound,
    SecondSeed,
    SeedOnNonEmptyChain,
    SequenceBroken,
    SystemTimeNotMonotonic,
    UnexpectedBlockHash,
)
from odf_core.chain.event_rules import check_event
from odf_core.chain.facts import ChainFacts
from odf_core.chain.schema_rules import check_schema_event
from odf_core.chain.source_rules import check_source_event
from odf_core.identity import Multihash
from odf_core.metadata import AddData, ExecuteTransform, Seed, SetDataSchema, StoredBlock

KEY_EVENT_KINDS: frozenset[str] = frozenset(
    {
        "Seed",
        "SetDataSchema",
        "SetTransform",
        "SetPollingSource",
        "AddPushSource",
        "DisablePollingSource",
        "DisablePushSource",
        "SetVocab",
        "SetInfo",
        "SetLicense",
        "SetAttachments",
    }
)
"""Kinds of events of which every block is a key block: all but AddData and ExecuteTransform."""


class ChainState:
    """Takes the blocks of one chain, oldest first, and refuses the first that breaks a rule.

    Kept are the head and a few key events, and, with `remember_hashes`, the digest of every block
    (about 200 bytes each): only with these can a block that continues an earlier block than the head
    (`HeadIsElsewhere`) be told from one that continues no block of the chain (`PrevBlockNotFound`).

    Not checked, as by the deployed implementation: the dataset's kind against the kind of event, the
    `prevOffset` of the first data block, and an identical repeat of SetVocab, SetInfo, SetLicense or
    SetAttachments.
    """

    __slots__ = ("_facts", "_sequence_numbers", "head_block")

    def __init__(self, *, remember_hashes: bool = True) -> None:
        self.head_block: StoredBlock | None = None
        self._facts = ChainFacts()
        self._sequence_numbers: dict[bytes, int] | None = {} if remember_hashes else None

    @classmethod
    def resume(cls, key_blocks: Iterable[StoredBlock], *, remember_hashes: bool = True) -> "ChainState":
        """The state after a chain that has been checked before, from a few of its blocks.

        Needed, oldest first, are every block of a kind in `KEY_EVENT_KINDS`, the last AddData, the last
        ExecuteTransform, and the head; more do no harm, none gives the state of an empty chain. Only
        the hashes of these blocks are remembered. Raises `InvalidKeyBlocks` for what can be no chain.
        """
        state = cls(remember_hashes=remember_hashes)
        for block in key_blocks:
            head = state.head_block
            if head is None and not isinstance(block.block.event, Seed):
                raise InvalidKeyBlocks(
                    f"Key blocks have to begin with the Seed, not with {block.hash}.", objects=(block.hash,)
                )
            if head is not None and block.block.sequence_number <= head.block.sequence_number:
                raise InvalidKeyBlocks(
                    f"Key blocks have to come oldest first, but {block.hash} follows {head.hash}.",
                    objects=(block.hash, head.hash),
                )
            state._admit(block)
        return state

    @property
    def head(self) -> Multihash | None:
        """Hash of the last block, None for an empty chain."""
        return None if self.head_block is None else self.head_block.hash

    @property
    def sequence_number(self) -> int | None:
        """Sequence number of the last block, None for an empty chain."""
        return None if self.head_block is None else self.head_block.block.sequence_number

    @property
    def seed(self) -> Seed | None:
        """The chain's Seed, None for an empty chain."""
        return self._facts.seed

    def append(self, block: StoredBlock, *, expected_hash: Multihash | None = None) -> None:
        """Makes the block the head, or raises the refusal of the first rule that it breaks.

        The rules are evaluated in the order of the table. Refusals are `BlockRefused`: of the family
        ChainViolation but for `UnexpectedBlockHash` and `HeadIsElsewhere`. The state is then unchanged.
        """
        self._check_place(block)
        check_event(block.block.event, block.hash)
        if block.block.prev_block_hash is not None:
            self._check_link(block)
            self._check_history(block)
        if expected_hash is not None and expected_hash != block.hash:
            raise UnexpectedBlockHash(
                f"A block came as {expected_hash}, but its bytes have the hash {block.hash}.",
                rule=37,
                block=block.hash,
                objects=(expected_hash,),
            )
        if block.block.prev_block_hash is None and self.head_block is not None:
            raise SecondSeed(
                f"Block {block.hash} is a Seed, but the chain has one already; its head is {self.head}.",
                rule=38,
                block=block.hash,
                objects=(self.head,),
            )
        self._admit(block)

    def _check_place(self, block: StoredBlock) -> None:
        """Rules 2 to 4."""
        is_seed = isinstance(block.block.event, Seed)
        if block.block.prev_block_hash is not None:
            if is_seed:
                raise SeedOnNonEmptyChain(
                    f"Block {block.hash} is a Seed, but links to block {block.block.prev_block_hash}; "
                    "a chain has one Seed, its first block.",
                    rule=2,
                    block=block.hash,
                    objects=(block.block.prev_block_hash,),
                )
            return
        if not is_seed:
            raise FirstBlockMustBeSeed(
                f"Block {block.hash} links to no previous block, but is no Seed.", rule=3, block=block.hash
            )
        if block.block.sequence_number != 0:
            raise SequenceBroken(
                f"Block {block.hash} starts a chain, so its sequence number is 0, not "
                f"{block.block.sequence_number}.",
                rule=4,
                block=block.hash,
            )

    def _check_link(self, block: StoredBlock) -> None:
        """Rules 15 and 16, and 38 for a block whose previous one is not the head."""
        head = self.head_block
        prev = block.block.prev_block_hash
        if head is not None and prev == head.hash:
            number: int | None = head.block.sequence_number
        else:
            number = None if prev is None else (self._sequence_numbers or {}).get(prev.digest)
        if number is None:
            raise PrevBlockNotFound(
                f"Block {block.hash} links to {prev}, which the chain with head {self.head} does not have.",
                rule=15,
                block=block.hash,
                objects=(item for item in (prev, self.head) if item is not None),
            )
        if block.block.sequence_number != number + 1:
            raise SequenceBroken(
                f"Block {prev} with sequence number {number} cannot be followed by block {block.hash} with "
                f"sequence number {block.block.sequence_number}.",
                rule=16,
                block=block.hash,
                objects=(prev,),
            )
        if prev != self.head:
            raise HeadIsElsewhere(
                f"Block {block.hash} continues block {prev}, but the head is {self.head} by now.",
                rule=38,
                block=block.hash,
                objects=(prev, self.head),
            )

    def _check_history(self, block: StoredBlock) -> None:
        """Rules 17 to 36, and 1."""
        head = self.head_block
        if head is not None and block.block.system_time < head.block.system_time:
            raise SystemTimeNotMonotonic(
                f"Block {block.hash} has system time {block.block.system_time}, before that of the previous "
                f"block {head.hash}, {head.block.system_time}.",
                rule=17,
                block=block.hash,
                objects=(head.hash,),
            )
        event = block.block.event
        if isinstance(event, AddData | ExecuteTransform):
            check_data_event(event, self._facts, block.hash)
        elif isinstance(event, SetDataSchema):
            check_schema_event(event, self._facts.schema, block.hash)
        else:
            check_source_event(event, self._facts, block.hash)

    def _admit(self, block: StoredBlock) -> None:
        self._facts.note(block.block)
        self.head_block = block
        if self._sequence_numbers is not None:
            self._sequence_numbers[block.hash.digest] = block.block.sequence_number
