"""A local dataset: a folder in the layout of the specification (metadata.md 4), as transfers use it.

Blocks and objects are named by their hashes, so they can be written in any order and any number of
times; only `refs/head` makes them a dataset, and it moves last.
"""

import os
from collections.abc import Iterable, Iterator
from pathlib import Path

from odf_core.errors import IntegrityError, InvalidInput
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.limits import Limits
from odf_core.metadata import StoredBlock, read_block
from odf_core.storage.flushing import flush
from odf_core.transfer.client.durable import write_atomically
from odf_core.transfer.client.errors import LocalHeadMoved

_FOLDERS = {ObjectKind.DATA_SLICE: "data", ObjectKind.CHECKPOINT: "checkpoints"}
_HEAD_BYTES = 256


class LocalBlockMissing(IntegrityError):
    """The local dataset lacks a block that its chain names."""

    code = "local_block_missing"


class LocalHeadUnreadable(IntegrityError):
    """`refs/head` of a local dataset holds no hash."""

    code = "local_head_unreadable"


class DatasetFolder:
    """One dataset below `path`; the folder need not exist yet."""

    def __init__(self, path: Path, limits: Limits | None = None) -> None:
        self.path = path
        self.limits = limits or Limits()
        self._unflushed: set[str] = set()

    def __str__(self) -> str:
        return str(self.path)

    def create(self) -> None:
        """Make the folders of the layout where they are missing."""
        for name in ("blocks", "refs", "data", "checkpoints", "info"):
            (self.path / name).mkdir(parents=True, exist_ok=True)

    # Head

    def head(self) -> Multihash | None:
        """The head, None where there is none. Raises `LocalHeadUnreadable`."""
        try:
            text = (self.path / "refs" / "head").read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        try:
            if len(text) > _HEAD_BYTES:
                raise InvalidInput("It is too long.")
            return Multihash.parse(text.decode("ascii"))
        except (InvalidInput, UnicodeDecodeError) as error:
            raise LocalHeadUnreadable(
                f"The head of the local dataset in {self.path} is not a hash.", objects=[self.path]
            ) from error

    def move_head(self, head: Multihash, *, expected: Multihash | None, durable: bool = True) -> None:
        """Point the dataset at `head`, after everything written before is on the disk.

        Raises `LocalHeadMoved` where the head is no longer `expected`; callers hold the dataset's lock.
        """
        if durable:
            self.flush()
        found = self.head()
        if found != expected:
            raise LocalHeadMoved(
                f"The head of the local dataset moved to {found} meanwhile; try again.",
                objects=[str(item) for item in (expected, found) if item is not None],
            )
        write_atomically(self.path / "refs" / "head", str(head).encode("ascii"), durable=durable)

    # Blocks

    def block_path(self, block_hash: Multihash) -> Path:
        return self.path / "blocks" / str(block_hash)

    def block_bytes(self, block_hash: Multihash) -> bytes:
        """The bytes of a block as stored. Raises `LocalBlockMissing`."""
        try:
            with self.block_path(block_hash).open("rb") as file:
                data = file.read(self.limits.block_bytes + 1)
        except OSError as error:
            raise LocalBlockMissing(
                f"Block {block_hash} cannot be read from the local dataset ({error.strerror}).",
                objects=[block_hash],
                extras={"path": str(self.path)},
            ) from error
        return data

    def read_block(self, block_hash: Multihash) -> StoredBlock:
        """A block, its hash checked. Raises `LocalBlockMissing` and what `read_block` raises."""
        return read_block(self.block_bytes(block_hash), block_hash, self.limits)

    def walk(self, head: Multihash | None = None) -> Iterator[StoredBlock]:
        """Blocks from `head` (None: the head of the dataset) back to the seed, each hash checked."""
        current = head or self.head()
        while current is not None:
            block = self.read_block(current)
            yield block
            current = block.block.prev_block_hash

    def write_blocks(self, blocks: Iterable[tuple[Multihash, bytes]]) -> None:
        """Store blocks whose hashes the caller has checked.

        One open, one write, one close each: a file cut off by a crash is found and replaced by the
        next transfer, since no head names it yet.
        """
        folder = os.path.join(self.path, "blocks", "")  # noqa: PTH118 - 20,000 Path objects are slow
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
        self._unflushed.add(folder)
        for block_hash, data in blocks:
            name = folder + str(block_hash)
            try:
                descriptor = os.open(name, flags, 0o644)
            except FileExistsError:
                self._replace_if_wrong(Path(name), data)
                continue
            try:
                if os.write(descriptor, data) != len(data):
                    raise OSError(f"short write to {name}")
            finally:
                os.close(descriptor)
            self._unflushed.add(name)

    def _replace_if_wrong(self, path: Path, data: bytes) -> None:
        if path.stat().st_size != len(data) or path.read_bytes() != data:
            write_atomically(path, data, durable=False)
            self._unflushed.add(str(path))

    # Objects

    def object_path(self, ref: ObjectRef) -> Path:
        return self.path / _FOLDERS[ref.kind] / str(ref.hash)

    def has_object(self, ref: ObjectRef) -> bool:
        """Whether a file of the declared size is there."""
        try:
            size = self.object_path(ref).stat().st_size
        except OSError:
            return False
        return ref.size is None or size == ref.size

    def data_size(self, physical_hash: Multihash) -> int | None:
        """The size of the object of this hash among the data, None where there is none."""
        path = self.object_path(ObjectRef(ObjectKind.DATA_SLICE, physical_hash, None))
        return path.stat().st_size if path.is_file() else None

    def object_arrived(self, ref: ObjectRef) -> None:
        """Remember a new object for the next `flush`."""
        path = self.object_path(ref)
        self._unflushed.update((str(path), str(path.parent)))

    def flush(self) -> None:
        """Put everything that was written through this object on the disk."""
        if self._unflushed:
            flush(self._unflushed)
            self._unflushed.clear()
