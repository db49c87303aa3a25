"""A query on the node: its tables are datasets that the caller may read, pinned to blocks."""

import shutil
import tempfile
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import anyio.from_thread
import anyio.to_thread
from anyio.lowlevel import RunVar

from app.accounts.model import Caller
from app.context import NodeContext
from app.database import connect
from app.datasets.access import authorize
from app.datasets.errors import BlockNotFound, DatasetNotFound
from app.datasets.model import Action, DatasetAddress, DatasetInfo
from app.datasets.service import find_dataset, find_dataset_by_id
from app.ingest.engine import slice_urls, spark_engine
from app.ingest.histories import read_history
from app.query.model import DataFormat, Dialect, PinnedDataset, QueryRequest, SchemaFormat
from app.transfer.chain_index import Head, find_interval, read_blocks
from odf_core.chain import InvalidInterval
from odf_core.data import arrow_schema_to_odf
from odf_core.data.records.encode import RecordsFormat, encode_records
from odf_core.engines.datafusion.options import DataFusionOptions
from odf_core.engines.datafusion.querying import DataFusionQueries
from odf_core.engines.query_job import Table, TablePlace
from odf_core.engines.querying import SparkQueries
from odf_core.errors import InvalidInput, LimitExceeded
from odf_core.identity import AccountName, DatasetAlias, DatasetId, Multihash, ObjectRef
from odf_core.ingest.history import History
from odf_core.metadata import SetDataSchema, StoredBlock, event_to_json, read_block
from odf_core.query.arrow_json import arrow_schema_json
from odf_core.storage import dataset_prefix, object_key
from odf_core.workspace.queries import QueryableDataset, plan_query, table_of

_MOST_BLOCK_BYTES = 1 << 40

_turns_of_loop: RunVar[anyio.CapacityLimiter] = RunVar("odf_query_turns")


class QueryTooLarge(LimitExceeded):
    """A query that would have to read, or to answer, more than the node's settings allow."""

    code: ClassVar[str] = "query_too_large"


@dataclass(frozen=True, slots=True)
class Answered:
    """What a query came to: the output as JSON, and the datasets that were read, pinned."""

    output: dict[str, Any]
    pinned: tuple[PinnedDataset, ...]


@dataclass(frozen=True, slots=True)
class _Source:
    """A dataset of a query, up to the block that it is pinned to; its blocks where the query looks back."""

    dataset: DatasetInfo
    head: Multihash
    history: History
    blocks: tuple[StoredBlock, ...] = ()


async def answer(node: NodeContext, caller: Caller, request: QueryRequest) -> Answered:
    """Run the query.

    Raises `DatasetNotFound`, `BlockNotFound`, `DatasetWithoutSchema`, `QueryRefused`, `QueryInvalid`,
    `QueryTooLarge`, and what the engine raises.
    """
    require_records(node, request.limit)
    if request.query_dialect is Dialect.DATAFUSION:
        table, sources = await _by_datafusion(node, caller, request)
    else:
        table, sources = await _by_spark(node, caller, request)
    pinned = tuple(
        PinnedDataset(id=str(source.dataset.id), alias=name, block_hash=str(source.head))
        for name, source in sources.items()
    )
    return Answered(await anyio.to_thread.run_sync(_output, request, table), pinned)


async def _by_spark(
    node: NodeContext, caller: Caller, request: QueryRequest
) -> tuple[Any, dict[str, "_Source"]]:
    engine = SparkQueries(spark_engine(node.settings), node.settings.query.seconds)
    async with turns(node.settings.query.parallelism):
        places = await anyio.to_thread.run_sync(engine.tables, request.query)
        looked_back = {place.name for place in places if place.as_of is not None}
        sources = await _sources(node, caller, request, {place.name for place in places}, looked_back)
        _check_size(node, sources)
        return await anyio.to_thread.run_sync(partial(_run, node, engine, request, places, sources)), sources


async def _by_datafusion(
    node: NodeContext, caller: Caller, request: QueryRequest
) -> tuple[Any, dict[str, "_Source"]]:
    """DataFusion says which tables it misses only one after the other."""
    engine = DataFusionQueries(DataFusionOptions(seconds=node.settings.query.seconds))
    sources: dict[str, _Source] = {}

    def run() -> Any:
        with tempfile.TemporaryDirectory(prefix="odf-query-") as folder:

            def find(name: str) -> Table:
                sources.update(anyio.from_thread.run(_sources, node, caller, request, {name}, frozenset()))
                _check_size(node, sources)
                source = sources[name]
                locate = partial(_local, node, source.dataset, Path(folder))
                return table_of(QueryableDataset(name, source.history, lambda: source.blocks, locate))

            found = engine.run(request.query, find, limit=request.skip + request.limit)
        return found.slice(request.skip, request.limit)

    async with turns(node.settings.query.parallelism):
        return await anyio.to_thread.run_sync(run), dict(sorted(sources.items()))


def require_records(node: NodeContext, wanted: int) -> None:
    """Raises `QueryTooLarge` for more records than one answer may have."""
    most = node.settings.query.max_records
    if wanted > most:
        raise QueryTooLarge(f"An answer has {most} records at most; ask for them in parts.")


def turns(parallelism: int) -> anyio.CapacityLimiter:
    """Who waits for a turn holds no thread."""
    limiter = _turns_of_loop.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(parallelism)
        _turns_of_loop.set(limiter)
    return limiter


