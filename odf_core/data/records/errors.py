"""Why records cannot be written out."""

from typing import ClassVar

from odf_core.errors import InvalidInput, LimitExceeded


class UnsupportedRecordType(InvalidInput):
    """A column of a type that the wanted form of output has no cells for."""

    code: ClassVar[str] = "unsupported_record_type"


class RecordsTooLarge(LimitExceeded):
    """More records than the wanted form of output may hold."""

    code: ClassVar[str] = "records_too_large"
