"""One object examined: claimed, hashed, held against every block that names it. Runs in threads.

Promise 3 of the house. Size and SHA3-256 first, then a slice against its block: offsets, records, schema,
and the logical hash of those that `sampling` has chosen.
"""

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import BinaryIO, cast
from uuid import UUID

from app.context import NodeContext
from app.transfer.claims import Claim
from app.transfer.object_urls import ObjectKey, key_of
from odf_core.data import Source, check_logical_hash, check_slice, inspect_slice
from odf_core.errors import OdfError
from odf_core.identity import SHA3_256, DatasetId, Multihash, ObjectRef
from odf_core.sha3 import new_sha3
from odf_core.storage import (
    ClaimedObject,
    ObjectHashMismatch,
    ObjectSizeMismatch,
    ObjectStream,
    dataset_prefix,
    object_key,
    staging_key,
)

PIECE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Pending:
    """An object that the chain needs: every claim about it, and whether the node holds it already."""

    ref: ObjectRef
    claims: tuple[Claim, ...]
    is_known: bool


@dataclass(frozen=True, slots=True)
class Examined:
    """An object that is what its blocks say. It stays claimed until it is let go of."""

    item: Pending
    target: str
    _claimed: ClaimedObject
    _claim: ExitStack

    def publish(self) -> None:
        """Give it its content key, if the node does not hold it yet; `settle` is to follow."""
        if not self.item.is_known:
            self._claimed.publish(self.target, settle=False)

    def let_go(self) -> None:
        """End the claim; a second time nothing happens."""
        self._claim.close()


@dataclass(frozen=True, slots=True)
class Examiner:
    """Examines the objects of one session."""

    context: NodeContext
    dataset_id: DatasetId
    session_id: UUID
    hashed: frozenset[ObjectKey]
    """The slices whose logical hash is recomputed (`sampling`)."""
    hash_threads: int
    """For each object: many objects share the processors, a single large one gets them all."""

    def source_key(self, item: Pending) -> str:
        """Where the object lies before it is admitted."""
        return self._content_key(item.ref) if item.is_known else staging_key(self.session_id, item.ref)

    def _content_key(self, ref: ObjectRef) -> str:
        return dataset_prefix(self.dataset_id) + object_key(ref)

    def examine(self, item: Pending) -> Examined:
        """Check one object against all its claims.

        What is claimed stays what it was while it is checked, whoever still holds an upload address.
        Raises `ObjectNotFound`, `ObjectSizeMismatch`, `ObjectHashMismatch`, the leaves of `check_slice`,
        `StoreUnavailable`.
        """
        with ExitStack() as stack:
            claimed = stack.enter_context(self.context.store.claim(self.source_key(item)))
            with _verified(claimed, item) as source:
                for claim in item.claims:
                    self._check(source, claim)
            return Examined(item, self._content_key(item.ref), claimed, stack.pop_all())

    def _check(self, source: Source, claim: Claim) -> None:
        """A refusal names the slice and its block, beside what the check itself is about."""
        try:
            self._check_slice(source, claim)
        except OdfError as error:
            error.objects = (str(claim.ref), str(claim.block.hash), *error.objects)
            raise

    def _check_slice(self, source: Source, claim: Claim) -> None:
        if claim.data_slice is None:
            return
        limits = self.context.settings.bounds
        facts = inspect_slice(
            source,
            vocab=claim.vocabulary,
            limits=limits,
            hash_rows=limits.slice_rows if key_of(claim.ref) in self.hashed else None,
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
