"""Errors of data that are on their way in."""

from typing import ClassVar

from odf_core.errors import LimitExceeded, NotFound


class ScheduleNotFound(NotFound):
    """The dataset is not polled by itself."""

    code: ClassVar[str] = "schedule_not_found"


class IngestTooLarge(LimitExceeded):
    """The body of an ingest has more bytes than `ingest.max_bytes`."""

    code: ClassVar[str] = "ingest_too_large"
