"""A slice held against its block and its dataset: records, offsets, system columns, schema, hashes."""

from typing import Any

import pyarrow as pa

from odf_core.data.errors import (
    LogicalHashMismatch,
    SliceOffsetsMismatch,
    SliceRowsMismatch,
    SliceSchemaMismatch,
    SliceSizeMismatch,
    UnsupportedArrowType,
    UnsupportedLogicalHashType,
)
from odf_core.data.schema.from_arrow import arrow_schema_to_odf
from odf_core.data.schema.raw_read import read_raw_arrow_schema
from odf_core.data.slices.facts import SliceFacts
from odf_core.data.slices.schema_match import schema_differences
from odf_core.data.slices.vocabulary import DefaultVocabulary, Vocabulary
from odf_core.identity import ARROW0_SHA3_256, Multihash
from odf_core.metadata import DataField, DataSchema, DataSlice, SetDataSchema

_MOST_SHOWN = 5


def check_slice(
    facts: SliceFacts,
    data_slice: DataSlice,
    schema: SetDataSchema | DataSchema | None = None,
    vocab: Vocabulary | None = None,
) -> None:
    """Raises the first way in which a slice is not what its block and its dataset's schema say.

    `SliceSizeMismatch`; `LogicalHashMismatch` for a logical hash of another code than arrow0-sha3-256;
    `SliceRowsMismatch`; `SliceSchemaMismatch` for missing or impossible system columns (offset Int64, or
    UInt64 as the specification has it; op Int32 or UInt8; system time a timestamp; event time a timestamp
    or a date) and for columns that differ from `schema` as `slices/schema_match.py` tells;
    `SliceOffsetsMismatch` unless the offsets are exactly the interval, each once, ascending in the file
    (wire-published.md, "Decisions"). Without `schema` its part is not checked. Raises
    `InvalidRawArrowSchema` or `UnsupportedArrowType` for a schema of the dataset that cannot be read.
    """
    vocabulary = vocab or DefaultVocabulary()
    _check_declaration(facts, data_slice)
    _check_system_columns(facts.arrow_schema, vocabulary)
    _check_offsets(facts, data_slice)
    declared = _declared_fields(schema)
    if declared is not None:
        _check_schema(facts, declared)


def check_logical_hash(facts: SliceFacts, expected: Multihash) -> None:
    """Holds the logical hash that `inspect_slice` made, if it did, against the block's.

    Raises `LogicalHashMismatch`, and `UnsupportedLogicalHashType` where the rows have none.
    """
    found = facts.logical_hash
    if found is None:
        return
    _check_hash_code(expected)
    if isinstance(found, UnsupportedLogicalHashType):
        raise found
    if found != expected:
        raise LogicalHashMismatch(
            f"The records of a data slice have the logical hash {found}, but its block says {expected}.",
            objects=[expected],
            extras={"found": str(found), "declared": str(expected)},
        )


def _check_hash_code(logical_hash: Multihash) -> None:
    if logical_hash.code != ARROW0_SHA3_256:
        raise LogicalHashMismatch(
            f"The logical hash {logical_hash} is no arrow0-sha3-256; a block's has to be.",
            objects=[logical_hash],
        )


def _check_declaration(facts: SliceFacts, data_slice: DataSlice) -> None:
    name = data_slice.physical_hash
    if facts.size != data_slice.size:
        raise SliceSizeMismatch(
            f"Slice {name} has {facts.size} bytes, but its block declares {data_slice.size}.",
            objects=[name],
            extras={"found": facts.size, "declared": data_slice.size},
        )
    _check_hash_code(data_slice.logical_hash)
    interval = data_slice.offset_interval
    declared = interval.end - interval.start + 1
    if facts.num_rows != declared:
        raise SliceRowsMismatch(
            f"Slice {name} has {facts.num_rows} records, but its offset interval "
            f"[{interval.start}, {interval.end}] has {declared}.",
            objects=[name],
            extras={"found": facts.num_rows, "declared": declared},
        )


def _check_offsets(facts: SliceFacts, data_slice: DataSlice) -> None:
    name, interval = data_slice.physical_hash, data_slice.offset_interval
    if (facts.first_offset, facts.last_offset) != (interval.start, interval.end):
        raise SliceOffsetsMismatch(
            f"Slice {name} has the offsets {facts.first_offset} to {facts.last_offset}, but its block says "
            f"{interval.start} to {interval.end}.",
            objects=[name],
        )
    if facts.offset_fault is not None:
        fault = facts.offset_fault
        found = "null" if fault.found is None else fault.found
        raise SliceOffsetsMismatch(
            f"Offsets of slice {name} do not ascend by one: row {fault.row} has {found} instead of "
            f"{fault.expected}.",
            objects=[name],
            extras={"row": fault.row},
        )


def _check_system_columns(schema: Any, vocabulary: Vocabulary) -> None:
    columns = [
        (vocabulary.offset_column, "an Int64", lambda t: t in (pa.int64(), pa.uint64())),
        (vocabulary.operation_type_column, "an Int32", lambda t: t in (pa.int32(), pa.uint8())),
        (vocabulary.system_time_column, "a timestamp", pa.types.is_timestamp),
        (
            vocabulary.event_time_column,
            "a timestamp or a date",
            lambda t: pa.types.is_timestamp(t) or pa.types.is_date(t),
        ),
    ]
    for name, wanted, fits in columns:
        positions = schema.get_all_field_indices(name)
        if len(positions) != 1:
            raise SliceSchemaMismatch(
                f"A data slice has {len(positions)} columns named {name!r}; it needs one, {wanted}.",
                objects=[name],
            )
        found = schema.field(positions[0]).type
        if not fits(found):
            raise SliceSchemaMismatch(
                f"Column {name!r} of a data slice is {found}; it has to be {wanted}.", objects=[name]
            )


def _declared_fields(schema: SetDataSchema | DataSchema | None) -> tuple[DataField, ...] | None:
    if isinstance(schema, SetDataSchema):
        if schema.schema is not None:
            return schema.schema.fields
        if schema.raw_arrow_schema is None:
            return None
        return arrow_schema_to_odf(read_raw_arrow_schema(schema.raw_arrow_schema)).fields
    return None if schema is None else schema.fields


def _check_schema(facts: SliceFacts, declared: tuple[DataField, ...]) -> None:
    try:
        found = arrow_schema_to_odf(facts.arrow_schema).fields
    except UnsupportedArrowType as error:
        raise SliceSchemaMismatch(
            f"A data slice has a column that ODF has no type for. {error.message}", objects=error.objects
        ) from error
    differences = list(schema_differences(found, declared, facts.null_counts))
    if differences:
        shown = "; ".join(differences[:_MOST_SHOWN]) + ("; …" if len(differences) > _MOST_SHOWN else "")
        raise SliceSchemaMismatch(
            f"The columns of a data slice are not those of its dataset: {shown}.",
            extras={"differences": differences[:100]},
        )
