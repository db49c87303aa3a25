"""Rows of any slice of a dataset in the columns of its schema (data.md 2, 6)."""

from typing import Any

import pyarrow as pa

from odf_core.data.errors import InvalidDataFile
from odf_core.data.schema.from_arrow import arrow_schema_to_odf
from odf_core.data.schema.raw_read import read_raw_arrow_schema
from odf_core.data.schema.to_arrow import odf_schema_to_arrow
from odf_core.metadata import SetDataSchema


def table_schema(schema: SetDataSchema | None) -> Any:
    """The `pa.Schema` in which records of the dataset are given; empty where there is no schema yet.

    Raises `UnsupportedArrowType`, `InvalidRawArrowSchema`.
    """
    if schema is None:
        return pa.schema([])
    if schema.schema is not None:
        return odf_schema_to_arrow(schema.schema)
    if schema.raw_arrow_schema is None:
        return pa.schema([])
    return odf_schema_to_arrow(arrow_schema_to_odf(read_raw_arrow_schema(schema.raw_arrow_schema)))


def conformed(batch: Any, schema: Any) -> Any:
    """The batch with the columns of `schema`, by name; a column that it lacks is null.

    Raises `InvalidDataFile` for a column whose values are not of the type.
    """
    columns = []
    for field in schema:
        position = batch.schema.get_field_index(field.name)
        column = batch.column(position) if position >= 0 else pa.nulls(len(batch), field.type)
        columns.append(_typed(column, field))
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _typed(column: Any, field: Any) -> Any:
    if column.type == field.type:
        return column
    try:
        return column.cast(field.type)
    except pa.ArrowException as error:
        raise InvalidDataFile(
            f"Column {field.name!r} is {column.type}, which cannot be read as the dataset's {field.type}.",
            objects=[field.name],
        ) from error
