"""Reading one dataset's folder of the bucket and checking everything in it; no database here.

A dataset is trusted as far as it proves itself: blocks by their hashes and the rules of the chain,
objects by the size that a block declares, or by reading and hashing them whole (`rehash`).
"""

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import ClassVar

from app.datasets.mirror import DatasetInfoDamaged, MirroredInfo, read_alias, read_node_facts
from app.ops.findings import Finding, FindingKind
from odf_core.chain import ChainState, new_objects
from odf_core.errors import IntegrityError, InvalidInput, LimitExceeded, NotFound, OdfError, Unavailable
from odf_core.identity import DatasetAlias, DatasetId, Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import Seed, StoredBlock, read_block
from odf_core.storage import HEAD_KEY, ObjectStore, hash_stream

PARALLEL_READS = 16
HEAD_BYTES = 1024
_KINDS = {"data": ObjectKind.DATA_SLICE, "checkpoints": ObjectKind.CHECKPOINT}


class DatasetUnusable(IntegrityError):
    """The folder holds no dataset that could be indexed; `finding` says why."""

    code: ClassVar[str] = "dataset_unusable"

    def __init__(self, finding: Finding) -> None:
        super().__init__(finding.message, objects=finding.objects)
        self.finding = finding


@dataclass(slots=True)
class DatasetScan:
    """A dataset as its folder proves it to be; chain oldest first, `strays` are blocks beside it."""

    id: DatasetId
    seed: Seed
    info: MirroredInfo
    chain: list[StoredBlock]
    strays: list[StoredBlock] = field(default_factory=list)
    objects: list[ObjectRef] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def scan_dataset(
    store: ObjectStore, dataset_id: DatasetId, files: Mapping[str, int], *, limits: Limits, rehash: bool
) -> DatasetScan:
    """Check the folder; `files` are its keys, without the folder's name, with their sizes in bytes.

    Raises `DatasetUnusable`, `StoreUnavailable`.
    """
    scan = _Scanner(store, dataset_id, files, limits)
    head = scan.read_head()
    blocks, damaged = scan.read_blocks()
    chain = scan.walk(head, blocks, damaged)
    seed = scan.check_chain(chain)
    on_chain = {block.hash for block in chain}
    strays = [block for block in blocks.values() if block.hash not in on_chain]
    findings = [
        Finding.of_error(FindingKind.STRAY_BLOCK_DAMAGED, str(dataset_id), error)
        for error in damaged.values()
    ]
    info, notes = scan.read_info()
    objects, faults = scan.check_objects(chain, strays, rehash=rehash)
    return DatasetScan(dataset_id, seed, info, chain, strays, objects, [*findings, *notes, *faults])


