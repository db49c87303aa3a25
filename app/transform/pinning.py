"""New transforms: checked as far as that is quick, and pinned to the engine that will evaluate them."""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace

import anyio
import anyio.to_thread
import structlog
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.context import NodeContext
from app.database import connect
from app.datasets.model import DatasetInfo
from app.datasets.service import find_dataset_by_id
from app.ingest.inputs import find_inputs
from app.transfer.chain_index import Head, read_key_blocks
from app.transform.engines import installed_engines, is_quick
from odf_core.chain import Projection, Vocabulary
from odf_core.data import declared_schema, odf_schema_to_arrow
from odf_core.errors import Unavailable
from odf_core.identity import AccountName, DatasetId
from odf_core.limits import Limits
from odf_core.metadata import MetadataEvent, SetTransform, SetVocab, read_block
from odf_core.transform.execute import vocabulary_of
from odf_core.transform.port import TableSchema

log = structlog.get_logger(__name__)

Telling = Callable[[], AbstractContextManager[None]]
"""Has what is raised inside say where the event was written."""


async def pin_transforms(
    node: NodeContext,
    caller: Caller,
    account: AccountName,
    events: Sequence[tuple[MetadataEvent, Telling]],
    vocabulary: Vocabulary | None = None,
) -> list[MetadataEvent]:
    """The events, those of transforms with the identity of their engine. `vocabulary` is that of the dataset
    where the events set none.

    A query whose inputs have schemas is validated, if its engine answers within `transform.validate_seconds`
    and need not be started; else the first update tells. Raises, told with their place: `EngineNotInstalled`,
    `QueryRefused`, `QueryInvalid`, `InvalidQueryResult`.
    """
    for event, _ in events:
        if isinstance(event, SetVocab):
            vocabulary = Vocabulary.of(event)
    pinned: list[MetadataEvent] = []
    for event, telling in events:
        if isinstance(event, SetTransform):
            event = await _pinned(node, event, telling)
            tables = await _tables(node, caller, account, event)
            if tables is not None and is_quick(node.settings, event.transform):
                with telling():
                    await _validate(node, event, tables, vocabulary or Vocabulary())
        pinned.append(event)
    return pinned


async def _pinned(node: NodeContext, event: SetTransform, telling: Telling) -> SetTransform:
    with telling():
        engine = installed_engines(node.settings)(event.transform)
    version = event.transform.version or await anyio.to_thread.run_sync(engine.version)
    return replace(event, transform=replace(event.transform, version=version))


async def _validate(
    node: NodeContext, event: SetTransform, tables: Sequence[TableSchema], vocabulary: Vocabulary
) -> None:
    """An engine that is slow is left to itself: to end it would end what else it does."""
    engine = installed_engines(node.settings)(event.transform)
    with anyio.move_on_after(node.settings.transform.validate_seconds):
        try:
            await anyio.to_thread.run_sync(
                engine.validate, event.transform, tables, vocabulary_of(vocabulary), abandon_on_cancel=True
            )
        except Unavailable as error:  # it was just ending, or is busy
            log.info("query_not_validated", code=error.code)


async def _tables(
    node: NodeContext, caller: Caller, account: AccountName, event: SetTransform
) -> list[TableSchema] | None:
    """The inputs as the query sees them; None where one is not there or has no schema yet."""
    tables: list[TableSchema] = []
    async with connect(node.engine) as conn:
        known = await find_inputs(conn, caller, account, [event])
        for item in event.inputs:
            dataset_id: DatasetId | None = known.get(item.dataset_ref)
            dataset = None if dataset_id is None else await find_dataset_by_id(conn, dataset_id)
            if dataset is None:
                return None
            state = await state_of(conn, dataset, node.settings.bounds)
            schema = declared_schema(state.schema)
            if schema is None:
                return None
            names = vocabulary_of(state.vocabulary)
            alias = item.alias or str(item.dataset_ref)
            tables.append(TableSchema(alias, odf_schema_to_arrow(schema), names))
    return tables


async def state_of(conn: AsyncConnection, dataset: DatasetInfo, limits: Limits) -> Projection:
    """Schema, vocabulary and the like of a dataset at its head. Raises `DatabaseUnavailable`."""
    head = Head(dataset.head, dataset.head_sequence_number)
    stored = await read_key_blocks(conn, dataset.pk, head)
    return Projection.of([read_block(data, None, limits) for data in stored])
