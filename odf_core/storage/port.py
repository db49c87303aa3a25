"""The port to object stores: whole immutable byte strings under '/'-separated keys.

All calls are synchronous and may come from several threads at once. Implementations: `DirectoryStore`,
`MemoryStore`, `S3Store`, `EmbeddedS3Store`; `PrefixStore` is a view of one of them.
"""

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self


@dataclass(frozen=True, slots=True)
class ObjectInfo:
    """What a listing tells: `size` in bytes, `modified` in UTC (whole seconds on some stores)."""

    key: str
    size: int
    modified: datetime | None


class Readable(Protocol):
    """Anything to read bytes from until b''."""

    def read(self, n: int = -1, /) -> bytes: ...


class ObjectStream(Protocol):
    """An object or a part of it while it is read; a context manager."""

    @property
    def size(self) -> int:
        """Bytes of the *whole* object."""

    def read(self, n: int = -1, /) -> bytes:
        """1 to `n` bytes, b'' at the end only; all that is left for a negative `n`.

        Raises `StoreUnavailable` where the object breaks off before its end.
        """

    def close(self) -> None: ...

    def __enter__(self) -> Self: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None: ...


class ClaimedObject(Protocol):
    """The bytes that a key had at one moment: later writes to the key do not change them.

    What was checked is what gets published, although the uploader's URL is still valid.
    """

    @property
    def key(self) -> str: ...

    @property
    def size(self) -> int: ...

    @property
    def path(self) -> Path | None:
        """A local file with these bytes where there is one; for reading only, while the claim lasts."""

    def open(self, *, start: int = 0, end: int | None = None) -> AbstractContextManager[ObjectStream]:
        """As `ObjectStore.open`."""

    def publish(self, target: str, *, settle: bool = True) -> None:
        """Make `target` these bytes, atomically; what it was before is replaced."""


class ObjectStore(Protocol):
    """Every method raises `InvalidKey`, `StoreUnavailable` and `StoreAccessDenied` where it applies."""

    def read(self, key: str, *, max_bytes: int) -> bytes:
        """The whole object. Raises `ObjectNotFound`, `StoredObjectTooLarge`."""

    def open(
        self, key: str, *, start: int = 0, end: int | None = None
    ) -> AbstractContextManager[ObjectStream]:
        """The object from byte `start` to before `end` (cut at its size).

        Raises `ObjectNotFound`; `InvalidRange` where a part was asked for and `start` is not before
        the object's end, or `end` not behind `start`.
        """

    def stat(self, key: str) -> ObjectInfo | None: ...

    def write(self, key: str, source: bytes | Readable, *, size: int, settle: bool = True) -> None:
        """Store `size` bytes; atomic, visible only whole, replaces what was there.

        Raises `ObjectSizeMismatch` if the source has another size; then nothing has changed. With
        `settle` false the object is durable and visible to everybody only after `settle([key])`.
        """

    def copy(self, source: str, target: str, *, settle: bool = True) -> None:
        """Make `target` what `source` is, without moving bytes through this program if that can be.

        Raises `ObjectNotFound`.
        """

    def claim(self, key: str) -> AbstractContextManager[ClaimedObject]:
        """Hold the present bytes of `key` fast while they are checked. Raises `ObjectNotFound`."""

    def settle(self, keys: Iterable[str]) -> None:
        """Make what was written with `settle=False` durable, and visible to holders of presigned URLs.

        One call for many keys is much cheaper than one each. To be called before anything that
        refers to the keys is acknowledged.
        """

    def delete(self, keys: Iterable[str]) -> None:
        """Remove the objects; missing ones are fine."""

    def list(self, prefix: str) -> Iterator[ObjectInfo]:
        """All objects whose keys begin with `prefix`, in byte order of their keys, hidden ones left out."""

    def remove_stranded(self, older_than: timedelta) -> int:
        """Remove what killed writers left half-made; how many. Objects are never touched."""

    def check(self) -> None:
        """Return if the store answers and lets this program in; raises what hinders it."""