class _Scanner:
    """The steps of a scan; each raises `DatasetUnusable` or gives what the next one needs."""

    def __init__(
        self, store: ObjectStore, dataset_id: DatasetId, files: Mapping[str, int], limits: Limits
    ) -> None:
        self._store, self._id, self._files, self._limits = store, dataset_id, files, limits
        self._folder = f"{dataset_id.multibase}/"

    def _unusable(self, kind: FindingKind, message: str, *objects: object) -> DatasetUnusable:
        return DatasetUnusable(Finding(kind, str(self._id), message, tuple(map(str, objects))))

    def read_head(self) -> Multihash:
        if HEAD_KEY not in self._files:
            raise self._unusable(
                FindingKind.HEAD_MISSING, "The folder has no refs/head: its first push was never committed."
            )
        try:
            data = self._store.read(self._folder + HEAD_KEY, max_bytes=HEAD_BYTES)
            return Multihash.parse(data.decode("ascii"))
        except (InvalidInput, LimitExceeded, NotFound, UnicodeDecodeError) as error:
            raise self._unusable(FindingKind.HEAD_DAMAGED, "refs/head holds no hash.") from error

    def read_blocks(self) -> tuple[dict[Multihash, StoredBlock], dict[Multihash, OdfError]]:
        """All blocks of the folder: the good ones and, by the hash in their name, what ails the others."""
        names = [name for name in self._files if name.startswith("blocks/")]
        good: dict[Multihash, StoredBlock] = {}
        damaged: dict[Multihash, OdfError] = {}
        with ThreadPoolExecutor(PARALLEL_READS) as pool:
            for name, outcome in zip(names, pool.map(self._read_block, names), strict=True):
                if isinstance(outcome, StoredBlock):
                    good[outcome.hash] = outcome
                elif (wanted := _hash_of(name)) is not None:
                    damaged[wanted] = outcome
        return good, damaged

    def _read_block(self, name: str) -> StoredBlock | OdfError:
        try:
            wanted = Multihash.parse(name.removeprefix("blocks/"))
            data = self._store.read(self._folder + name, max_bytes=self._limits.block_bytes)
            return read_block(data, wanted, self._limits)
        except Unavailable:
            raise
        except OdfError as error:
            return error

    def walk(
        self, head: Multihash, blocks: Mapping[Multihash, StoredBlock], damaged: dict[Multihash, OdfError]
    ) -> list[StoredBlock]:
        chain: list[StoredBlock] = []
        wanted: Multihash | None = head
        while wanted is not None:
            if wanted in damaged:
                raise self._unusable(FindingKind.BLOCK_DAMAGED, damaged[wanted].message, wanted)
            if wanted not in blocks or len(chain) >= len(blocks):
                raise self._unusable(
                    FindingKind.BLOCK_MISSING, f"Block {wanted} of the chain is missing.", wanted
                )
            chain.append(blocks[wanted])
            wanted = chain[-1].block.prev_block_hash
        return chain[::-1]

    def check_chain(self, chain: list[StoredBlock]) -> Seed:
        state = ChainState(remember_hashes=False)
        try:
            for block in chain:
                state.append(block)
        except OdfError as error:
            raise self._unusable(FindingKind.CHAIN_INVALID, error.message, *error.objects) from error
        seed = state.seed
        if seed is None or seed.dataset_id != self._id:
            found = None if seed is None else seed.dataset_id
            raise self._unusable(
                FindingKind.FOLDER_MISNAMED, f"The folder is named {self._id}, but its Seed says {found}."
            )
        return seed

    def read_info(self) -> tuple[MirroredInfo, list[Finding]]:
        """Name, visibility, owner; what cannot be read counts as not there, which is the private side."""
        findings: list[Finding] = []
        alias: DatasetAlias | None = None
        facts: tuple[str, str | None, str | None] = ("private", None, None)
        try:
            alias = read_alias(self._store, self._id)
        except DatasetInfoDamaged as error:
            findings.append(Finding.of_error(FindingKind.INFO_DAMAGED, str(self._id), error))
        try:
            facts = read_node_facts(self._store, self._id)
        except DatasetInfoDamaged as error:
            findings.append(Finding.of_error(FindingKind.INFO_DAMAGED, str(self._id), error))
        return MirroredInfo(alias, *facts), findings

    def check_objects(
        self, chain: list[StoredBlock], strays: list[StoredBlock], *, rehash: bool
    ) -> tuple[list[ObjectRef], list[Finding]]:
        """Objects that may be served, and those of the chain that may not."""
        wanted = {(item.kind, item.hash): item for block in strays for item in new_objects(block.block)}
        needed = {(item.kind, item.hash): item for block in chain for item in new_objects(block.block)}
        wanted |= needed
        good: list[ObjectRef] = []
        findings: list[Finding] = []
        for key, item in wanted.items():
            finding = self._fault_of(item, rehash=rehash)
            if finding is None:
                good.append(item)
            elif key in needed or finding.kind is FindingKind.OBJECT_DAMAGED:
                findings.append(finding)
        return good, findings + self._stray_files(wanted)

    def _fault_of(self, item: ObjectRef, *, rehash: bool) -> Finding | None:
        name = _name_of(item)
        size = self._files.get(name)
        if size is None:
            return self._object(FindingKind.OBJECT_MISSING, f"{item} is missing.", item)
        if size != item.size:
            message = f"{item} has {size} bytes; its block declares {item.size}."
            return self._object(FindingKind.OBJECT_DAMAGED, message, item)
        if rehash:
            with self._store.open(self._folder + name) as stream:
                actual, _ = hash_stream(stream)
            if actual != item.hash:
                return self._object(FindingKind.OBJECT_DAMAGED, f"{item} hashes to {actual}.", item)
        return None

    def _object(self, kind: FindingKind, message: str, item: ObjectRef) -> Finding:
        return Finding(kind, str(self._id), message, (str(item.hash),))

    def _stray_files(self, wanted: Mapping[tuple[ObjectKind, Multihash], ObjectRef]) -> list[Finding]:
        """Objects that no block names: of a push that was never committed. They are not indexed."""
        findings = []
        for name in self._files:
            kind = _KINDS.get(name.partition("/")[0])
            if kind is not None and (kind, _hash_of(name)) not in wanted:
                message = f"{name} belongs to no block; it is left where it is."
                findings.append(Finding(FindingKind.STRAY_FILE, str(self._id), message, (name,)))
        return findings


def _name_of(item: ObjectRef) -> str:
    folder = next(name for name, kind in _KINDS.items() if kind is item.kind)
    return f"{folder}/{item.hash}"


def _hash_of(name: str) -> Multihash | None:
    try:
        return Multihash.parse(name.rpartition("/")[2])
    except InvalidInput:
        return None
