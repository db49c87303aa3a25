"""Walking chains: intervals between blocks, and where two chains part (wire.md 3.4 and 3.8)."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from odf_core.chain.errors import Diverged, InvalidInterval, SequenceBroken
from odf_core.identity import Multihash
from odf_core.metadata import StoredBlock

ReadBlock = Callable[[Multihash], StoredBlock]
"""Reads one block by its hash; raises what its store raises where there is none."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """Where two chains part: the last common block and how many blocks each side has after it.

    `common_ancestor` is None if the chains have different seeds, or one of them is empty.
    """

    common_ancestor: Multihash | None
    ahead_a: int
    ahead_b: int

    @property
    def is_diverged(self) -> bool:
        """Whether each side has blocks that the other lacks."""
        return self.ahead_a > 0 and self.ahead_b > 0


def iter_back(read: ReadBlock, head: Multihash | None) -> Iterator[StoredBlock]:
    """The blocks of a chain from `head` to the seed, each read when it is due.

    Raises `SequenceBroken` where sequence numbers do not count down to a first block with 0, so a
    walk ends whatever the reader returns.
    """
    follower: StoredBlock | None = None
    while head is not None:
        block = read(head)
        number, prev = block.block.sequence_number, block.block.prev_block_hash
        if follower is not None and number != follower.block.sequence_number - 1:
            raise SequenceBroken(
                f"Block {block.hash} with sequence number {number} cannot be followed by block "
                f"{follower.hash} with sequence number {follower.block.sequence_number}.",
                rule=16,
                block=follower.hash,
                objects=(block.hash,),
            )
        if (prev is None) != (number == 0):
            raise SequenceBroken(
                f"Block {block.hash} has sequence number {number}, but "
                f"{'no previous block' if prev is None else f'a previous block, {prev}'}.",
                rule=4,
                block=block.hash,
            )
        yield block
        follower, head = block, prev


def walk_interval(read: ReadBlock, head: Multihash | None, tail: Multihash | None) -> list[StoredBlock]:
    """Blocks after `tail` up to `head`, oldest first; the whole chain if `tail` is None.

    Neither `tail` nor what is before it is read. Raises `InvalidInterval` where the seed is met before
    `tail`, and `SequenceBroken` as `iter_back` does.
    """
    blocks: list[StoredBlock] = []
    if head == tail:
        return blocks
    for block in iter_back(read, head):
        blocks.append(block)
        if tail is not None and block.block.prev_block_hash == tail:
            break
    else:
        if tail is not None:
            raise InvalidInterval(head, tail)
    blocks.reverse()
    return blocks


def find_divergence(
    read_a: ReadBlock, head_a: Multihash | None, read_b: ReadBlock, head_b: Multihash | None
) -> Divergence:
    """The last block that the chains of `head_a` and `head_b` have in common.

    Steps back the longer chain to the length of the other, then both together. Reads the heads, and
    of each chain at most the blocks after the common one. Raises `SequenceBroken` as `iter_back` does.
    """
    if head_a == head_b:
        return Divergence(head_a, 0, 0)
    a, b = _Cursor(read_a, head_a), _Cursor(read_b, head_b)
    while a.hash != b.hash:
        longer, shorter = (a, b) if a.length >= b.length else (b, a)
        if longer.length == shorter.length:
            shorter.step()
        longer.step()
    return Divergence(a.hash, a.stepped, b.stepped)


def require_descendant(
    read_ours: ReadBlock, ours: Multihash | None, read_theirs: ReadBlock, theirs: Multihash | None
) -> int:
    """How many blocks `theirs` has after `ours`; raises `Diverged` or `InvalidInterval` if it lacks some.

    `InvalidInterval` (head: theirs, tail: ours) says that we are ahead; there is nothing to take.
    """
    found = find_divergence(read_ours, ours, read_theirs, theirs)
    if found.ahead_a == 0:
        return found.ahead_b
    if ours is not None and theirs is not None and found.is_diverged:
        raise Diverged(ours, theirs, found.common_ancestor)
    if ours is not None:
        raise InvalidInterval(theirs, ours, found.common_ancestor)
    return found.ahead_b


class _Cursor:
    """A place in a chain: `hash` is its block's, None before the seed; `length` counts up to it."""

    def __init__(self, read: ReadBlock, head: Multihash | None) -> None:
        self._blocks = iter_back(read, head)
        self._block = next(self._blocks, None)
        self.hash = head
        self.length = 0 if self._block is None else self._block.block.sequence_number + 1
        self.stepped = 0

    def step(self) -> None:
        """Goes one block back. The block there is read at the next step, if there is one."""
        if self._block is None:
            self._block = next(self._blocks, None)
        if self._block is not None:
            self.hash = self._block.block.prev_block_hash
            self._block = None
        self.length -= 1
        self.stepped += 1
