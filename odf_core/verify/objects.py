"""One object held against its block: presence, size, SHA3-256, and for a slice everything it claims."""

import os
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO, BinaryIO, cast

from odf_core.data import (
    UnsupportedLogicalHashType,
    check_logical_hash,
    check_slice,
    inspect_slice,
)
from odf_core.errors import OdfError
from odf_core.identity import SHA3_256, Multihash
from odf_core.limits import MiB
from odf_core.sha3 import new_sha3
from odf_core.storage import ObjectHashMismatch, ObjectSizeMismatch, ObjectStream
from odf_core.verify.chain_walk import Claim
from odf_core.verify.findings import Finding, Severity
from odf_core.verify.options import VerifyOptions
from odf_core.verify.port import VerifiableDataset
from odf_core.verify.trouble import raise_if_trouble

_CHUNK_BYTES = MiB
_IN_MEMORY_BYTES = 8 * MiB


@dataclass(frozen=True, slots=True)
class ObjectVerdict:
    """The findings about one object and how many of its bytes were read."""

    findings: tuple[Finding, ...]
    bytes: int


def check_object(dataset: VerifiableDataset, claim: Claim, options: VerifyOptions) -> ObjectVerdict:
    """Reads one object once, in bounded memory (a larger slice waits in a temporary file).

    Raises only what tells nothing about the object (`raise_if_trouble`).
    """
    check = _ObjectCheck(dataset, claim, options)
    try:
        findings = tuple(check.findings())
    except OdfError as error:
        raise_if_trouble(error)
        findings = (Finding.of_error(error, block=claim.block, about=claim.ref.hash),)
    return ObjectVerdict(findings, check.bytes)


class _ObjectCheck:
    def __init__(self, dataset: VerifiableDataset, claim: Claim, options: VerifyOptions) -> None:
        self._dataset = dataset
        self._claim = claim
        self._options = options
        self.bytes = 0

    def findings(self) -> Iterator[Finding]:
        """Raises the first thing that makes further checks meaningless; gives what is found after it."""
        ref = self._claim.ref
        with ExitStack() as stack:
            stream = stack.enter_context(self._dataset.open_object(ref))
            if stream.size != ref.size:
                raise ObjectSizeMismatch(
                    f"{ref} has {stream.size} bytes, but its block declares {ref.size}.",
                    objects=[ref.hash],
                    extras={"declared": ref.size, "actual": stream.size},
                )
            if self._options.check_size_only:
                return
            copy = None
            if self._claim.data_slice is not None:
                copy = stack.enter_context(tempfile.SpooledTemporaryFile(max_size=_IN_MEMORY_BYTES))
            self._check_bytes(stream, copy)
            if copy is not None:
                yield from self._slice_findings(cast("BinaryIO", copy))

    def _check_bytes(self, stream: ObjectStream, copy: IO[bytes] | None) -> None:
        ref = self._claim.ref
        hasher = new_sha3(expected=ref.size or _CHUNK_BYTES)
        while chunk := stream.read(_CHUNK_BYTES):
            self.bytes += len(chunk)
            hasher.update(chunk)
            if copy is not None:
                copy.write(chunk)
        found = Multihash(SHA3_256, hasher.digest())
        if found != ref.hash:
            raise ObjectHashMismatch(
                f"{ref} has other bytes than its name says: their hash is {found}.",
                objects=[ref.hash],
                extras={"declared": str(ref.hash), "actual": str(found)},
            )

    def _slice_findings(self, copy: BinaryIO) -> Iterator[Finding]:
        claim, limits = self._claim, self._options.limits
        assert claim.data_slice is not None
        if not (claim.is_in_context or self._options.logical_hash):
            return
        facts = inspect_slice(
            copy,
            vocab=claim.vocabulary,
            limits=limits,
            hash_rows=limits.slice_rows if self._options.logical_hash else None,
            threads=max(1, (os.cpu_count() or 1) // self._options.parallelism),
        )
        if claim.is_in_context:
            try:
                check_slice(facts, claim.data_slice, claim.schema, claim.vocabulary)
            except OdfError as error:
                raise_if_trouble(error)
                yield Finding.of_error(error, block=claim.block, about=claim.ref.hash)
        try:
            check_logical_hash(facts, claim.data_slice.logical_hash)
        except UnsupportedLogicalHashType as error:
            yield Finding(
                error.code, Severity.WARNING, error.message, (str(claim.ref.hash),), str(claim.block)
            )
