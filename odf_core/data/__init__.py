"""The Arrow side: logical hashes, schemas, and data slices held against the blocks that name them."""

from typing import TYPE_CHECKING

from odf_core.lazy import lazy_names

if TYPE_CHECKING:
    from odf_core.data.digest.record import RecordDigest, logical_hash_batches
    from odf_core.data.errors import (
        DataFileLimitExceeded,
        DataFileNotFound,
        DataFileUnavailable,
        DigestSchemaMismatch,
        InvalidDataFile,
        InvalidDdlSchema,
        InvalidRawArrowSchema,
        InvalidSliceInput,
        LogicalHashMismatch,
        SliceOffsetsMismatch,
        SliceRowsMismatch,
        SliceSchemaMismatch,
        SliceSizeMismatch,
        SliceUnreadable,
        UnsupportedArrowType,
        UnsupportedLogicalHashType,
    )
    from odf_core.data.files.logical_hash import logical_hash_file
    from odf_core.data.files.source import Source
    from odf_core.data.schema.ddl import ddl_schema_to_arrow
    from odf_core.data.schema.declared import declared_schema
    from odf_core.data.schema.from_arrow import arrow_schema_to_odf
    from odf_core.data.schema.raw_read import read_raw_arrow_schema
    from odf_core.data.schema.raw_write import write_raw_arrow_schema
    from odf_core.data.schema.to_arrow import odf_schema_to_arrow
    from odf_core.data.slices.check import check_logical_hash, check_slice
    from odf_core.data.slices.facts import OffsetFault, SliceFacts
    from odf_core.data.slices.inspect import inspect_slice
    from odf_core.data.slices.records import as_records
    from odf_core.data.slices.vocabulary import DefaultVocabulary
    from odf_core.data.slices.write import WrittenSlice, adopt_slice, physical_hash_file, write_slice

__all__ = [
    "logical_hash_file",
    "logical_hash_batches",
    "physical_hash_file",
    "RecordDigest",
    "Source",
    "inspect_slice",
    "check_slice",
    "check_logical_hash",
    "SliceFacts",
    "OffsetFault",
    "as_records",
    "write_slice",
    "adopt_slice",
    "WrittenSlice",
    "DefaultVocabulary",
    "arrow_schema_to_odf",
    "declared_schema",
    "ddl_schema_to_arrow",
    "odf_schema_to_arrow",
    "read_raw_arrow_schema",
    "write_raw_arrow_schema",
    "InvalidDataFile",
    "DataFileNotFound",
    "DataFileUnavailable",
    "DataFileLimitExceeded",
    "DigestSchemaMismatch",
    "UnsupportedLogicalHashType",
    "UnsupportedArrowType",
    "InvalidRawArrowSchema",
    "InvalidDdlSchema",
    "InvalidSliceInput",
    "SliceUnreadable",
    "SliceSizeMismatch",
    "SliceRowsMismatch",
    "SliceOffsetsMismatch",
    "SliceSchemaMismatch",
    "LogicalHashMismatch",
]

__getattr__ = lazy_names(
    __name__,
    {
        "digest.record": (
            "RecordDigest",
            "logical_hash_batches",
        ),
        "errors": (
            "DataFileLimitExceeded",
            "DataFileNotFound",
            "DataFileUnavailable",
            "DigestSchemaMismatch",
            "InvalidDataFile",
            "InvalidDdlSchema",
            "InvalidRawArrowSchema",
            "InvalidSliceInput",
            "LogicalHashMismatch",
            "SliceOffsetsMismatch",
            "SliceRowsMismatch",
            "SliceSchemaMismatch",
            "SliceSizeMismatch",
            "SliceUnreadable",
            "UnsupportedArrowType",
            "UnsupportedLogicalHashType",
        ),
        "files.logical_hash": ("logical_hash_file",),
        "files.source": ("Source",),
        "schema.ddl": ("ddl_schema_to_arrow",),
        "schema.declared": ("declared_schema",),
        "schema.from_arrow": ("arrow_schema_to_odf",),
        "schema.raw_read": ("read_raw_arrow_schema",),
        "schema.raw_write": ("write_raw_arrow_schema",),
        "schema.to_arrow": ("odf_schema_to_arrow",),
        "slices.check": (
            "check_logical_hash",
            "check_slice",
        ),
        "slices.facts": (
            "OffsetFault",
            "SliceFacts",
        ),
        "slices.inspect": ("inspect_slice",),
        "slices.records": ("as_records",),
        "slices.vocabulary": ("DefaultVocabulary",),
        "slices.write": (
            "WrittenSlice",
            "adopt_slice",
            "physical_hash_file",
            "write_slice",
        ),
    },
)
