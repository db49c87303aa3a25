"""The families of errors, seen from the caller's side.

Every error that leaves a public function of this project is an `OdfError`: it has a *family* (what
the caller can do about it), a stable *code* (what happened, never renamed), one *message* (a sentence
that a person can act on), the *objects* it is about (hashes, names, keys, paths) and *extras*
(JSON-compatible facts for programs). Foreign exceptions end at the adapter that met them.

Leaves live beside the code that raises them and derive from one of the families here. A code is
unique in the whole project and written in snake_case; `tests/test_errors.py` holds both.
"""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar


class OdfError(Exception):
    """Root of all errors of the project; never raised itself."""

    family: ClassVar[str] = "internal"
    code: ClassVar[str] = "internal_error"

    def __init__(
        self,
        message: str,
        *,
        objects: Iterable[object] = (),
        extras: Mapping[str, Any] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.objects: tuple[str, ...] = tuple(str(item) for item in objects)
        self.extras: dict[str, Any] = dict(extras or {})

    def diagnostics(self) -> dict[str, Any]:
        """The error as a JSON-compatible object: family, code, message, objects, extras."""
        return {
            "family": self.family,
            "code": self.code,
            "message": self.message,
            "objects": list(self.objects),
            "extras": self.extras,
        }


class InvalidInput(OdfError):
    """What was given cannot be read as what it should be. Mend it and send it again."""

    family = "invalid_input"
    code = "invalid_input"


class LimitExceeded(OdfError):
    """What was given is larger than a documented limit (`odf_core.limits`)."""

    family = "limit"
    code = "limit_exceeded"


class IntegrityError(OdfError):
    """Bytes are not what their hash, size or description says."""

    family = "integrity"
    code = "integrity_error"


class ChainViolation(OdfError):
    """A block may not follow the chain that it claims to follow."""

    family = "chain"
    code = "chain_violation"


class NotFound(OdfError):
    """The thing does not exist, or the caller may not know that it does."""

    family = "not_found"
    code = "not_found"


class AccessDenied(OdfError):
    """The caller is not who may do this, or has not said who it is."""

    family = "access"
    code = "access_denied"


class Conflict(OdfError):
    """*Refused*: somebody else's state stands in the way; nothing was changed."""

    family = "conflict"
    code = "conflict"


class ProtocolViolation(OdfError):
    """The peer said something that the protocol does not allow at this point."""

    family = "protocol"
    code = "protocol_violation"


class Unavailable(OdfError):
    """A service that is needed does not answer now; the same call may succeed later."""

    family = "unavailable"
    code = "unavailable"


class OutcomeUnknown(OdfError):
    """*Unknown*: the connection ended before the outcome was told; look before repeating."""

    family = "unknown"
    code = "outcome_unknown"


class InternalError(OdfError):
    """A fault of this program. The log has the details under the request id."""

    family = "internal"
    code = "internal_error"
