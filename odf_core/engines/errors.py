"""Errors of engines, from the caller's side and from within; nothing here imports an engine."""

from typing import ClassVar

from odf_core.errors import InternalError, InvalidInput, LimitExceeded, Unavailable


class EngineStartFailed(Unavailable):
    """The engine's process could not be started; the message has the last words of its log."""

    code: ClassVar[str] = "engine_start_failed"


class JavaNotFound(Unavailable):
    """No Java of a version that Spark runs on was found on this machine."""

    code: ClassVar[str] = "java_not_found"


class EngineDied(Unavailable):
    """The engine's process ended in the middle of a call; the next call starts a new one."""

    code: ClassVar[str] = "engine_died"


class EngineTimeout(Unavailable):
    """A call took longer than it may; the engine's process was killed."""

    code: ClassVar[str] = "engine_timeout"


class EngineBusy(Unavailable):
    """The engine works on as many calls as it takes at one time."""

    code: ClassVar[str] = "engine_busy"


class EngineFailed(InternalError):
    """A call failed in the engine for a reason that no other error names; its log has the details."""

    code: ClassVar[str] = "engine_failed"


class InvalidEngineRequest(InvalidInput):
    """A request that the engine cannot read: a wrong message, an unknown kind, a missing field."""

    code: ClassVar[str] = "invalid_engine_request"


class EngineMessageTooLarge(LimitExceeded):
    """A message to or from the engine of more bytes than are read."""

    code: ClassVar[str] = "engine_message_too_large"


class QueryRefused(InvalidInput):
    """A query that is understood and not allowed: it would read more than its inputs, or not repeat.

    `extras["place"]` has line and column (counted from 1), offset (from 0) and the fragment, where known.
    """

    code: ClassVar[str] = "query_refused"


class QueryInvalid(InvalidInput):
    """A query that the engine cannot understand: a misspelt word, an unknown column, a wrong type.

    `extras["place"]` as in `QueryRefused`.
    """

    code: ClassVar[str] = "query_invalid"


class EngineProtocolUnsupported(InvalidInput):
    """Program and engine are of releases that do not understand each other (docs/adr/0015)."""

    code: ClassVar[str] = "engine_protocol_unsupported"


class EngineIdentityDiffers(Unavailable):
    """An installed engine is no longer the one that was registered: its environment was changed."""

    code: ClassVar[str] = "engine_identity_differs"
