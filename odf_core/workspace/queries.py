"""SQL over the datasets of a workspace (data.md 6)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import msgspec

from odf_core.chain import offset_as_of, parse_as_of, parse_moment
from odf_core.chain.keys import primary_key_of
from odf_core.data import odf_schema_to_arrow
from odf_core.engines.datafusion.querying import DataFusionQueries
from odf_core.engines.query_job import Fold, QueryJob, Table, TablePlace
from odf_core.engines.querying import SparkQueries
from odf_core.errors import InvalidInput
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.ingest.history import History, new_slice
from odf_core.ingest.merge_job import pack_schema
from odf_core.metadata import StoredBlock
from odf_core.workspace.history import read_history
from odf_core.workspace.workspace import Workspace


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
    at: str | None = None,
    limit: int | None = None,
) -> Any:
    """The result of `sql`, a `pa.Table`. Tables are datasets by name or id; `as_of` (an offset, the hash of a
    block or a system time) holds for those whose place in the query says nothing else, and so does `at` (an
    event time) for those that `to_table` folds.

    Raises `LocalDatasetNotFound`, `DatasetWithoutSchema`, `AsOfInvalid`, `AsOfNotFound`, `QueryRefused`,
    `QueryInvalid`.
    """

    def find(name: str) -> QueryableDataset:
        return _queryable(workspace, name)

    return engine.run(plan_query(sql, engine.tables(sql), find, as_of=as_of, at=at, limit=limit))


def query_datafusion(
    workspace: Workspace,
    engine: DataFusionQueries,
    sql: str,
    *,
    as_of: str | None = None,
    limit: int | None = None,
) -> Any:
    """As `query`, in DataFusion's SQL, which has neither `AS OF` nor `to_table`.

    Raises `EngineTimeout`, `EngineDied` as well.
    """

    def find(name: str) -> Table:
        return table_of(_queryable(workspace, name), as_of=as_of)

    return engine.run(sql, find, limit=limit)


def _queryable(workspace: Workspace, name: str) -> QueryableDataset:
    folder = workspace.dataset(name).folder
    return QueryableDataset(name, read_history(folder), lambda: list(folder.walk())[::-1], folder.object_path)


def plan_query(
    sql: str,
    places: Sequence[TablePlace],
    find: Callable[[str], QueryableDataset],
    *,
    as_of: str | None = None,
    at: str | None = None,
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
        tables[view] = _table(dataset, _completed(place, as_of, at))
        name = f"`{view}`" if place.has_alias else f"`{view}` AS `{place.name}`"
        sql = sql[: place.start] + name + sql[place.stop + 1 :]
    return QueryJob(sql=sql, tables=tables, limit=limit)


def _completed(place: TablePlace, as_of: str | None, at: str | None) -> TablePlace:
    """The place with what holds for all of the query where it says nothing itself."""
    if place.as_of is None:
        place = msgspec.structs.replace(place, as_of=as_of, as_of_is_time=False)
    return place if place.at is not None else msgspec.structs.replace(place, at=at)


def table_of(dataset: QueryableDataset, *, as_of: str | None = None) -> Table:
    """All records of a dataset, or those as of then. Raises `DatasetWithoutSchema`, `AsOfInvalid`,
    `AsOfNotFound`."""
    return _table(dataset, TablePlace(name=dataset.name, start=0, stop=0, has_alias=False, as_of=as_of))


def _table(dataset: QueryableDataset, place: TablePlace) -> Table:
    history = dataset.history
    schema = history.schema
    if schema is None:
        raise DatasetWithoutSchema(
            f"Dataset {dataset.name} has no data yet, so it has no columns to query.", objects=[dataset.name]
        )
    last: int | None = None
    slices: Sequence[ObjectRef] = history.slices
    if place.as_of is not None:
        as_of, blocks = parse_as_of(place.as_of, is_time=place.as_of_is_time), dataset.blocks()
        last = offset_as_of(reversed(blocks), as_of, dataset.name)
        slices = _until(blocks, last)
    return Table(
        files=tuple(str(dataset.locate(ref)) for ref in slices),
        schema=pack_schema(odf_schema_to_arrow(schema)),
        offset_column=history.names.offset,
        max_offset=last,
        fold=_fold(history, place) if place.fold else None,
    )


def _until(blocks: Sequence[StoredBlock], last: int) -> list[ObjectRef]:
    """The slices that have records up to this offset."""
    found = [data for block in blocks if (data := new_slice(block)) is not None]
    return [
        ObjectRef(ObjectKind.DATA_SLICE, data.physical_hash, data.size)
        for data in found
        if data.offset_interval.start <= last
    ]


def _fold(history: History, place: TablePlace) -> Fold:
    at = None if place.at is None else parse_moment(place.at).milliseconds()
    key = primary_key_of(history.projection) or ()
    return Fold(primary_key=key, names=history.names, at_millis=at)
