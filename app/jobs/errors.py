"""Errors of jobs."""

from typing import Any, ClassVar

from odf_core.errors import (
    AccessDenied,
    ChainViolation,
    Conflict,
    IntegrityError,
    InternalError,
    InvalidInput,
    LimitExceeded,
    NotFound,
    OdfError,
    OutcomeUnknown,
    ProtocolViolation,
    Unavailable,
)

_FAMILIES: dict[str, type[OdfError]] = {
    kind.family: kind
    for kind in (
        AccessDenied,
        ChainViolation,
        Conflict,
        IntegrityError,
        InternalError,
        InvalidInput,
        LimitExceeded,
        NotFound,
        OutcomeUnknown,
        ProtocolViolation,
        Unavailable,
    )
}


class JobNotFound(NotFound):
    """No such job, or none that the caller may know of."""

    code: ClassVar[str] = "job_not_found"


class JobExists(Conflict):
    """A job of this id is there already, for another dataset or account."""

    code: ClassVar[str] = "job_exists"


class JobAbandoned(Unavailable):
    """A job whose workers died as often as they took it up."""

    code: ClassVar[str] = "job_abandoned"


class JobSuperseded(Conflict):
    """Another worker has finished the job meanwhile; this one's work is thrown away."""

    code: ClassVar[str] = "job_superseded"


class IdempotencyKeyInvalid(InvalidInput):
    """An `Idempotency-Key` that is too long or not printable."""

    code: ClassVar[str] = "idempotency_key_invalid"


def error_values(error: OdfError) -> dict[str, Any]:
    """An error as a job's row keeps it: what a client may be told."""
    return {
        "code": error.code,
        "family": error.family,
        "message": error.message,
        "objects": list(error.objects),
    }


def error_of(values: dict[str, Any]) -> OdfError:
    """The error that `error_values` kept; of its family, with its own code."""
    kind = _FAMILIES.get(str(values.get("family")), InternalError)
    error = kind(str(values.get("message", "")), objects=values.get("objects") or ())
    error.code = str(values.get("code", kind.code))  # type: ignore[misc]
    return error
