"""What goes wrong while a source is fetched, prepared or scheduled."""

from typing import ClassVar

from odf_core.errors import (
    AccessDenied,
    InvalidInput,
    LimitExceeded,
    NotFound,
    ProtocolViolation,
    Unavailable,
)


class FetchNotAllowed(AccessDenied):
    """The manifest asks for something that this machine's operator has not allowed.

    `extras` has `setting` and `value`: the value that would allow it, and where it belongs.
    """

    code: ClassVar[str] = "fetch_not_allowed"


class InvalidFetchStep(InvalidInput):
    """A fetch step names what cannot be fetched: a URL, pattern, header or template that means nothing."""

    code: ClassVar[str] = "invalid_fetch_step"


class FetchStepUnsupported(InvalidInput):
    """A fetch step that metadata carry and this program does not perform."""

    code: ClassVar[str] = "fetch_step_unsupported"


class EventTimeUnreadable(InvalidInput):
    """The source's path or metadata do not tell the event time that the step asks of them."""

    code: ClassVar[str] = "event_time_unreadable"


class SourceNotFound(NotFound):
    """The source says that it has no such file, or there is none on this machine."""

    code: ClassVar[str] = "source_not_found"


class SourceUnreachable(Unavailable):
    """The source does not answer, or answers with something else than the file."""

    code: ClassVar[str] = "source_unreachable"


class SourceTimedOut(Unavailable):
    """The source was silent, or took altogether longer, than a limit allows."""

    code: ClassVar[str] = "source_timed_out"


class SourceTooLarge(LimitExceeded):
    """The source sends more than a limit allows."""

    code: ClassVar[str] = "source_too_large"


class TooManyRedirects(LimitExceeded):
    """The source sends from one URL to the next without an end."""

    code: ClassVar[str] = "source_redirects_too_often"


class SourceMisbehaved(ProtocolViolation):
    """The source breaks the protocol it is fetched by."""

    code: ClassVar[str] = "source_misbehaved"


class ContainerRuntimeMissing(Unavailable):
    """There is neither docker nor podman on this machine, or it does not answer."""

    code: ClassVar[str] = "container_runtime_missing"


class ContainerFailed(Unavailable):
    """The container of a fetch step ended with an error."""

    code: ClassVar[str] = "fetch_container_failed"


class InvalidPrepareStep(InvalidInput):
    """A prepare step that cannot be carried out: no command, or one that is not there."""

    code: ClassVar[str] = "invalid_prepare_step"


class ArchiveDamaged(InvalidInput):
    """Compressed input is truncated, corrupt, or not of the format that the step names."""

    code: ClassVar[str] = "archive_damaged"


class ArchiveUnsafe(InvalidInput):
    """An archive has what is never unpacked: paths that lead out of it, links, encrypted entries."""

    code: ClassVar[str] = "archive_unsafe"


class ArchiveEntryNotFound(InvalidInput):
    """The archive has no file, or not exactly one, for the step's sub-path."""

    code: ClassVar[str] = "archive_entry_not_found"


class PreparedTooLarge(LimitExceeded):
    """A prepare step makes more than a limit allows: a decompression bomb, or a talkative command."""

    code: ClassVar[str] = "prepared_too_large"


class PipeFailed(InvalidInput):
    """The command of a pipe step ended with an error; the message has its last words."""

    code: ClassVar[str] = "pipe_command_failed"


class PipeTimedOut(LimitExceeded):
    """The command of a pipe step ran longer than a limit allows and was killed."""

    code: ClassVar[str] = "pipe_command_timed_out"


class InvalidSchedule(InvalidInput):
    """A cron expression that is none, or that never comes due."""

    code: ClassVar[str] = "invalid_schedule"
