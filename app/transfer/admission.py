"""Admission: an object becomes part of a dataset only after the node has read it and found it true.

Promise 3 of the house. Size and SHA3-256 first, then a slice against its block (offsets, records, schema,
and the logical hash as `admission.logical_hash` says), then promotion to the content key, then the row
that makes the object known. What is refused stays in staging, where nobody reads it.
"""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from typing import BinaryIO, cast
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
from odf_core.data import Source, check_logical_hash, check_slice, inspect_slice
from odf_core.errors import OdfError
from odf_core.identity import SHA3_256, DatasetId, Multihash, ObjectRef
from odf_core.sha3 import new_sha3
from odf_core.storage import (
    ClaimedObject,
    ObjectHashMismatch,
    ObjectNotFound,
    ObjectSizeMismatch,
    ObjectStream,
    dataset_prefix,
    object_key,
    staging_key,
)
from odf_core.transfer.errors import ObjectsMissing

log = structlog.get_logger(__name__)

SHOWN_OBJECTS = 20
PIECE_BYTES = 1 << 20


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
    at_once = max(1, min(len(pending), context.settings.admission.parallelism))
    hash_threads = max(1, (os.cpu_count() or 1) // at_once)
    worker = AdmissionWorker(context, dataset_id, session_id, hash_threads)
    verdict = await _examine(worker, pending)
    admitted = [item.ref for item in verdict.passed if not item.is_known]
    if admitted:
        keys = [worker.content_key(ref) for ref in admitted]
        await anyio.to_thread.run_sync(context.store.settle, keys)
        await _remember(context, dataset_id, admitted)
    if verdict.failure is not None:
        raise verdict.failure
    if verdict.missing:
        raise ObjectsMissing(
            f"{len(verdict.missing)} of the push's objects were not uploaded; send them and complete again.",
            objects=verdict.missing[:SHOWN_OBJECTS],
        )


@dataclass(slots=True)
class Verdict:
    """What became of the objects; after the first failure the rest is not looked at."""

    passed: list[Pending] = field(default_factory=list)
    missing: list[ObjectRef] = field(default_factory=list)
    failure: OdfError | None = None


async def _examine(worker: "AdmissionWorker", pending: list[Pending]) -> Verdict:
    """All objects, `admission.parallelism` at a time."""
    verdict = Verdict()
    waiting = iter(pending)

    async def examine_next() -> None:
        for item in waiting:
            if verdict.failure is not None:
                return
            try:
                await anyio.to_thread.run_sync(worker.admit, item)
            except ObjectNotFound:
                verdict.missing.append(item.ref)
            except OdfError as error:
                verdict.failure = verdict.failure or error
            else:
                verdict.passed.append(item)

    async with anyio.create_task_group() as group:
        for _ in range(worker.context.settings.admission.parallelism):
            group.start_soon(examine_next)
    return verdict


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


async def _remember(context: NodeContext, dataset_id: DatasetId, refs: list[ObjectRef]) -> None:
    rows = [
        {
            "dataset_id": dataset_id.multibase,
            "kind": ref.kind.value,
            "hash": ref.hash.to_bytes(),
            "size": ref.size,
        }
        for ref in refs
    ]
    async with begin(context.engine) as conn:
        await conn.execute(insert(StoredObject).on_conflict_do_nothing(), rows)


@dataclass(frozen=True, slots=True)
class AdmissionWorker:
    """The part that runs in threads: bytes in, a verdict out."""

    context: NodeContext
    dataset_id: DatasetId
    session_id: UUID
    hash_threads: int
    """For each object: many objects share the processors, a single large one gets them all."""

    def content_key(self, ref: ObjectRef) -> str:
        return dataset_prefix(self.dataset_id) + object_key(ref)

    def admit(self, item: Pending) -> None:
        """Check one object against all its claims, and publish it where the node had not held it.

        What is claimed stays what it was while it is checked, whoever still holds an upload address.
        """
        source = self.content_key(item.ref) if item.is_known else staging_key(self.session_id, item.ref)
        with self.context.store.claim(source) as claimed, _verified(claimed, item) as file:
            for claim in item.claims:
                self._check(file, claim)
            if not item.is_known:
                claimed.publish(self.content_key(item.ref), settle=False)

    def _check(self, file: Source, claim: Claim) -> None:
        """A refusal names the slice and its block, beside what the check itself is about."""
        try:
            self._check_slice(file, claim)
        except OdfError as error:
            error.objects = (str(claim.ref), str(claim.block.hash), *error.objects)
            raise

    def _check_slice(self, file: Source, claim: Claim) -> None:
        if claim.data_slice is None:
            return
        limits, admission = self.context.settings.limits, self.context.settings.admission
        hash_rows = {"off": None, "sample": admission.sample_rows, "on": limits.slice_rows}
        facts = inspect_slice(
            file,
            vocab=claim.vocabulary,
            limits=limits,
            hash_rows=hash_rows[admission.logical_hash],
            threads=self.hash_threads,
        )
        check_slice(facts, claim.data_slice, claim.schema, claim.vocabulary)
        check_logical_hash(facts, claim.data_slice.logical_hash)


@contextmanager
def _verified(claimed: ClaimedObject, item: Pending) -> Iterator[Source]:
    """The claimed bytes, hashed on the way: the local file itself where there is one, else a copy.

    Raises `ObjectSizeMismatch` and `ObjectHashMismatch`.
    """
    for claim in item.claims:
        if claim.ref.size != claimed.size:
            raise ObjectSizeMismatch(
                f"{item.ref} has {claimed.size} bytes, but its block declares {claim.ref.size}.",
                objects=[item.ref, claim.block.hash],
            )
    with ExitStack() as stack:
        stream = stack.enter_context(claimed.open())
        copy: BinaryIO | None = None
        if claimed.path is None:
            copy = stack.enter_context(tempfile.TemporaryFile(prefix="odf-admission-"))
        found = _hash(stream, claimed.size, copy)
        if found != item.ref.hash:
            raise ObjectHashMismatch(
                f"The bytes sent as {item.ref} have the hash {found}.",
                objects=[item.ref],
                extras={"found": str(found)},
            )
        yield claimed.path if claimed.path is not None else cast(BinaryIO, copy)


def _hash(stream: ObjectStream, size: int, copy: BinaryIO | None) -> Multihash:
    hasher = new_sha3(expected=size)
    while piece := stream.read(PIECE_BYTES):
        hasher.update(piece)
        if copy is not None:
            copy.write(piece)
    return Multihash(SHA3_256, hasher.digest())
