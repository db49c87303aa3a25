"""An object of the store as a file that one can seek in: only what is read is moved."""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO, cast

from odf_core.identity import DatasetId, ObjectRef
from odf_core.storage import ObjectNotFound, ObjectStore, dataset_prefix, object_key

_BUFFER_BYTES = 1 << 20


class _Ranges(io.RawIOBase):
    """Each read is a ranged read of the object."""

    def __init__(self, store: ObjectStore, key: str, size: int) -> None:
        self._store, self._key, self._size, self._position = store, key, size, 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = max(0, start + offset)
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), self._size - self._position)
        if wanted <= 0:
            return 0
        filled = 0
        with self._store.open(self._key, start=self._position, end=self._position + wanted) as stream:
            while filled < wanted and (piece := stream.read(wanted - filled)):
                buffer[filled : filled + len(piece)] = piece
                filled += len(piece)
        self._position += filled
        return filled


@contextmanager
def stored_file(store: ObjectStore, dataset_id: DatasetId, ref: ObjectRef) -> Iterator[BinaryIO]:
    """The object of a dataset, for reading. Reads raise `ObjectNotFound`, `StoreUnavailable`."""
    key = dataset_prefix(dataset_id) + object_key(ref)
    found = store.stat(key)
    if found is None:
        raise ObjectNotFound(f"The store has no {ref}.", objects=[ref])
    with io.BufferedReader(_Ranges(store, key, found.size), _BUFFER_BYTES) as file:
        yield cast(BinaryIO, file)
