"""Whole chains of the node's datasets, each process remembering what it has read from the index.

A block never changes, so of a chain that was read before only what came after it is read again.
"""

import sys
from collections import OrderedDict
from dataclasses import dataclass

import anyio.to_thread
from anyio.lowlevel import RunVar
from sqlalchemy.ext.asyncio import AsyncConnection

from app.datasets.model import DatasetInfo
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


_known_of_loop: RunVar[OrderedDict[int, _Known]] = RunVar("odf_known_chains")


async def read_whole_chain(
    conn: AsyncConnection, dataset: DatasetInfo, limits: Limits
) -> tuple[StoredBlock, ...]:
    """All blocks of the dataset up to its head, oldest first. Raises `DatabaseUnavailable`."""
    remembered = _remembered()
    known = remembered.get(dataset.pk)
    after = None if known is None else known.head
    head = Head(dataset.head, dataset.head_sequence_number)
    interval = await find_interval(conn, dataset.pk, head, begin_after=after, stop_at=None, force=True)
    stored = await read_blocks(conn, interval, max_raw_bytes=sys.maxsize)
    before = known.blocks if known is not None and interval.tail == after else ()

    def decoded() -> tuple[StoredBlock, ...]:
        return (*before, *(read_block(data, name, limits) for name, data in stored))

    blocks = await anyio.to_thread.run_sync(decoded)
    _remember(remembered, dataset.pk, _Known(dataset.head, blocks))
    return blocks


def _remembered() -> OrderedDict[int, _Known]:
    found = _known_of_loop.get(None)
    if found is None:
        found = OrderedDict()
        _known_of_loop.set(found)
    return found


def _remember(remembered: OrderedDict[int, _Known], dataset_pk: int, known: _Known) -> None:
    """Those that were asked for longest ago are forgotten first."""
    remembered[dataset_pk] = known
    remembered.move_to_end(dataset_pk)
    while sum(len(item.blocks) for item in remembered.values()) > MOST_BLOCKS and len(remembered) > 1:
        remembered.popitem(last=False)
