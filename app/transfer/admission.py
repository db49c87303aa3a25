"""Admission: an object becomes part of a dataset only after the node has read it and found it true.

Promise 3 of the house. Size and SHA3-256 first, then a slice against its block (offsets, records, schema,
and the logical hash as `admission.logical_hash` says), then promotion to the content key, then the row
that makes the object known. What is refused stays in staging, where nobody reads it.
"""

import shutil
import tempfile
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, cast
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
from app.transfer.object_urls import ObjectKey, key_of
from odf_core.data import check_logical_hash, check_slice, inspect_slice
from odf_core.errors import OdfError
from odf_core.identity import DatasetId, ObjectRef
from odf_core.storage import ObjectNotFound, StagedObject, dataset_prefix, object_key, staging_key
from odf_core.transfer.errors import ObjectsMissing

log = structlog.get_logger(__name__)

SHOWN_OBJECTS = 20


@dataclass(frozen=True, slots=True)
class Pending:
    """An object that the chain needs: every claim about it, and whether the node holds it already."""

    ref: ObjectRef
    claims: tuple[Claim, ...]
    is_known: bool


async def admit(context: NodeContext, dataset_id: DatasetId, session_id: UUID, intake: Intake) -> None:
    """Read, check and promote every object that the blocks of `intake` name.

    Raises `ObjectsMissing` (naming them), `ObjectSizeMismatch`, `ObjectHashMismatch`, the leaves of
    `check_slice`, `StoreUnavailable`, `DatabaseUnavailable`. Objects that passed stay admitted, so that
    the next push need not send them again; the dataset is unchanged.
    """
    pending = await _pending(context, dataset_id, intake)
    limiter = anyio.CapacityLimiter(context.settings.admission.parallelism)
    worker = AdmissionWorker(context, dataset_id, session_id)
    missing: list[ObjectRef] = []
    failures: list[OdfError] = []

    async def run(item: Pending) -> None:
        if failures:
            return
        try:
            await anyio.to_thread.run_sync(worker.admit, item, limiter=limiter)
        except ObjectNotFound:
            missing.append(item.ref)
        except OdfError as error:
            failures.append(error)
        else:
            if not item.is_known:
                await _remember(context, dataset_id, item.ref)

    async with anyio.create_task_group() as group:
        for item in pending:
            group.start_soon(run, item)
    if failures:
        raise failures[0]
    if missing:
        raise ObjectsMissing(
            f"{len(missing)} of the push's objects were not uploaded; send them and complete again.",
            objects=missing[:SHOWN_OBJECTS],
        )


async def _pending(context: NodeContext, dataset_id: DatasetId, intake: Intake) -> list[Pending]:
    by_key: dict[ObjectKey, list[Claim]] = {}
    for claim in intake.claims:
        by_key.setdefault(key_of(claim.ref), []).append(claim)
    async with connect(context.engine) as conn:
        known = await known_objects(conn, dataset_id, {key[1] for key in by_key})
    return [
        Pending(claims[0].ref, tuple(claims), key in known)
        for key, claims in by_key.items()
        # A known checkpoint has nothing more to be held against; a slice has its new block.
        if key not in known or any(claim.data_slice is not None for claim in claims)
    ]


async def _remember(context: NodeContext, dataset_id: DatasetId, ref: ObjectRef) -> None:
    row = insert(StoredObject).values(
        dataset_id=dataset_id.multibase, kind=ref.kind.value, hash=ref.hash.to_bytes(), size=ref.size
    )
    async with begin(context.engine) as conn:
        await conn.execute(row.on_conflict_do_nothing())


@dataclass(frozen=True, slots=True)
class AdmissionWorker:
    """The part that runs in threads: bytes in, a verdict out."""

    context: NodeContext
    dataset_id: DatasetId
    session_id: UUID

    def admit(self, item: Pending) -> None:
        """Check one object against all its claims, and promote it where the node had not held it."""
        content_key = dataset_prefix(self.dataset_id) + object_key(item.ref)
        if item.is_known:
            with self.context.store.open(content_key) as stream, _spooled(stream) as file:
                self._check_claims(file, item.claims)
            return
        staged = StagedObject.open(self.context.store, staging_key(self.session_id, item.ref), item.ref)
        with staged, staged.verified() as file:
            self._check_claims(file, item.claims)
            staged.promote(content_key)

    def _check_claims(self, file: IO[bytes], claims: Iterable[Claim]) -> None:
        settings = self.context.settings
        for claim in claims:
            if claim.data_slice is None:
                continue
            facts = inspect_slice(file, vocabulary=claim.vocabulary, limits=settings.limits)
            check_slice(facts, claim.data_slice, claim.schema, claim.vocabulary)
            mode = settings.admission.logical_hash
            if mode == "on" or (mode == "sample" and facts.num_rows <= settings.admission.sample_rows):
                check_logical_hash(file, claim.data_slice.logical_hash)


def _spooled(stream: object) -> IO[bytes]:
    with ExitStack() as stack:
        file = stack.enter_context(tempfile.TemporaryFile(prefix="odf-admission-"))
        shutil.copyfileobj(cast(IO[bytes], stream), file)
        file.seek(0)
        stack.pop_all()
        return file
