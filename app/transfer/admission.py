"""Admission: an object becomes part of a dataset only after the node has read it and found it true.

Promise 3 of the house. Objects are examined as they arrive, while others are still being uploaded; nothing
is published before the client has completed its push. Then the rest is examined, what passed is promoted
to its content key, and rows make it known. What is refused stays in staging, where nobody reads it.
"""

import asyncio
import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

import anyio
import anyio.to_thread
import structlog
from sqlalchemy.dialects.postgresql import insert

from app.context import NodeContext
from app.database import begin, connect
from app.datasets.tables import StoredObject
from app.transfer.chain_index import known_objects
from app.transfer.claims import Claim, Intake
from app.transfer.examination import Examined, Examiner, Pending
from app.transfer.object_urls import ObjectKey, key_of
from app.transfer.sampling import slices_to_hash
from odf_core.errors import OdfError
from odf_core.identity import DatasetId, ObjectRef
from odf_core.storage import ObjectNotFound, session_prefix, staging_key
from odf_core.transfer.errors import ObjectsMissing

log = structlog.get_logger(__name__)

SHOWN_OBJECTS = 20
T = TypeVar("T")


@dataclass(slots=True)
class Verdict:
    """What is wrong with the objects; after the first failure the rest is not looked at."""

    missing: list[ObjectRef] = field(default_factory=list)
    failure: OdfError | None = None


class Admission:
    """The objects that the blocks of one push name, from their uploads to their content keys."""

    def __init__(self, context: NodeContext, dataset_id: DatasetId, session_id: UUID, intake: Intake) -> None:
        self._context = context
        self._dataset_id = dataset_id
        self._session_id = session_id
        self._settings = context.settings.admission
        self._claims: dict[ObjectKey, list[Claim]] = {}
        for claim in intake.claims:
            self._claims.setdefault(key_of(claim.ref), []).append(claim)
        at_once = max(1, min(len(self._claims), self._settings.parallelism))
        hash_threads = max(1, (os.cpu_count() or 1) // at_once)
        hashed = slices_to_hash(intake.claims, self._settings)
        self._examiner = Examiner(context, dataset_id, session_id, hashed, hash_threads)
        self._examined: dict[ObjectKey, Examined] = {}
        refs = [claims[0].ref for claims in self._claims.values()]
        self._sizes = {staging_key(session_id, ref): ref.size for ref in refs}
        self._ahead: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to examine what is uploaded already; calls after the first change nothing."""
        if self._ahead is None and self._settings.look_ahead_seconds and self._claims:
            self._ahead = asyncio.create_task(self._look_ahead())

    async def complete(self) -> None:
        """Examine what is left, and publish everything.

        Raises `ObjectsMissing` (naming them), what `Examiner.examine` raises, `DatabaseUnavailable`.
        Objects that passed stay admitted, so that the next push need not send them again; the dataset
        is unchanged.
        """
        await self._stop_looking()
        verdict = await self._examine(await self._pending())
        await self._publish()
        if verdict.failure is not None:
            raise verdict.failure
        if verdict.missing:
            raise ObjectsMissing(
                f"{len(verdict.missing)} of the push's objects were not uploaded; send them and complete "
                "again.",
                objects=verdict.missing[:SHOWN_OBJECTS],
            )

    async def aclose(self) -> None:
        """Let go of everything that was not published."""
        await self._stop_looking()
        await self._let_go()

    async def _stop_looking(self) -> None:
        ahead, self._ahead = self._ahead, None
        if ahead is None:
            return
        ahead.cancel()
        (ended,) = await asyncio.gather(ahead, return_exceptions=True)
        if isinstance(ended, Exception):  # a fault of ours; `complete` does without what was done ahead
            log.error("looking_ahead_failed", exc_info=ended)

    async def _look_ahead(self) -> None:
        """Examine uploads as they arrive. What fails is left to `complete`: it may be sent once more."""
        waiting: dict[str, Pending] | None = None
        while True:
            try:
                if waiting is None:
                    waiting = {self._examiner.source_key(item): item for item in await self._pending()}
                arrived = await anyio.to_thread.run_sync(self._arrived)
                ready = [key for key, item in waiting.items() if item.is_known or key in arrived]
                verdict = await self._examine(waiting.pop(key) for key in ready)
                if verdict.failure is not None:
                    log.info("admission_put_off", code=verdict.failure.code)
            except OdfError as error:
                log.info("admission_put_off", code=error.code)
            await asyncio.sleep(self._settings.look_ahead_seconds)

    def _arrived(self) -> set[str]:
        """Staging keys of uploads that are there with the size that their blocks declare."""
        uploaded = self._context.store.list(session_prefix(self._session_id))
        return {found.key for found in uploaded if self._sizes.get(found.key) == found.size}

    async def _pending(self) -> list[Pending]:
        """What was not examined yet."""
        left = {key: claims for key, claims in self._claims.items() if key not in self._examined}
        async with connect(self._context.engine) as conn:
            known = await known_objects(conn, self._dataset_id, {key[1] for key in left})
        return [
            Pending(claims[0].ref, tuple(claims), key in known)
            for key, claims in left.items()
            # A known checkpoint has nothing more to be held against; a slice has its new block.
            if key not in known or any(claim.data_slice is not None for claim in claims)
        ]

    async def _examine(self, items: Iterable[Pending]) -> Verdict:
        verdict = Verdict()

        def examine(item: Pending) -> None:
            try:
                self._examined[key_of(item.ref)] = self._examiner.examine(item)
            except ObjectNotFound:
                verdict.missing.append(item.ref)

        verdict.failure = await self._in_threads(examine, items)
        return verdict

    async def _publish(self) -> None:
        """Promote what was examined, have the store settle it, and only then make it known."""
        new = [examined for examined in self._examined.values() if not examined.item.is_known]
        failure = await self._in_threads(Examined.publish, new)
        if failure is not None:
            raise failure
        if new:
            await anyio.to_thread.run_sync(self._context.store.settle, [examined.target for examined in new])
            await self._remember([examined.item.ref for examined in new])
        await self._let_go()

    async def _remember(self, refs: Iterable[ObjectRef]) -> None:
        rows = [
            {
                "dataset_id": self._dataset_id.multibase,
                "kind": ref.kind.value,
                "hash": ref.hash.to_bytes(),
                "size": ref.size,
            }
            for ref in refs
        ]
        async with begin(self._context.engine) as conn:
            await conn.execute(insert(StoredObject).on_conflict_do_nothing(), rows)

    async def _let_go(self) -> None:
        """End all claims; what is left of one that cannot be ended now is swept later."""
        examined, self._examined = self._examined, {}
        failure = await self._in_threads(Examined.let_go, examined.values())
        if failure is not None:
            log.warning("claims_left", code=failure.code, session_id=str(self._session_id))

    async def _in_threads(self, work: Callable[[T], None], items: Iterable[T]) -> OdfError | None:
        """`work` on every item, `admission.parallelism` at a time; the first failure ends it."""
        failures: list[OdfError] = []
        waiting = iter(items)

        async def work_on_next() -> None:
            for item in waiting:
                if failures:
                    return
                try:
                    await anyio.to_thread.run_sync(work, item)
                except OdfError as error:
                    failures.append(error)

        async with anyio.create_task_group() as group:
            for _ in range(self._settings.parallelism):
                group.start_soon(work_on_next)
        return failures[0] if failures else None
