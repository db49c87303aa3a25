"""Errors of the data plane: types that cannot be hashed, files that cannot be read, slices that lie."""

from typing import ClassVar

from odf_core.errors import IntegrityError, InvalidInput, LimitExceeded, NotFound, Unavailable


class UnsupportedLogicalHashType(InvalidInput):
    """A column's type has no logical hash: the reference implementation panics on it (data.md 1.3)."""

    code: ClassVar[str] = "unsupported_logical_hash_type"


class DigestSchemaMismatch(InvalidInput):
    """A record batch was given to a digest that was started for other columns."""

    code: ClassVar[str] = "digest_schema_mismatch"


class InvalidDataFile(InvalidInput):
    """Bytes that are neither a readable Parquet file nor a readable Arrow IPC file or stream."""

    code: ClassVar[str] = "invalid_data_file"


class DataFileNotFound(NotFound):
    """A data file that is not there."""

    code: ClassVar[str] = "data_file_not_found"


class DataFileUnavailable(Unavailable):
    """The medium below a data file fails: nothing is known about the bytes themselves."""

    code: ClassVar[str] = "data_file_unavailable"


class DataFileLimitExceeded(LimitExceeded):
    """A data file whose footer, columns, row groups or pages pass a documented limit."""

    code: ClassVar[str] = "data_file_limit_exceeded"


class UnsupportedArrowType(InvalidInput):
    """An Arrow type that has no ODF data type, or the other way round (data.md 2)."""

    code: ClassVar[str] = "unsupported_arrow_type"


class InvalidRawArrowSchema(InvalidInput):
    """Bytes that are no `org.apache.arrow.flatbuf.Schema` (metadata.md 2.6)."""

    code: ClassVar[str] = "invalid_raw_arrow_schema"


class InvalidDdlSchema(InvalidInput):
    """Column definitions of a read step that are no DDL (data.md 3.2)."""

    code: ClassVar[str] = "invalid_ddl_schema"


class InvalidSliceInput(InvalidInput):
    """Rows that cannot become a data slice."""

    code: ClassVar[str] = "invalid_slice_input"


class SliceUnreadable(IntegrityError):
    """An object that a block names as its data slice is no readable Parquet file."""

    code: ClassVar[str] = "slice_unreadable"


class SliceRowsMismatch(IntegrityError):
    """A data slice holds another number of records than its offset interval."""

    code: ClassVar[str] = "slice_rows_mismatch"


class SliceOffsetsMismatch(IntegrityError):
    """The offsets in a data slice are not exactly its interval, each once, ascending in the file."""

    code: ClassVar[str] = "slice_offsets_mismatch"


class SliceSchemaMismatch(IntegrityError):
    """The columns of a data slice are not those of the dataset's schema and vocabulary."""

    code: ClassVar[str] = "slice_schema_mismatch"


class SliceSizeMismatch(IntegrityError):
    """A data slice has another size than its block says."""

    code: ClassVar[str] = "slice_size_mismatch"


class LogicalHashMismatch(IntegrityError):
    """The logical hash of a data slice is not the one in its block."""

    code: ClassVar[str] = "logical_hash_mismatch"
