"""Errors of data that are on their way in."""

from typing import ClassVar

from odf_core.errors import AccessDenied, Conflict, InvalidInput, LimitExceeded, NotFound


class ScheduleNotFound(NotFound):
    """The dataset is not polled by itself."""

    code: ClassVar[str] = "schedule_not_found"


class IngestTooLarge(LimitExceeded):
    """An ingest of more bytes than `ingest.max_bytes`, or than `ingest.max_upload_bytes` in an upload."""

    code: ClassVar[str] = "ingest_too_large"


class UploadTokenInvalid(InvalidInput):
    """An upload token that this node has not made."""

    code: ClassVar[str] = "upload_token_invalid"


class UploadTokenExpired(InvalidInput):
    """An upload token whose time is over."""

    code: ClassVar[str] = "upload_token_expired"


class ForeignUpload(AccessDenied):
    """An upload token of another account."""

    code: ClassVar[str] = "foreign_upload"


class UploadNotFound(NotFound):
    """The file of an upload token has not arrived."""

    code: ClassVar[str] = "upload_not_found"


class UploadSizeMismatch(InvalidInput):
    """An uploaded file has another size than was declared."""

    code: ClassVar[str] = "upload_size_mismatch"


class UploadUsed(Conflict):
    """The file of an upload token went into another dataset already."""

    code: ClassVar[str] = "upload_used"
