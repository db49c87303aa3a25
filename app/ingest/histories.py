"""Histories of the node's datasets, each process remembering the slices that it has read from the index.

A chain of 20,000 blocks takes seconds to decode; what has been decoded once is true for ever, as long as the
block that it ends with is in the chain. So only blocks after that one are read again.
"""

import sys
from dataclasses import dataclass

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncConnection

from app.datasets.model import DatasetInfo
from app.remembered import Remembered
from app.transfer.chain_index import Head, find_interval, read_blocks, read_key_blocks
from odf_core.identity import Multihash, ObjectKind, ObjectRef
from odf_core.ingest.history import History, new_slice
from odf_core.limits import Limits
from odf_core.metadata import StoredBlock, read_block

MOST_SLICES = 200_000
"""Slices that a process remembers, of all datasets together."""


@dataclass(frozen=True, slots=True)
class _Known:
    """The slices of a dataset up to the block `head`."""

    head: Multihash
    slices: tuple[ObjectRef, ...]


_remembered = Remembered[_Known]("odf_known_slices", lambda known: len(known.slices), MOST_SLICES)


async def read_history(
    conn: AsyncConnection, dataset: DatasetInfo, limits: Limits
) -> tuple[History, tuple[StoredBlock, ...]]:
    """The history of a dataset up to its head, and the blocks that decide what may follow.

    `num_records` of the history's projection is not that of the dataset. Raises `DatabaseUnavailable`.
    """
    head = Head(dataset.head, dataset.head_sequence_number)
    known = _remembered.get(dataset.pk)
    after = None if known is None else known.head
    interval = await find_interval(conn, dataset.pk, head, begin_after=after, stop_at=None, force=True)
    stored = await read_blocks(conn, interval, max_raw_bytes=sys.maxsize)
    keys = await read_key_blocks(conn, dataset.pk, head)
    before = known.slices if known is not None and interval.tail == after else ()

    def decoded() -> tuple[History, tuple[StoredBlock, ...]]:
        new = [new_slice(read_block(data, name, limits)) for name, data in stored]
        added = (ObjectRef(ObjectKind.DATA_SLICE, i.physical_hash, i.size) for i in new if i is not None)
        decisive = tuple(read_block(data, None, limits) for data in keys)
        return History.resumed(decisive, (*before, *added)), decisive

    history, decisive = await anyio.to_thread.run_sync(decoded)
    _remembered.keep(dataset.pk, _Known(dataset.head, history.slices))
    return history, decisive
