"""SQL over the datasets of a workspace (data.md 6)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from odf_core.chain.keys import primary_key_of
from odf_core.data import odf_schema_to_arrow
from odf_core.engines.query_job import Fold, QueryJob, Table, TablePlace
from odf_core.engines.querying import SparkQueries
from odf_core.errors import InvalidInput, NotFound
from odf_core.identity import Multihash
from odf_core.ingest.history import History
from odf_core.ingest.merge_job import pack_schema
from odf_core.metadata import StoredBlock, Timestamp
from odf_core.workspace.history import read_history
from odf_core.workspace.workspace import Workspace


class AsOfNotFound(NotFound):
    """A query asks for a dataset as of a block that is not in its chain."""

    code: ClassVar[str] = "as_of_not_found"


class DatasetWithoutSchema(InvalidInput):
    """A query names a dataset that has no data yet, and so no columns."""

    code: ClassVar[str] = "dataset_without_schema"


@dataclass(frozen=True, slots=True)
class QueryableDataset:
    """A dataset as queries need it: its history, all its blocks (oldest first, asked for by few queries),
    and where the file of an object is."""

    name: str
    history: History
    blocks: Callable[[], Sequence[StoredBlock]]
    locate: Callable[[Any], Any]


def query(
    workspace: Workspace,
    engine: SparkQueries,
    sql: str,
    *,
    as_of: str | None = None,
    limit: int | None = None,
) -> Any:
    """The result of `sql`, a `pa.Table`. Tables are datasets by name or id; `as_of` (an offset, the hash of a
    block or a system time) holds for those whose place in the query says nothing else.

    Raises `LocalDatasetNotFound`, `DatasetWithoutSchema`, `AsOfNotFound`, `QueryRefused`, `QueryInvalid`.
    """

    def find(name: str) -> QueryableDataset:
        folder = workspace.dataset(name).folder
        return QueryableDataset(
            name, read_history(folder), lambda: list(folder.walk())[::-1], folder.object_path
        )

    return engine.run(plan_query(sql, engine.tables(sql), find, as_of=as_of, limit=limit))


def plan_query(
    sql: str,
    places: Sequence[TablePlace],
    find: Callable[[str], QueryableDataset],
    *,
    as_of: str | None = None,
    limit: int | None = None,
) -> QueryJob:
    """The query with a view in each place where it names a table, and the views. Raises as `query` does."""
    tables: dict[str, Table] = {}
    known: dict[str, QueryableDataset] = {}
    for number, place in sorted(enumerate(places), key=lambda item: -item[1].start):
        if place.name not in known:
            known[place.name] = find(place.name)
        dataset = known[place.name]
        view = f"t{number}"
        tables[view] = _table(dataset, place, place.as_of if place.as_of is not None else as_of)
        name = f"`{view}`" if place.has_alias else f"`{view}` AS `{place.name}`"
        sql = sql[: place.start] + name + sql[place.stop + 1 :]
    return QueryJob(sql=sql, tables=tables, limit=limit)


def _table(dataset: QueryableDataset, place: TablePlace, as_of: str | None) -> Table:
    whole = dataset.history
    schema = whole.schema
    if schema is None:
        raise DatasetWithoutSchema(
            f"Dataset {dataset.name} has no data yet, so it has no columns to query.", objects=[dataset.name]
        )
    blocks, max_offset = _as_of(dataset, as_of, place.as_of_is_time)
    history = whole if blocks is None else History.of(blocks)
    return Table(
        files=tuple(str(dataset.locate(ref)) for ref in history.slices),
        schema=pack_schema(odf_schema_to_arrow(schema)),
        offset_column=whole.names.offset,
        max_offset=max_offset,
        fold=Fold(primary_key=primary_key_of(whole.projection) or (), names=whole.names, at=place.at)
        if place.fold
        else None,
    )


def _as_of(
    dataset: QueryableDataset, as_of: str | None, is_time: bool
) -> tuple[list[StoredBlock] | None, int | None]:
    """The blocks to look at (None: all), and the last offset to look at (None: all)."""
    if as_of is None:
        return None, None
    if not is_time and as_of.isdecimal():
        return None, int(as_of)
    if not is_time and as_of.startswith("f1620"):
        wanted = Multihash.parse(as_of)
        blocks = dataset.blocks()
        for number, block in enumerate(blocks):
            if block.hash == wanted:
                return list(blocks[: number + 1]), None
        raise AsOfNotFound(f"Dataset {dataset.name} has no block {as_of}.", objects=[dataset.name, as_of])
    moment = Timestamp.parse(as_of)
    return [block for block in dataset.blocks() if block.block.system_time <= moment], None
