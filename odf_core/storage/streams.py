"""Reading: bounded streams over files, hashing while streaming, sources of unknown length."""

import hashlib
import tempfile
from io import BytesIO, UnsupportedOperation
from types import TracebackType
from typing import IO, Protocol, Self, cast

from odf_core.errors import IntegrityError
from odf_core.identity import SHA3_256, Multihash, ObjectRef
from odf_core.limits import MiB
from odf_core.sha3 import new_sha3
from odf_core.storage.errors import InvalidRange, ObjectHashMismatch, ObjectSizeMismatch, StoreUnavailable
from odf_core.storage.port import Readable

CHUNK_BYTES = 1 * MiB
_SPOOL_BYTES = 8 * MiB


class _Closable(Readable, Protocol):
    def close(self) -> None: ...


class BoundedStream:
    """An `ObjectStream` over the next `left` bytes of `file`; whole objects have `size` bytes."""

    def __init__(self, file: _Closable, key: str, *, size: int, left: int) -> None:
        self._file = file
        self._key = key
        self._size = size
        self._left = left

    @property
    def size(self) -> int:
        return self._size

    def read(self, n: int = -1, /) -> bytes:
        if n < 0:
            return b"".join(iter(lambda: self.read(CHUNK_BYTES), b""))
        wanted = min(n, self._left)
        if wanted == 0:
            return b""
        data = self._read(wanted)
        if not data:
            raise StoreUnavailable(
                f"The store broke off {self._left} bytes before the end of {self._key}.", objects=[self._key]
            )
        self._left -= len(data)
        return data

    def _read(self, n: int) -> bytes:
        try:
            return self._file.read(n)
        except OSError as error:
            raise StoreUnavailable(
                f"{self._key} cannot be read on: {error.strerror or error}.", objects=[self._key]
            ) from error

    def close(self) -> None:
        self._file.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None, /
    ) -> None:
        self.close()


def part_of(key: str, size: int, start: int, end: int | None) -> tuple[int, int]:
    """The part [start, end) of an object of `size` bytes, cut at its end. Raises `InvalidRange`."""
    whole = start == 0 and end is None
    stop = size if end is None else min(end, size)
    if not whole and not 0 <= start < stop:
        raise InvalidRange(
            f"{key} has {size} bytes: there is no part from {start} to {'its end' if end is None else end}.",
            objects=[key],
            extras={"size": size},
        )
    return start, stop


def hash_stream(stream: Readable, chunk_bytes: int = CHUNK_BYTES) -> tuple[Multihash, int]:
    """SHA3-256 and size in bytes of what is left in `stream`, in constant memory."""
    digest = new_sha3(expected=chunk_bytes)
    size = 0
    while chunk := stream.read(chunk_bytes):
        digest.update(chunk)
        size += len(chunk)
    return Multihash(SHA3_256, digest.digest()), size


def mismatch(ref: ObjectRef, found: Multihash, size: int) -> IntegrityError | None:
    """The error that says how bytes differ from what `ref` declares, None where they do not."""
    if ref.size is not None and size != ref.size:
        return ObjectSizeMismatch(
            f"{ref} was declared with {ref.size} bytes, but has {size}.",
            objects=[ref.hash],
            extras={"declared": ref.size, "actual": size},
        )
    if found != ref.hash:
        return ObjectHashMismatch(
            f"{ref} has other bytes than its name says: their hash is {found}.",
            objects=[ref.hash],
            extras={"declared": str(ref.hash), "actual": str(found)},
        )
    return None


class VerifiedSource:
    """Reads `source` through, and raises at its end if it was not what `ref` declares.

    Given to `ObjectStore.write`, the error comes before anything is visible.
    """

    def __init__(self, source: Readable, ref: ObjectRef) -> None:
        self._source = source
        self._ref = ref
        self._digest = hashlib.sha3_256()
        self._size = 0

    def read(self, n: int = -1, /) -> bytes:
        data = self._source.read(n)
        self._digest.update(data)
        self._size += len(data)
        too_many = self._ref.size is not None and self._size > self._ref.size
        if too_many or (not data and n != 0) or n < 0:
            error = mismatch(self._ref, Multihash(SHA3_256, self._digest.digest()), self._size)
            if error is not None:
                raise error
        return data


def seekable_size(source: Readable) -> int | None:
    """Bytes from the present position of `source` to its end, None where it cannot go back."""
    file = cast("IO[bytes]", source)
    try:
        position = file.tell()
        end = file.seek(0, 2)
        file.seek(position)
    except (AttributeError, UnsupportedOperation, OSError):
        return None
    return end - position


def spooled(source: Readable, *, max_size: int | None = None) -> tuple[IO[bytes], int]:
    """A copy of `source` to go back in, from its beginning, and its size; beyond 8 MiB on disk.

    Reading stops once there are more than `max_size` bytes, which the size then shows.
    """
    copy = tempfile.SpooledTemporaryFile(max_size=_SPOOL_BYTES)  # noqa: SIM115 - the caller closes it
    size = 0
    try:
        while chunk := source.read(CHUNK_BYTES):
            copy.write(chunk)
            size += len(chunk)
            if max_size is not None and size > max_size:
                break
        copy.seek(0)
    except BaseException:
        copy.close()
        raise
    return cast("IO[bytes]", copy), size


def readable(source: bytes | Readable) -> Readable:
    return BytesIO(source) if isinstance(source, (bytes, bytearray, memoryview)) else source


def wrong_size(key: str, declared: int, actual: int | None) -> ObjectSizeMismatch:
    """The error of a write whose source has another size than was said; None: more than declared."""
    found = "more" if actual is None else str(actual)
    return ObjectSizeMismatch(
        f"{key} was to be written with {declared} bytes, but its source has {found}.",
        objects=[key],
        extras={"declared": declared, "actual": actual},
    )
