"""New records of inputs as data frames, in the order of their offsets."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from pyspark.sql import DataFrame
from pyspark.sql import types as T

from odf_core.engines.errors import InvalidEngineRequest
from odf_core.engines.spark.sharing import Place
from odf_core.engines.spark.slices.carriers import spark_schema
from odf_core.engines.spark.slices.columns import col
from odf_core.engines.spark.slices.frames import empty_frame, read_in_order
from odf_core.engines.spark.transforms.carried import OFFSET, OP
from odf_core.engines.transform_calls import SystemNames, system_names
from odf_core.metadata import OffsetInterval
from odf_core.transform.request import TransformRequestInput

SMALL_BYTES = 4 << 20
"""Slices of so many bytes are read and written in this process, larger ones by Spark's tasks."""


@dataclass(frozen=True, slots=True)
class NewRows:
    """What a step reads of one input."""

    number: int
    schema: pa.Schema
    names: SystemNames
    files: tuple[str, ...]
    interval: OffsetInterval | None

    @classmethod
    def of(cls, number: int, request: TransformRequestInput) -> "NewRows":
        """What the request gives; raises `InvalidEngineRequest` for a schema file that is none."""
        try:
            schema = pq.read_schema(request.schema_file)
        except (OSError, pa.ArrowException) as error:
            raise InvalidEngineRequest(
                f"The schema file of the input {request.query_alias} cannot be read: {error}."
            ) from error
        names = system_names(request.vocab)
        files = request.data_paths if request.offset_interval is not None else ()
        return cls(number, schema, names, tuple(files), request.offset_interval)

    @property
    def is_small(self) -> bool:
        """Whether this process can hold the records."""
        return sum(Path(file).stat().st_size for file in self.files) <= SMALL_BYTES

    @property
    def spark(self) -> T.StructType:
        """The input's columns as Spark has them."""
        return spark_schema(self.schema)

    def frame(self, place: Place) -> DataFrame:
        """The records with `CARRIED` behind the columns of the input."""
        session = place.session
        offset, op = self.names[0], self.names[1]
        if self.interval is None or not self.files:
            return empty_frame(session, _with_carried(self.spark))
        if self.is_small:
            return session.createDataFrame(self._table(), _with_carried(self.spark))
        frame = read_in_order(session, place.brought(self.files), self.schema)
        frame = frame.where(col(offset).between(self.interval.start, self.interval.end))
        return frame.select("*", col(op).cast("int").alias(OP), col(offset).cast("bigint").alias(OFFSET))

    def _table(self) -> pa.Table:
        """The records, read here: for a small step that is most of the time that Spark would take."""
        parts = [_read(file, self.schema) for file in self.files]
        table = pa.concat_tables(parts)
        offsets = table.column(self.names[0]).cast(pa.int64())
        interval = self.interval
        if interval is not None:
            wanted = pc.and_(pc.greater_equal(offsets, interval.start), pc.less_equal(offsets, interval.end))
            table = table.filter(wanted)
        offsets = table.column(self.names[0]).cast(pa.int64())
        carried = [table.column(self.names[1]).cast(pa.int32()), offsets]
        columns = [_carried(table.column(item.name)) for item in self.schema]
        return pa.table([*columns, *carried], names=[*self.schema.names, OP, OFFSET])


def _read(file: str, schema: pa.Schema) -> pa.Table:
    """A slice with the columns of the schema; one that an older slice lacks is null."""
    with pq.ParquetFile(file) as parquet:
        table = parquet.read(columns=[name for name in schema.names if name in parquet.schema_arrow.names])
    columns: list[Any] = []
    for item in schema:
        if item.name in table.column_names:
            columns.append(table.column(item.name).cast(item.type))
        else:
            columns.append(pa.nulls(len(table), item.type))
    return pa.table(columns, names=schema.names)


def _carried(column: Any) -> Any:
    """A column in a type that Spark takes from Arrow."""
    kind = column.type
    if pa.types.is_uint64(kind):
        return column.cast(pa.decimal128(20, 0))
    if pa.types.is_unsigned_integer(kind):
        wider = {8: pa.int16(), 16: pa.int32(), 32: pa.int64()}
        return column.cast(wider[kind.bit_width])
    if pa.types.is_timestamp(kind):
        return column.cast(pa.timestamp("us", "UTC"), safe=False)
    return column


def _with_carried(schema: T.StructType) -> T.StructType:
    return T.StructType(
        [*schema.fields, T.StructField(OP, T.IntegerType()), T.StructField(OFFSET, T.LongType())]
    )


def all_small(rows: Sequence[NewRows]) -> bool:
    """Whether all of a step is small."""
    return all(item.is_small for item in rows)
