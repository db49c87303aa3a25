"""The last records of a dataset of the node (data.md 6), from the files that hold them and from no others."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from typing import Any

import anyio.from_thread
import anyio.to_thread
from sqlalchemy import select

from app.context import NodeContext
from app.database import connect
from app.datasets.model import DatasetInfo
from app.datasets.tables import Block
from app.query.run import turns
from app.query.stored_file import stored_file
from app.transfer.chain_index import DATA_EVENT_KINDS, Head, read_key_blocks
from odf_core.chain import Projection, offset_as_of, parse_as_of
from odf_core.chain.keys import primary_key_of
from odf_core.data.records.state import read_state
from odf_core.data.records.tail import OpenSlice, TailRange, read_tail
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import (
    AddData,
    DataSlice,
    ExecuteTransform,
    SetDataSchema,
    StoredBlock,
    Timestamp,
    read_block,
)

_BLOCKS_AT_ONCE = 64


async def read_projection(node: NodeContext, dataset: DatasetInfo) -> Projection:
    """What holds at the head that `dataset` names. Raises `DatabaseUnavailable`."""
    async with connect(node.engine) as conn:
        stored = await read_key_blocks(conn, dataset.pk, Head(dataset.head, dataset.head_sequence_number))
    limits = node.settings.bounds
    return Projection.of([read_block(data, None, limits) for data in stored])


async def tail_of(
    node: NodeContext, dataset: DatasetInfo, schema: SetDataSchema | None, wanted: TailRange
) -> Any:
    """A `pa.Table` of the wanted records, ascending by offset. Raises as `read_tail`, `StoreUnavailable`."""
    return await anyio.to_thread.run_sync(_read, node, dataset, schema, wanted)


async def state_of(
    node: NodeContext, dataset: DatasetInfo, at_head: Projection, wanted: TailRange, at: Timestamp | None
) -> Any:
    """A `pa.Table` of the wanted ones of the records that stand, of those up to the event time `at`.

    Raises `StateTooLarge`, and as `tail_of`.
    """

    def read() -> Any:
        return read_state(
            _slices_back(node, dataset),
            _opening(node, dataset),
            at_head.schema,
            at_head.vocabulary,
            primary_key_of(at_head),
            wanted,
            at=at,
            max_bytes=node.settings.query.state_bytes,
            limits=node.settings.bounds,
        )

    async with turns(node.settings.query.parallelism):
        return await anyio.to_thread.run_sync(read)


async def resolve_as_of(node: NodeContext, dataset: DatasetInfo, text: str) -> int:
    """The last offset as of an offset, the hash of a block or a system time. Raises `AsOfInvalid`,
    `AsOfNotFound`."""
    wanted = parse_as_of(text)

    def read() -> int:
        return offset_as_of(_blocks_back(node, dataset), wanted, str(dataset.id))

    return await anyio.to_thread.run_sync(read)


def _read(node: NodeContext, dataset: DatasetInfo, schema: SetDataSchema | None, wanted: TailRange) -> Any:
    slices = _slices_back(node, dataset)
    return read_tail(slices, _opening(node, dataset), schema, wanted, limits=node.settings.bounds)


def _opening(node: NodeContext, dataset: DatasetInfo) -> OpenSlice:
    def open_slice(item: DataSlice) -> AbstractContextManager[Any]:
        ref = ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size)
        return stored_file(node.store, dataset.id, ref)

    return open_slice


def _slices_back(node: NodeContext, dataset: DatasetInfo) -> Iterator[DataSlice]:
    """The slices, newest first, asked for in parts while they are read in a thread."""
    for block in _blocks_back(node, dataset, kinds=DATA_EVENT_KINDS):
        event = block.block.event
        if isinstance(event, AddData | ExecuteTransform) and event.new_data is not None:
            yield event.new_data


def _blocks_back(
    node: NodeContext, dataset: DatasetInfo, *, kinds: Sequence[str] | None = None
) -> Iterator[StoredBlock]:
    """The blocks with events of these kinds, newest first, asked for in parts in a thread."""
    before = dataset.head_sequence_number + 1
    while True:
        part = anyio.from_thread.run(_part_of_chain, node, dataset.pk, before, kinds)
        for number, data in part:
            before = number
            yield read_block(data, None, node.settings.bounds)
        if len(part) < _BLOCKS_AT_ONCE:
            return


async def _part_of_chain(
    node: NodeContext, dataset_pk: int, before: int, kinds: Sequence[str] | None
) -> Sequence[tuple[int, bytes]]:
    wanted = (
        select(Block.sequence_number, Block.data)
        .where(
            Block.dataset_pk == dataset_pk,
            Block.is_current,
            Block.sequence_number < before,
            *(() if kinds is None else (Block.event_kind.in_(kinds),)),
        )
        .order_by(Block.sequence_number.desc())
        .limit(_BLOCKS_AT_ONCE)
    )
    async with connect(node.engine) as conn:
        return [(row.sequence_number, row.data) for row in await conn.execute(wanted)]
