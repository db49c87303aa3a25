"""Whole chains of the node's datasets, each process remembering what it has read from the index.

A block never changes, so of a chain that was read before only what came after it is read again.
"""

import sys
from dataclasses import dataclass

import anyio.to_thread
from sqlalchemy.ext.asyncio import AsyncConnection

from app.datasets.model import DatasetInfo
from app.remembered import Remembered
from app.transfer.chain_index import Head, find_interval, read_blocks
from odf_core.identity import Multihash
from odf_core.limits import Limits
from odf_core.metadata import StoredBlock, read_block

MOST_BLOCKS = 200_000
"""Blocks that a process remembers, of all datasets together."""


@dataclass(frozen=True, slots=True)
class _Known:
    head: Multihash
    blocks: tuple[StoredBlock, ...]


_remembered = Remembered[_Known]("odf_known_chains", lambda known: len(known.blocks), MOST_BLOCKS)


async def read_whole_chain(
    conn: AsyncConnection, dataset: DatasetInfo, limits: Limits
) -> tuple[StoredBlock, ...]:
    """All blocks of the dataset up to its head, oldest first. Raises `DatabaseUnavailable`."""
    known = _remembered.get(dataset.pk)
    after = None if known is None else known.head
    head = Head(dataset.head, dataset.head_sequence_number)
    interval = await find_interval(conn, dataset.pk, head, begin_after=after, stop_at=None, force=True)
    stored = await read_blocks(conn, interval, max_raw_bytes=sys.maxsize)
    before = known.blocks if known is not None and interval.tail == after else ()

    def decoded() -> tuple[StoredBlock, ...]:
        return (*before, *(read_block(data, name, limits) for name, data in stored))

    blocks = await anyio.to_thread.run_sync(decoded)
    _remembered.keep(dataset.pk, _Known(dataset.head, blocks))
    return blocks
