"""The local side of a pull: blocks checked as they come, objects placed, the head moved last."""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from odf_core.chain import ChainState, new_objects
from odf_core.errors import LimitExceeded
from odf_core.identity import Multihash, ObjectRef
from odf_core.metadata import Seed, StoredBlock, read_block
from odf_core.transfer.client.errors import IdentityChanged
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.keyblocks import KeyBlocks, resume_chain
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.partial import hash_file
from odf_core.transfer.client.progress import Phase, Progress
from odf_core.transfer.client.results import TransferStats, Updated
from odf_core.transfer.errors import UnexpectedMessage

CreateDataset = Callable[[Seed], DatasetFolder]
"""Says where a new dataset goes, once its Seed is known; may refuse it."""


class TooManyBlockBytes(LimitExceeded):
    """The blocks of one pull are more than are held at once."""

    code = "too_many_block_bytes"


@dataclass(slots=True)
class Landing:
    """Takes one batch of blocks onto `folder` (None: a new dataset, placed by `create`)."""

    folder: DatasetFolder | None
    create: CreateDataset
    options: TransferOptions
    progress: Progress
    force: bool = False

    old_head: Multihash | None = None
    head: Multihash | None = None
    objects: dict[ObjectRef, None] = field(default_factory=dict)
    _blocks: list[tuple[Multihash, bytes]] = field(default_factory=list)
    _keys: KeyBlocks = field(default_factory=KeyBlocks)

    def __post_init__(self) -> None:
        if self.folder is not None:
            self.old_head = self.folder.head()

    def take(self, entries: Iterable[tuple[Multihash, bytes]]) -> None:
        """Check blocks, oldest first: hashes, then every rule of the chain that they continue or replace.

        Nothing is written yet. Raises the errors of `read_block` and of `ChainState.append`,
        `IdentityChanged`, `TooManyBlockBytes`, and `UnexpectedMessage` where a whole chain came
        though it was not asked for.
        """
        limits, size = self.options.limits, 0
        state = None
        for block_hash, data in entries:
            size += len(data)
            if size > limits.archive_expanded_bytes:
                raise TooManyBlockBytes(f"The blocks have more than {limits.archive_expanded_bytes} bytes.")
            block = read_block(data, block_hash, limits)
            if state is None:
                state, self._keys = self._followed(block)
            state.append(block)
            self._keys.note(block)
            self.objects.update(dict.fromkeys(new_objects(block.block)))
            self._blocks.append((block_hash, data))
            self.head = block_hash

    def _followed(self, first: StoredBlock) -> tuple[ChainState, KeyBlocks]:
        """The state of the chain that the first block continues; that of none for a Seed."""
        empty = ChainState(remember_hashes=False), KeyBlocks()
        seed = first.block.event if isinstance(first.block.event, Seed) else None
        if self.folder is None:
            if seed is not None:
                self.folder = self.create(seed)
                self.old_head = self.folder.head()
            return empty
        if seed is None or self.old_head is None:
            return resume_chain(self.folder, self.old_head)
        if not self.force:
            raise UnexpectedMessage("The node sent a whole chain where only newer blocks were asked for.")
        require_same_identity(self.folder, self.old_head, seed)
        return empty

    def missing(self) -> list[ObjectRef]:
        """Objects of the blocks that are not in place; what an earlier run left is hashed, not believed."""
        folder = self.require_folder()
        folder.create()
        present = [ref for ref in self.objects if folder.has_object(ref)]
        damaged = set(_damaged(folder, present, self.options.parallelism))
        kept = set(present) - damaged
        return [ref for ref in self.objects if ref not in kept]

    def commit(self, stats: TransferStats) -> Updated:
        """Store the blocks and move the head; everything is on the disk before (`options.durable`)."""
        folder = self.require_folder()
        self.progress.phase(Phase.COMMIT, count=len(self._blocks))
        folder.write_blocks(self._blocks)
        head = self._blocks[-1][0]
        folder.move_head(head, expected=self.old_head, durable=self.options.durable)
        self._keys.save(folder)
        present = len(self.objects) - stats.objects_moved
        stats += TransferStats(objects_present=present - stats.objects_present)
        return Updated(self.old_head, head, len(self._blocks), stats)

    def require_folder(self) -> DatasetFolder:
        """The folder, known once a block was taken."""
        if self.folder is None:
            raise AssertionError("no block was taken")
        return self.folder


def require_same_identity(folder: DatasetFolder, head: Multihash, seed: Seed) -> None:
    """Raise `IdentityChanged` where the local chain begins with another Seed; force does not help."""
    own = resume_chain(folder, head)[0].seed
    if own is None or (own.dataset_id, own.dataset_kind) == (seed.dataset_id, seed.dataset_kind):
        return
    raise IdentityChanged(
        f"The other side is dataset {seed.dataset_id}, the local one is {own.dataset_id}: "
        "they only share a name. Use another name; force does not replace one dataset by another.",
        objects=[own.dataset_id, seed.dataset_id],
        extras={"localKind": str(own.dataset_kind), "remoteKind": str(seed.dataset_kind)},
    )


def _damaged(folder: DatasetFolder, refs: Sequence[ObjectRef], parallelism: int) -> list[ObjectRef]:
    """Those of the present files whose bytes do not hash to their name."""
    if not refs:
        return []
    with ThreadPoolExecutor(parallelism, thread_name_prefix="odf-hash") as pool:
        hashes = pool.map(lambda ref: hash_file(folder.object_path(ref))[0], refs)
        return [ref for ref, found in zip(refs, hashes, strict=True) if found != ref.hash]
