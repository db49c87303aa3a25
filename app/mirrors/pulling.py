"""A source pulled to a worker's disk, all that `odf pull` checks being checked. Blocking, for threads."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from app.mirrors.errors import MirrorDiverged, MirrorSourceChanged
from app.mirrors.progress import PullProgress
from app.mirrors.sources import Source
from app.transfer.claims import ObjectTooLarge
from odf_core.identity import DatasetId, Multihash, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import Seed, StoredBlock
from odf_core.transfer.client import (
    DatasetFolder,
    DatasetsDiverged,
    DestinationAhead,
    Http,
    HttpSource,
    IdentityChanged,
    SimplePull,
    SmartPull,
    TransferOptions,
    Updated,
)
from odf_core.transfer.client.keyblocks import KeyBlocks

CheckSeed = Callable[[Seed], None]
"""Called with the Seed of a new dataset before its objects are fetched; may refuse it."""


def transfer_options(limits: Limits) -> TransferOptions:
    """Less patience than a person's: a job is tried again."""
    return TransferOptions(
        attempts=2, session_attempts=2, connect_timeout=10, read_timeout=60, durable=False, limits=limits
    )


class PulledFolder(DatasetFolder):
    """The folder of a pull; blocks that the node has are in memory, their objects in the bucket."""

    def __init__(self, path: Path, limits: Limits, known: Sequence[StoredBlock]) -> None:
        super().__init__(path, limits)
        self._known = {block.hash: block.data for block in known}

    def block_bytes(self, block_hash: Multihash) -> bytes:
        data = self._known.get(block_hash)
        return data if data is not None else super().block_bytes(block_hash)

    def has_object(self, ref: ObjectRef) -> bool:
        """Raises `ObjectTooLarge`, as a push of it would."""
        if (ref.size or 0) > self.limits.object_bytes:
            raise ObjectTooLarge(
                f"An object may have {self.limits.object_bytes} bytes, and {ref} has {ref.size}.",
                objects=[ref],
            )
        return super().has_object(ref)


@dataclass(frozen=True, slots=True)
class Pulled:
    """New blocks, oldest first, and their objects in `folder`; `known` is the chain that they follow, ()
    where they are a whole chain. `num_bytes` of objects were fetched for it."""

    source: Source
    known: Sequence[StoredBlock]
    blocks: Sequence[StoredBlock]
    folder: DatasetFolder
    num_bytes: int

    @property
    def chain(self) -> Sequence[StoredBlock]:
        """The chain as it will be."""
        return (*self.known, *self.blocks)

    @property
    def dataset_id(self) -> DatasetId:
        """The id in the Seed."""
        return self.seed.dataset_id

    @property
    def seed(self) -> Seed:
        """The Seed of the chain."""
        match self.chain[0].block.event:
            case Seed() as seed:
                return seed
            case other:
                raise RuntimeError(f"the chain begins with {type(other).__name__}, not with its seed")


def pull(
    http: Http,
    source: Source,
    known: Sequence[StoredBlock],
    path: Path,
    progress: PullProgress,
    check_seed: CheckSeed,
    *,
    force: bool,
) -> Pulled:
    """What `source` has beyond `known`, in the folder `path`; with `force` also a chain that replaces it.

    Raises what the pulls of `odf_core.transfer.client` raise, `MirrorDiverged`, `MirrorSourceChanged`,
    `MirrorTooLarge`, `ObjectTooLarge`, `PullStopped`, and what `check_seed` raises.
    """
    folder = PulledFolder(path, http.options.limits, known)
    (path / "refs" / "head").unlink(missing_ok=True)  # of an earlier attempt, whose files are still of use
    if known:
        _put_head(folder, known)

    def create(seed: Seed) -> DatasetFolder:
        check_seed(seed)
        return folder

    local = folder if known else None
    try:
        if source.address.smart:
            result = SmartPull(http, source.address, local, create, source.token, progress, force).run()
        else:
            place = HttpSource(http, source.address, source.token, progress)
            result = SimplePull(place, local, create, http.options, progress, force).run()
    except (DatasetsDiverged, DestinationAhead) as error:
        raise _diverged(source, error) from error
    except IdentityChanged as error:
        raise MirrorSourceChanged(
            f"At {source.ref} is another dataset than the one that is mirrored; end this mirror (`odf admin "
            "mirror stop`), and mirror the other one under a name of its own.",
            objects=error.objects,
        ) from error
    return _pulled(source, folder, known, result.stats.bytes_moved if isinstance(result, Updated) else 0)


def _put_head(folder: DatasetFolder, known: Sequence[StoredBlock]) -> None:
    """Make the folder one whose head is that of `known`, and which need not be read to be continued."""
    folder.create()
    keys = KeyBlocks()
    for block in known:
        keys.note(block)
    keys.save(folder)
    folder.move_head(known[-1].hash, expected=None, durable=False)


def _pulled(source: Source, folder: DatasetFolder, known: Sequence[StoredBlock], moved: int) -> Pulled:
    old_head = known[-1].hash if known else None
    blocks: list[StoredBlock] = []
    for block in folder.walk():
        if block.hash == old_head:
            return Pulled(source, known, blocks[::-1], folder, moved)
        blocks.append(block)
    return Pulled(source, (), blocks[::-1], folder, moved)


def _diverged(source: Source, error: DatasetsDiverged | DestinationAhead) -> MirrorDiverged:
    facts = error.extras
    common = facts.get("commonAncestor")
    said = (
        "no common block is known"
        if common is None
        else f"after block {common} the mirror has {facts['localAhead']} blocks that the source lacks"
    )
    return MirrorDiverged(
        f"The chain of {source.ref} does not go on from what was mirrored ({said}): it was reset or replaced "
        "there. The mirror stays as it is; ask for it again with `force` to replace its chain, after which "
        "datasets that are computed from it have to be made anew.",
        objects=error.objects,
        extras=facts,
    )