async def _sources(
    node: NodeContext, caller: Caller, request: QueryRequest, names: Set[str], looked_back: Set[str]
) -> dict[str, _Source]:
    """The datasets that the query names: by the request's own list, else by their names on this node.

    `looked_back` are those of which it wants an earlier state, and so all blocks.
    """
    told = None if request.datasets is None else {item.alias: item for item in request.datasets}
    found = {}
    for name in sorted(names):
        whole = name in looked_back
        if told is None:
            found[name] = await _by_name(node, caller, name, whole)
        elif name in told:
            found[name] = await _pinned(node, caller, told[name], whole)
        else:
            raise DatasetNotFound(f"The query names {name!r}, which is not in `datasets`.", objects=[name])
    return found


async def _by_name(node: NodeContext, caller: Caller, name: str, whole: bool) -> _Source:
    async with connect(node.engine) as conn:
        if name.startswith("did:odf:"):
            dataset = await find_dataset_by_id(conn, DatasetId.parse(name))
        else:
            dataset = await find_dataset(conn, _address(node, caller, name))
    return await _source(node, _authorized(caller, dataset, name), None, whole)


def _address(node: NodeContext, caller: Caller, name: str) -> DatasetAddress:
    try:
        alias = DatasetAlias.parse(name)
    except InvalidInput as error:
        raise DatasetNotFound(f"The query names {name[:100]!r}, which is no dataset.") from error
    default = node.settings.accounts.default_account
    if caller.account is not None and node.settings.tenancy == "multi":
        default = caller.account.name
    return DatasetAddress(alias.account or AccountName(default), alias.name)


async def _pinned(node: NodeContext, caller: Caller, told: PinnedDataset, whole: bool) -> _Source:
    async with connect(node.engine) as conn:
        dataset = await find_dataset_by_id(conn, DatasetId.parse(told.id))
    block = None if told.block_hash is None else Multihash.parse(told.block_hash)
    return await _source(node, _authorized(caller, dataset, told.id), block, whole)


def _authorized(caller: Caller, dataset: DatasetInfo | None, name: str) -> DatasetInfo:
    try:
        return authorize(caller, dataset, Action.READ)
    except DatasetNotFound as error:
        raise DatasetNotFound(
            f"There is no dataset {name}, or you may not read it.", objects=[name]
        ) from error


async def _source(node: NodeContext, dataset: DatasetInfo, block: Multihash | None, whole: bool) -> _Source:
    head = Head(dataset.head, dataset.head_sequence_number)
    async with connect(node.engine) as conn:
        if not whole and block in (None, dataset.head):
            history, _ = await read_history(conn, dataset, node.settings.bounds)
            return _Source(dataset, dataset.head, history)
        try:
            interval = await find_interval(
                conn, dataset.pk, head, begin_after=None, stop_at=block, force=False
            )
        except (InvalidInterval, BlockNotFound) as error:
            raise BlockNotFound(
                f"Dataset {dataset.id} has no block {block}.", objects=[dataset.id, str(block)]
            ) from error
        stored = await read_blocks(conn, interval, max_raw_bytes=_MOST_BLOCK_BYTES)
    limits = node.settings.bounds
    blocks = await anyio.to_thread.run_sync(
        lambda: tuple(read_block(data, name, limits) for name, data in stored)
    )
    return _Source(dataset, block or dataset.head, History.of(blocks), blocks)


def _check_size(node: NodeContext, sources: Mapping[str, _Source]) -> None:
    size = sum(ref.size or 0 for item in sources.values() for ref in item.history.slices)
    most = node.settings.query.max_bytes
    if size > most:
        raise QueryTooLarge(f"The query would read {size} bytes of data; the node reads {most} for one.")


def _run(
    node: NodeContext,
    engine: SparkQueries,
    request: QueryRequest,
    places: Sequence[TablePlace],
    sources: Mapping[str, _Source],
) -> Any:
    """The result's records after `skip`, in a thread."""
    urls = slice_urls(node.settings)
    with tempfile.TemporaryDirectory(prefix="odf-query-") as folder:

        def find(name: str) -> QueryableDataset:
            source = sources[name]
            locate: Callable[[ObjectRef], Path | str] = partial(_local, node, source.dataset, Path(folder))
            if urls is not None:
                locate = partial(urls, source.dataset.id)
            return QueryableDataset(name, source.history, lambda: source.blocks, locate)

        job = plan_query(request.query, places, find, limit=request.skip + request.limit)
        table = engine.run(job)
    return table.slice(request.skip, request.limit)


def _local(node: NodeContext, dataset: DatasetInfo, folder: Path, ref: ObjectRef) -> Path:
    """The object as a file; it was checked when it was admitted."""
    path = folder / str(ref.hash)
    if not path.exists():
        with node.store.open(dataset_prefix(dataset.id) + object_key(ref)) as stream, path.open("wb") as file:
            shutil.copyfileobj(stream, file, 1 << 20)
    return path


def _output(request: QueryRequest, table: Any) -> dict[str, Any]:
    output: dict[str, Any] = {
        "data": encode_records(table, RecordsFormat(DataFormat(request.data_format).value)),
        "dataFormat": request.data_format.value,
    }
    if request.schema_format is SchemaFormat.ARROW_JSON:
        output["schema"] = arrow_schema_json(table.schema)
    elif request.schema_format is SchemaFormat.ODF_JSON:
        event = event_to_json(SetDataSchema(schema=arrow_schema_to_odf(table.schema)))
        output["schema"] = event["content"]["schema"]
    if request.schema_format is not None:
        output["schemaFormat"] = request.schema_format.value
    return output
