"""The columns of a new slice: of what the engine left, in the dataset's order and types (data.md 2, 3.5)."""

import pyarrow as pa

from odf_core.data import arrow_schema_to_odf, odf_schema_to_arrow
from odf_core.data.slices.schema_match import schema_differences
from odf_core.ingest.merge_errors import IncompatibleSchema
from odf_core.ingest.merge_job import Names
from odf_core.metadata import DataSchema

INSTANT = pa.timestamp("ms", "UTC")


def slice_schema(records: pa.Schema, names: Names, dataset: DataSchema | None) -> DataSchema:
    """The schema of a slice with these records; `dataset` is what the chain declares, if it does.

    Records that a dataset without a schema takes first define it: nullability as the input has it, an
    event time that is always there. Raises `IncompatibleSchema`, `UnsupportedArrowType`.
    """
    natural = arrow_schema_to_odf(_natural(records, names))
    if dataset is None:
        return natural
    found = [item.name for item in natural.fields]
    declared = [item.name for item in dataset.fields]
    differences = list(schema_differences(natural.fields, dataset.fields, {}))
    if not differences and found != declared:
        differences = [f"its columns are in the order {', '.join(found)}, not {', '.join(declared)}"]
    if differences:
        raise IncompatibleSchema(
            f"The input does not fit the dataset's schema: {'; '.join(differences)}. Change the input or the "
            f"source's read schema, or declare the new schema first (SetDataSchema).",
            extras={"differences": differences},
        )
    return dataset


def slice_arrow_schema(schema: DataSchema) -> pa.Schema:
    """The Arrow schema of the file."""
    return odf_schema_to_arrow(schema)


def _natural(records: pa.Schema, names: Names) -> pa.Schema:
    event_time = records.field(names.event_time).type
    if pa.types.is_timestamp(event_time):
        event_time = INSTANT
    system = [
        pa.field(names.offset, pa.int64(), nullable=False),
        pa.field(names.operation_type, pa.int32(), nullable=False),
        pa.field(names.system_time, INSTANT, nullable=False),
        pa.field(names.event_time, event_time, nullable=False),
    ]
    rest = [
        pa.field(item.name, _in_milliseconds(item.type), nullable=item.nullable)
        for item in records
        if item.name != names.event_time
    ]
    return pa.schema(system + rest)


def _in_milliseconds(data_type: pa.DataType) -> pa.DataType:
    """Every timestamp becomes one in milliseconds UTC, also inside lists and structs."""
    if pa.types.is_timestamp(data_type):
        return INSTANT
    if pa.types.is_list(data_type) or pa.types.is_large_list(data_type):
        item = data_type.value_field
        return pa.list_(item.with_type(_in_milliseconds(item.type)))
    if pa.types.is_fixed_size_list(data_type):
        item = data_type.value_field
        return pa.list_(item.with_type(_in_milliseconds(item.type)), data_type.list_size)
    if pa.types.is_map(data_type):
        key, item = data_type.key_field, data_type.item_field
        return pa.map_(key.with_type(_in_milliseconds(key.type)), item.with_type(_in_milliseconds(item.type)))
    if pa.types.is_struct(data_type):
        fields = [
            pa.field(item.name, _in_milliseconds(item.type), nullable=item.nullable) for item in data_type
        ]
        return pa.struct(fields)
    return data_type
