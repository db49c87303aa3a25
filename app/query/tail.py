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
from app.query.stored_file import stored_file
from app.transfer.chain_index import DATA_EVENT_KINDS, Head, read_key_blocks
from odf_core.chain import Projection
from odf_core.data.records.tail import TailRange, read_tail
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.metadata import AddData, DataSlice, ExecuteTransform, SetDataSchema, read_block

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


def _read(node: NodeContext, dataset: DatasetInfo, schema: SetDataSchema | None, wanted: TailRange) -> Any:
    def open_slice(item: DataSlice) -> AbstractContextManager[Any]:
        ref = ObjectRef(ObjectKind.DATA_SLICE, item.physical_hash, item.size)
        return stored_file(node.store, dataset.id, ref)

    return read_tail(_slices_back(node, dataset), open_slice, schema, wanted, limits=node.settings.bounds)


def _slices_back(node: NodeContext, dataset: DatasetInfo) -> Iterator[DataSlice]:
    """The slices, newest first, asked for in parts while they are read in a thread."""
    before = dataset.head_sequence_number + 1
    while True:
        part = anyio.from_thread.run(_data_blocks, node, dataset.pk, before)
        for number, data in part:
            before = number
            event = read_block(data, None, node.settings.bounds).block.event
            if isinstance(event, AddData | ExecuteTransform) and event.new_data is not None:
                yield event.new_data
        if len(part) < _BLOCKS_AT_ONCE:
            return


async def _data_blocks(node: NodeContext, dataset_pk: int, before: int) -> Sequence[tuple[int, bytes]]:
    wanted = (
        select(Block.sequence_number, Block.data)
        .where(
            Block.dataset_pk == dataset_pk,
            Block.is_current,
            Block.event_kind.in_(DATA_EVENT_KINDS),
            Block.sequence_number < before,
        )
        .order_by(Block.sequence_number.desc())
        .limit(_BLOCKS_AT_ONCE)
    )
    async with connect(node.engine) as conn:
        return [(row.sequence_number, row.data) for row in await conn.execute(wanted)]
