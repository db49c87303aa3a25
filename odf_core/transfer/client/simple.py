"""A pull over the Simple Transfer Protocol: a chain walked block by block, its objects in parallel."""

import threading
from dataclasses import dataclass, field

from odf_core.chain import find_divergence, walk_interval
from odf_core.identity import Multihash, ObjectRef
from odf_core.metadata import StoredBlock
from odf_core.transfer.client.dispatch import Dispatcher, Ticket
from odf_core.transfer.client.divergence import refuse_divergence
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.landing import CreateDataset, Landing, TooManyBlockBytes
from odf_core.transfer.client.options import TransferOptions
from odf_core.transfer.client.progress import SILENT, Phase, Progress
from odf_core.transfer.client.results import TransferResult, TransferStats, UpToDate
from odf_core.transfer.client.source import DatasetSource


@dataclass(slots=True)
class SimplePull:
    """Brings the dataset of `source` to the folder `local` (None: where `create` says).

    A chain is a linked list, so its blocks come one after the other, newest first; only those after
    the last common block are read. `run` raises `DatasetsDiverged` and `DestinationAhead` without
    `force`, `IdentityChanged`, the errors of the source, of blocks, and of the chain's rules.
    """

    source: DatasetSource
    local: DatasetFolder | None
    create: CreateDataset
    options: TransferOptions = field(default_factory=TransferOptions)
    progress: Progress = SILENT
    force: bool = False

    _read: dict[Multihash, StoredBlock] = field(default_factory=dict)
    _read_bytes: int = 0

    def run(self) -> TransferResult:
        self.progress.phase(Phase.CONNECT)
        remote_head = self.source.head()
        landing = Landing(self.local, self.create, self.options, self.progress, force=self.force)
        if landing.old_head == remote_head:
            return UpToDate(remote_head)
        self.progress.phase(Phase.BLOCKS)
        tail = self._common_block(landing.old_head, remote_head)
        blocks = walk_interval(self._read_block, remote_head, tail)
        landing.take((block.hash, block.data) for block in blocks)
        return landing.commit(self._fetch_objects(landing))

    def _common_block(self, local_head: Multihash | None, remote_head: Multihash) -> Multihash | None:
        """The block after which the pulled interval begins; None: the whole chain replaces the local one."""
        if self.local is None or local_head is None:
            return None
        found = find_divergence(self.local.read_block, local_head, self._read_block, remote_head)
        if found.ahead_a == 0:
            return local_head
        if not self.force:
            refuse_divergence("pull", local_head, remote_head, found)
        return None

    def _read_block(self, block_hash: Multihash) -> StoredBlock:
        block = self._read.get(block_hash)
        if block is None:
            block = self.source.read_block(block_hash)
            self._read[block_hash] = block
            self._read_bytes += len(block.data)
            if self._read_bytes > self.options.limits.archive_expanded_bytes:
                raise TooManyBlockBytes(
                    f"The blocks have more than {self.options.limits.archive_expanded_bytes} bytes."
                )
            self.progress.done()
        return block

    def _fetch_objects(self, landing: Landing) -> TransferStats:
        missing = landing.missing()
        if not missing:
            return TransferStats()
        self.progress.phase(Phase.OBJECTS, count=len(missing), size=sum(ref.size or 0 for ref in missing))
        folder = landing.require_folder()

        def move(ref: ObjectRef, _ticket: Ticket, stop: threading.Event) -> int:
            moved = self.source.fetch(ref, folder.object_path(ref), stop)
            folder.object_arrived(ref)
            return moved

        dispatcher = Dispatcher(
            self.options,
            self.progress,
            ask=lambda refs: dict.fromkeys(refs, Ticket(url="")),
            move=move,
            parallelism=self.options.simple_parallelism,
        )
        return dispatcher.run(missing)
