"""The logical hash of record batches: `arrow0-sha3-256`, equal to the reference's RecordDigestV0."""

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import zip_longest
from typing import Any, TypeVar

from odf_core.data.digest.bits import Bits
from odf_core.data.digest.columns import layout_of, leaf_arrays
from odf_core.data.digest.items import encode, pieces
from odf_core.data.digest.lanes import Lane, LanePool, Parts
from odf_core.data.errors import DigestSchemaMismatch
from odf_core.identity import ARROW0_SHA3_256, Multihash
from odf_core.sha3 import are_combined, new_sha3

_COLUMNS_OF_A_LANE = 8

T = TypeVar("T")
_Piece = tuple[Any, Bits | None]


class RecordDigest:
    """A running logical hash (data.md 1.2): made for a schema, fed with batches, finished once.

    Where batches end does not matter but for nullable fields below nullable structs (data.md 1.6).
    `threads` is how many threads make and hash streams (default: one for each processor); with one,
    nothing leaves the caller's thread. Closing (or the `with` statement) ends the threads.
    """

    def __init__(self, schema: Any, *, threads: int | None = None, expected: int = 0) -> None:
        """`expected` says how many bytes may come. Raises `UnsupportedLogicalHashType` where a column has
        no logical hash."""
        self._schema = schema
        self._layout = layout_of(schema)
        prefixes = self._layout.prefixes
        self._hashers = [new_sha3(prefix, expected=expected // max(1, len(prefixes))) for prefix in prefixes]
        self._columns = _COLUMNS_OF_A_LANE if are_combined(self._hashers) else 1
        self._lanes = [Lane(hashers) for hashers in _grouped(self._hashers, self._columns)]
        self._pool = LanePool(self._lanes, threads if threads is not None else os.cpu_count() or 1)

    def update(self, batch: Any) -> None:
        """Hashes a `pa.RecordBatch` of the schema; the batch may still be read when this returns.

        Raises `DigestSchemaMismatch` for other columns, `UnsupportedLogicalHashType` for items of type null.
        """
        self._check_schema(batch.schema)
        for lane, columns in zip(self._lanes, _grouped(list(leaf_arrays(batch)), self._columns), strict=True):
            for row in zip_longest(*(pieces(array, validity) for array, validity in columns)):
                self._pool.submit(lane, partial(_streams, row))

    def finish(self) -> Multihash:
        """The hash of everything given so far; nothing can be added afterwards."""
        self._pool.drain()
        self.close()
        hasher = hashlib.sha3_256(self._layout.header)
        for column in self._hashers:
            hasher.update(column.digest())
        return Multihash(ARROW0_SHA3_256, hasher.digest())

    def close(self) -> None:
        """Ends the threads of a digest that is not wanted any more."""
        self._pool.close()

    def __enter__(self) -> "RecordDigest":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _check_schema(self, schema: Any) -> None:
        if schema is self._schema or schema.equals(self._schema):
            return
        if layout_of(schema) != self._layout:
            raise DigestSchemaMismatch(
                "A record batch has other columns than the digest was started for.",
                objects=[*schema.names],
            )


def _grouped(columns: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    """Consecutive columns, `size` of them at a time."""
    return (columns[start : start + size] for start in range(0, len(columns), size))


def _streams(columns: Sequence[_Piece | None]) -> list[Parts]:
    """The streams of one piece of each column; a column that has ended gives none."""
    return [() if piece is None else encode(*piece).parts for piece in columns]


def logical_hash_batches(
    schema: Any, batches: Iterable[Any], *, threads: int | None = None, expected: int = 0
) -> Multihash:
    """The logical hash of record batches of one schema; parameters and errors as `RecordDigest` has them."""
    with RecordDigest(schema, threads=threads, expected=expected) as digest:
        for batch in batches:
            digest.update(batch)
        return digest.finish()
