"""Inputs of a step as tables in memory, their rows in the order of the offsets."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from datafusion import SessionContext

from odf_core.engines.errors import EngineFailed, InvalidEngineRequest
from odf_core.engines.transform_calls import QueryTable, SystemNames, system_names
from odf_core.ingest.merge_job import unpack_schema
from odf_core.transform.request import TransformRequestInput


@dataclass(frozen=True, slots=True)
class InputTable:
    """An input under its name in the query; `names` are those of its system columns."""

    name: str
    names: SystemNames
    rows: pa.Table

    def register(self, context: SessionContext) -> None:
        """Makes it known; one partition, so that the order is kept."""
        batches = self.rows.to_batches() or [pa.RecordBatch.from_pylist([], schema=self.rows.schema)]
        context.register_record_batches(quoted(self.name), [batches])

    def has_changes(self) -> bool:
        """Whether there are operations other than additions."""
        if self.names[1] not in self.rows.column_names:
            return False
        return bool(pc.any(pc.not_equal(self.rows.column(self.names[1]), 0)).as_py())


def empty_tables(tables: Iterable[QueryTable]) -> list[InputTable]:
    """Tables without rows."""
    return [InputTable(item.name, item.names, unpack_schema(item.schema).empty_table()) for item in tables]


def read_tables(inputs: Sequence[TransformRequestInput]) -> list[InputTable]:
    """The new records. Raises `InvalidEngineRequest` for a schema file that is none, `EngineFailed`."""
    return [_read(item) for item in inputs]


def quoted(name: str) -> str:
    """A name as it stands."""
    return '"' + name.replace('"', '""') + '"'


def _read(item: TransformRequestInput) -> InputTable:
    try:
        schema = pq.read_schema(item.schema_file)
    except (OSError, pa.ArrowException) as error:
        raise InvalidEngineRequest(
            f"The schema file of the input {item.query_alias} cannot be read: {error}."
        ) from error
    names, schema = system_names(item.vocab), schema.remove_metadata()
    interval = item.offset_interval
    if interval is None or not item.data_paths:
        return InputTable(item.query_alias, names, schema.empty_table())
    try:
        table = pa.concat_tables([_slice(path, schema) for path in item.data_paths])
        offsets = table.column(names[0])
        wanted = pc.and_(pc.greater_equal(offsets, interval.start), pc.less_equal(offsets, interval.end))
        table = table.filter(wanted)
        offsets = table.column(names[0])
        if len(table) > 1 and not pc.all(pc.greater(offsets[1:], offsets[:-1])).as_py():
            table = table.sort_by(names[0])
        return InputTable(item.query_alias, names, _typed(table, schema))
    except (OSError, pa.ArrowException, KeyError) as error:
        raise EngineFailed(f"The records of the input {item.query_alias} cannot be read: {error}.") from error


def _slice(path: str, schema: pa.Schema) -> pa.Table:
    """A slice with the columns of the schema; one that an older slice lacks is null."""
    with pq.ParquetFile(path) as parquet:
        names = [name for name in schema.names if name in parquet.schema_arrow.names]
        table = parquet.read(columns=names, use_threads=False)
    columns: list[Any] = []
    for item in schema:
        if item.name in table.column_names:
            columns.append(table.column(item.name).cast(item.type))
        else:
            columns.append(pa.nulls(len(table), item.type))
    return pa.table(columns, names=schema.names)


def _typed(table: pa.Table, schema: pa.Schema) -> pa.Table:
    """With the nullability of the schema, except where a column has nulls after all."""
    fields = [
        item.with_nullable(item.nullable or bool(table.column(item.name).null_count)) for item in schema
    ]
    return pa.table(table.columns, schema=pa.schema(fields))
