"""A store in memory: for tests, and for datasets that are made and read in one process."""

import contextlib
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from io import BytesIO

from odf_core.storage.errors import ObjectNotFound
from odf_core.storage.keys import check_key, check_prefix, is_hidden
from odf_core.storage.port import ObjectInfo, Readable
from odf_core.storage.streams import CHUNK_BYTES, BoundedStream, part_of, readable, wrong_size
from odf_core.storage.whole import read_whole


@dataclass(frozen=True, slots=True)
class _Stored:
    data: bytes
    modified: datetime


class MemoryStore:
    """Objects in a dictionary."""

    def __init__(self) -> None:
        self._objects: dict[str, _Stored] = {}
        self._lock = threading.Lock()

    def read(self, key: str, *, max_bytes: int) -> bytes:
        with self.open(key) as stream:
            return read_whole(stream, key, max_bytes)

    def open(self, key: str, *, start: int = 0, end: int | None = None) -> BoundedStream:
        return _open(key, self._stored(key).data, start, end)

    def stat(self, key: str) -> ObjectInfo | None:
        stored = self._objects.get(check_key(key))
        return None if stored is None else ObjectInfo(key, len(stored.data), stored.modified)

    def write(self, key: str, source: bytes | Readable, *, size: int, settle: bool = True) -> None:
        check_key(key)
        data = _exactly(readable(source), size, key)
        self._put(key, data)

    def copy(self, source: str, target: str, *, settle: bool = True) -> None:
        check_key(target)
        self._put(target, self._stored(source).data)

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator["_ClaimedBytes"]:
        yield _ClaimedBytes(self, key, self._stored(key).data)

    def settle(self, keys: Iterable[str]) -> None:
        for key in keys:
            check_key(key)

    def delete(self, keys: Iterable[str]) -> None:
        for key in keys:
            with self._lock:
                self._objects.pop(check_key(key), None)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        check_prefix(prefix)
        with self._lock:
            found = [item for item in self._objects.items() if item[0].startswith(prefix)]
        for key, stored in sorted(found, key=lambda item: item[0].encode()):
            if not is_hidden(key):
                yield ObjectInfo(key, len(stored.data), stored.modified)

    def remove_stranded(self, older_than: timedelta) -> int:
        return 0

    def check(self) -> None:
        """Memory is always there."""

    def _stored(self, key: str) -> _Stored:
        stored = self._objects.get(check_key(key))
        if stored is None:
            raise ObjectNotFound(f"There is no object {key}.", objects=[key])
        return stored

    def _put(self, key: str, data: bytes) -> None:
        with self._lock:
            self._objects[key] = _Stored(data, datetime.now(UTC))


class _ClaimedBytes:
    path = None

    def __init__(self, store: MemoryStore, key: str, data: bytes) -> None:
        self._store, self._data = store, data
        self.key = key
        self.size = len(data)

    def open(self, *, start: int = 0, end: int | None = None) -> BoundedStream:
        return _open(self.key, self._data, start, end)

    def publish(self, target: str, *, settle: bool = True) -> None:
        self._store.write(target, self._data, size=self.size)


def _open(key: str, data: bytes, start: int, end: int | None) -> BoundedStream:
    start, stop = part_of(key, len(data), start, end)
    file = BytesIO(data)
    file.seek(start)
    return BoundedStream(file, key, size=len(data), left=stop - start)


def _exactly(source: Readable, size: int, key: str) -> bytes:
    data = bytearray()
    while chunk := source.read(CHUNK_BYTES):
        data += chunk
        if len(data) > size:
            raise wrong_size(key, size, None)
    if len(data) != size:
        raise wrong_size(key, size, len(data))
    return bytes(data)
