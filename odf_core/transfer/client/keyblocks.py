"""The few blocks of a local chain that say what may follow it, remembered beside the chain.

A chain of 20,000 blocks is then continued after reading a handful. The file is a cache: it counts only
for the head that it names, every block named in it is hashed when read, and it can be deleted.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field

from odf_core.chain import KEY_EVENT_KINDS, ChainState, InvalidKeyBlocks
from odf_core.errors import IntegrityError, InvalidInput
from odf_core.identity import Multihash
from odf_core.metadata import StoredBlock, event_kind
from odf_core.transfer.client.durable import write_atomically
from odf_core.transfer.client.folder import DatasetFolder

_FILE = "key-blocks"
_MOST_BYTES = 4 * 1024 * 1024


@dataclass(slots=True)
class KeyBlocks:
    """Hashes of key blocks by sequence number; `note` blocks in any order."""

    keys: dict[int, Multihash] = field(default_factory=dict)
    latest: dict[str, tuple[int, Multihash]] = field(default_factory=dict)

    def note(self, block: StoredBlock) -> None:
        """Remember `block` as far as it matters to what may follow."""
        number, kind = block.block.sequence_number, event_kind(block.block.event)
        if kind in KEY_EVENT_KINDS:
            self.keys[number] = block.hash
        for name in (kind, "head"):
            if number >= self.latest.get(name, (-1, block.hash))[0]:
                self.latest[name] = (number, block.hash)

    def hashes(self) -> list[Multihash]:
        """Hashes of all that `ChainState.resume` needs, oldest first; the head is the last."""
        return [found for _, found in sorted({**self.keys, **dict(self.latest.values())}.items())]

    def save(self, folder: DatasetFolder) -> None:
        """Keep them beside the dataset."""
        text = "\n".join(str(item) for item in self.hashes())
        write_atomically(folder.path / "info" / _FILE, text.encode("ascii"), durable=False)


def resume_chain(folder: DatasetFolder, head: Multihash | None) -> tuple[ChainState, KeyBlocks]:
    """The state of the local chain that ends in `head`, and its key blocks to go on noting.

    Raises what reading the chain raises, where its remembered key blocks are of no use.
    """
    blocks = _remembered(folder, head)
    if blocks is not None:
        try:
            return _resume(blocks)
        except InvalidKeyBlocks:  # the cache is wrong: read the chain itself
            pass
    needed = KeyBlocks()
    found: list[StoredBlock] = []
    for block in folder.walk(head) if head is not None else ():
        kind = event_kind(block.block.event)
        if kind in KEY_EVENT_KINDS or kind not in needed.latest or not found:
            found.append(block)
        needed.note(block)
    return _resume(reversed(found))


def key_blocks(folder: DatasetFolder) -> list[StoredBlock]:
    """The key blocks of the local chain, oldest first: enough for `Projection.of`, all but its count of
    records. Raises as `resume_chain` does."""
    head = folder.head()
    remembered = _remembered(folder, head)
    if remembered is not None:
        return remembered
    _, keys = resume_chain(folder, head)
    return [folder.read_block(item) for item in keys.hashes()]


def _resume(blocks: Iterable[StoredBlock]) -> tuple[ChainState, KeyBlocks]:
    keys, listed = KeyBlocks(), list(blocks)
    for block in listed:
        keys.note(block)
    return ChainState.resume(listed, remember_hashes=False), keys


def _remembered(folder: DatasetFolder, head: Multihash | None) -> list[StoredBlock] | None:
    """The blocks that the cache names, None where it is missing, damaged or about another head."""
    path = folder.path / "info" / _FILE
    try:
        with path.open("rb") as file:
            lines = file.read(_MOST_BYTES).decode("ascii").split("\n")
        hashes = [Multihash.parse(line) for line in lines]
        if not hashes or hashes[-1] != head:
            return None
        return [folder.read_block(item) for item in hashes]
    except (OSError, UnicodeDecodeError, InvalidInput, IntegrityError):
        return None
