"""A view of one folder of a store, as a store."""

import contextlib
from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from odf_core.storage.keys import check_folder, check_key, check_prefix
from odf_core.storage.port import ClaimedObject, ObjectInfo, ObjectStore, ObjectStream, Readable


class PrefixStore:
    """`store` below `prefix`, which is '' or ends in '/'; errors name the keys of `store`."""

    def __init__(self, store: ObjectStore, prefix: str) -> None:
        self._store = store
        self._prefix = check_folder(prefix)

    def read(self, key: str, *, max_bytes: int) -> bytes:
        return self._store.read(self._full(key), max_bytes=max_bytes)

    def open(
        self, key: str, *, start: int = 0, end: int | None = None
    ) -> AbstractContextManager[ObjectStream]:
        return self._store.open(self._full(key), start=start, end=end)

    def stat(self, key: str) -> ObjectInfo | None:
        found = self._store.stat(self._full(key))
        return None if found is None else replace(found, key=key)

    def write(self, key: str, source: bytes | Readable, *, size: int, settle: bool = True) -> None:
        self._store.write(self._full(key), source, size=size, settle=settle)

    def copy(self, source: str, target: str, *, settle: bool = True) -> None:
        self._store.copy(self._full(source), self._full(target), settle=settle)

    @contextlib.contextmanager
    def claim(self, key: str) -> Iterator["_ClaimedBelow"]:
        with self._store.claim(self._full(key)) as claimed:
            yield _ClaimedBelow(self, claimed, key)

    def settle(self, keys: Iterable[str]) -> None:
        self._store.settle([self._full(key) for key in keys])

    def delete(self, keys: Iterable[str]) -> None:
        self._store.delete(self._full(key) for key in keys)

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        for found in self._store.list(self._prefix + check_prefix(prefix)):
            yield replace(found, key=found.key[len(self._prefix) :])

    def remove_stranded(self, older_than: timedelta) -> int:
        return self._store.remove_stranded(older_than)

    def check(self) -> None:
        self._store.check()

    def _full(self, key: str) -> str:
        return self._prefix + check_key(key)


class _ClaimedBelow:
    """A claim whose targets are keys of the view."""

    def __init__(self, view: PrefixStore, claimed: ClaimedObject, key: str) -> None:
        self._view, self._claimed = view, claimed
        self.key = key

    @property
    def size(self) -> int:
        return self._claimed.size

    @property
    def path(self) -> Path | None:
        return self._claimed.path

    def open(self, *, start: int = 0, end: int | None = None) -> AbstractContextManager[ObjectStream]:
        return self._claimed.open(start=start, end=end)

    def publish(self, target: str, *, settle: bool = True) -> None:
        self._claimed.publish(self._view._full(target), settle=settle)
