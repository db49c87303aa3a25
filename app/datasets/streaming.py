"""Bytes from the object store to a client, in pieces: memory is bounded whatever the object's size."""

from collections.abc import AsyncIterator
from contextlib import AbstractContextManager

from anyio import CancelScope, CapacityLimiter, to_thread
from anyio.lowlevel import RunVar
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from app.datasets.conditional import Delivery
from app.datasets.errors import StoredObjectChanged
from odf_core.storage import ObjectStore, ObjectStream

CHUNK_BYTES = 256 * 1024
PARALLEL_READS = 32
"""Reads from the store at one time; more streams take turns, piece by piece."""

_threads_of_loop: RunVar[CapacityLimiter] = RunVar("odf_object_threads")


def _threads() -> CapacityLimiter:
    limiter = _threads_of_loop.get(None)
    if limiter is None:
        limiter = CapacityLimiter(PARALLEL_READS)
        _threads_of_loop.set(limiter)
    return limiter


class OpenObject:
    """An object that is open at the store, positioned at the first of the `length` bytes to send."""

    def __init__(
        self, manager: AbstractContextManager[ObjectStream], stream: ObjectStream, length: int
    ) -> None:
        self._manager, self._stream, self._length = manager, stream, length
        self._closed = False

    async def chunks(self) -> AsyncIterator[bytes]:
        """The bytes; an object that ends early breaks the body off, which the client sees by its length."""
        left = self._length
        while left > 0:
            piece = await to_thread.run_sync(self._stream.read, min(CHUNK_BYTES, left), limiter=_threads())
            if not piece:
                raise StoredObjectChanged(f"The object ended {left} bytes early.")
            left -= len(piece)
            yield piece

    async def close(self) -> None:
        if not self._closed:
            self._closed = True
            with CancelScope(shield=True):  # also when the client left in the middle
                await to_thread.run_sync(self._manager.__exit__, None, None, None, limiter=_threads())


async def open_object(store: ObjectStore, key: str, delivery: Delivery, size: int) -> OpenObject:
    """Open before the answer starts, so that a failure still has a status.

    Raises `ObjectNotFound`, `StoreUnavailable`, and `StoredObjectChanged` where the size differs from
    what was admitted.
    """

    def enter() -> tuple[AbstractContextManager[ObjectStream], ObjectStream]:
        manager = store.open(key, start=delivery.start, end=delivery.end)
        return manager, manager.__enter__()

    manager, stream = await to_thread.run_sync(enter, limiter=_threads())
    opened = OpenObject(manager, stream, delivery.end - delivery.start)
    if stream.size != size:
        await opened.close()
        raise StoredObjectChanged(
            f"The object has {stream.size} bytes in the bucket, but {size} were admitted; "
            "`odf admin reindex` tells what is damaged.",
            objects=[key],
        )
    return opened


class ObjectResponse(StreamingResponse):
    """Streams an open object, and closes it however the answer ends."""

    def __init__(self, opened: OpenObject, delivery: Delivery, media_type: str) -> None:
        super().__init__(
            opened.chunks(),
            status_code=delivery.status,
            headers=dict(delivery.headers),
            media_type=media_type,
        )
        self._opened = opened

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self._opened.close()
