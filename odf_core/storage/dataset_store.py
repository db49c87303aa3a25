"""A dataset in an object store, in the layout of the specification (metadata.md 4)."""

from collections.abc import Iterator
from contextlib import AbstractContextManager

from odf_core.errors import InvalidInput
from odf_core.identity import Multihash, ObjectRef
from odf_core.limits import Limits
from odf_core.storage.errors import (
    InvalidHead,
    InvalidKey,
    ObjectHashMismatch,
    ObjectNotFound,
    StoredObjectTooLarge,
)
from odf_core.storage.keys import check_folder
from odf_core.storage.layout import BLOCKS_PREFIX, HEAD_KEY, block_key, object_key
from odf_core.storage.port import ObjectStore, ObjectStream, Readable
from odf_core.storage.prefix import PrefixStore
from odf_core.storage.streams import VerifiedSource, readable, seekable_size, spooled

_HEAD_BYTES = 69


class DatasetStore:
    """Blocks, objects and head of the dataset below `prefix` of `store`.

    Objects, then blocks, then the head: whoever writes keeps to that order (promise 2 of the design).
    `settle=False` as in `ObjectStore.write`; `settle()` has to follow before the head is set.
    """

    def __init__(self, store: ObjectStore, prefix: str = "", *, limits: Limits | None = None) -> None:
        self._store: ObjectStore = PrefixStore(store, check_folder(prefix)) if prefix else store
        self._limits = limits or Limits()
        self._unsettled: list[str] = []

    @property
    def files(self) -> ObjectStore:
        """The dataset's folder as a store."""
        return self._store

    def head(self) -> Multihash | None:
        """The hash of the last block; None where there is no dataset. Raises `InvalidHead`."""
        try:
            data = self._store.read(HEAD_KEY, max_bytes=_HEAD_BYTES)
        except ObjectNotFound:
            return None
        except StoredObjectTooLarge as error:
            raise _invalid_head(f"it has {error.extras.get('size')} bytes") from error
        return read_head(data)

    def set_head(self, block_hash: Multihash) -> None:
        self._store.write(HEAD_KEY, str(block_hash).encode("ascii"), size=_HEAD_BYTES)

    def read_block(self, block_hash: Multihash) -> bytes:
        """The bytes of a block, hashed. Raises `ObjectNotFound`, `ObjectHashMismatch`."""
        data = self._store.read(block_key(block_hash), max_bytes=self._limits.block_bytes)
        _check_block(block_hash, data)
        return data

    def write_block(self, block_hash: Multihash, data: bytes, *, settle: bool = True) -> None:
        """Store a block. Raises `ObjectHashMismatch`."""
        _check_block(block_hash, data)
        self._write(block_key(block_hash), data, len(data), settle)

    def block_hashes(self) -> Iterator[Multihash]:
        """All blocks, in no order of meaning; names that are no hash are passed over."""
        for found in self._store.list(BLOCKS_PREFIX):
            block_hash = _hash_of(found.key.removeprefix(BLOCKS_PREFIX))
            if block_hash is not None:
                yield block_hash

    def has_object(self, ref: ObjectRef) -> bool:
        """Whether there is an object of this hash and, if it is known, size; its bytes are not read."""
        found = self._store.stat(object_key(ref))
        return found is not None and ref.size in (None, found.size)

    def open_object(
        self, ref: ObjectRef, *, start: int = 0, end: int | None = None
    ) -> AbstractContextManager[ObjectStream]:
        """As `ObjectStore.open`."""
        return self._store.open(object_key(ref), start=start, end=end)

    def write_object(self, ref: ObjectRef, source: bytes | Readable, *, settle: bool = True) -> None:
        """Store an object whose bytes are checked on their way, before anything is visible.

        Raises `ObjectHashMismatch`, `ObjectSizeMismatch`; `StoredObjectTooLarge` where no size is known.
        """
        stream = readable(source)
        size = ref.size if ref.size is not None else seekable_size(stream)
        verified = VerifiedSource(stream, ref)
        if size is not None:
            self._write(object_key(ref), verified, size, settle)
            return
        copy, size = spooled(verified, max_size=self._limits.object_bytes)
        with copy:
            if size > self._limits.object_bytes:  # reading has stopped there, and with it the check
                raise StoredObjectTooLarge(
                    f"{ref} has more than {self._limits.object_bytes} bytes.",
                    objects=[ref.hash],
                    extras={"limit": self._limits.object_bytes},
                )
            self._write(object_key(ref), copy, size, settle)

    def settle(self) -> None:
        """Make durable and visible what was written with `settle=False`."""
        keys, self._unsettled = self._unsettled, []
        self._store.settle(keys)

    def _write(self, key: str, source: bytes | Readable, size: int, settle: bool) -> None:
        self._store.write(key, source, size=size, settle=settle)
        if not settle:
            self._unsettled.append(key)


def read_head(data: bytes) -> Multihash:
    """The content of `refs/head`: 69 ASCII characters, a canonical SHA3-256 multihash, nothing else."""
    try:
        text = data.decode("ascii")
        found = Multihash.parse(text)
    except (UnicodeDecodeError, InvalidInput) as error:
        raise _invalid_head(f"it holds {data[:100]!r}") from error
    if len(data) != _HEAD_BYTES or str(found) != text:
        raise _invalid_head(f"it holds {data[:100]!r}")
    return found


def _invalid_head(what: str) -> InvalidHead:
    return InvalidHead(
        f"{HEAD_KEY} has to be the {_HEAD_BYTES} characters of a block hash and nothing else, but {what}.",
        objects=[HEAD_KEY],
    )


def _check_block(block_hash: Multihash, data: bytes) -> None:
    found = Multihash.sha3_256(data)
    if found != block_hash:
        raise ObjectHashMismatch(
            f"The block {block_hash} has other bytes than its name says: their hash is {found}.",
            objects=[block_hash],
            extras={"declared": str(block_hash), "actual": str(found)},
        )


def _hash_of(name: str) -> Multihash | None:
    try:
        found = Multihash.parse(name)
    except (InvalidInput, InvalidKey):
        return None
    return found if str(found) == name else None
