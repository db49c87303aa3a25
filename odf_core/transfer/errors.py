"""Errors of a transfer session, whatever its dialect. Archives have theirs in `archive.errors`."""

from typing import ClassVar

from odf_core.errors import (
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
from odf_core.identity import DatasetId, Multihash


class HeadMoved(Conflict):
    """The dataset's head is not where the pusher believes it to be.

    `expected` is the head that the pusher started from, `actual` the node's (None: no head). A reason
    of a close frame may hold only the beginning of `actual`: then `actual` is None and
    `extras["actual_head_prefix"]` has what is known.
    """

    code: ClassVar[str] = "head_moved"

    def __init__(
        self, expected: Multihash | None, actual: Multihash | None, *, actual_prefix: str | None = None
    ) -> None:
        shown = f"{actual_prefix}…" if actual_prefix is not None else str(actual or "none")
        extras = {"expected_head": _text(expected), "actual_head": _text(actual)}
        if actual_prefix is not None:
            extras["actual_head_prefix"] = actual_prefix
        super().__init__(
            f"The node's head is {shown}, but the push starts from {expected or 'none'}; "
            "pull what is new, then push again.",
            objects=[head for head in (expected, actual) if head is not None],
            extras=extras,
        )
        self.expected = expected
        self.actual = actual


class NameCollision(Conflict):
    """The name is taken by another dataset."""

    code: ClassVar[str] = "name_collision"

    def __init__(self, alias: object) -> None:
        super().__init__(
            f"Another dataset already has the name {alias}; push under a different name.",
            objects=[alias],
            extras={"dataset_alias": str(alias)},
        )
        self.alias = str(alias)


class RefCollision(Conflict):
    """The dataset is already stored under another name."""

    code: ClassVar[str] = "ref_collision"

    def __init__(self, dataset_id: DatasetId) -> None:
        super().__init__(
            f"Dataset {dataset_id} is already stored under another name; push it there.",
            objects=[dataset_id],
            extras={"dataset_id": str(dataset_id)},
        )
        self.dataset_id = dataset_id


class SeedOverwriteRestricted(Conflict):
    """A forced push would replace the dataset by one of another identity or kind."""

    code: ClassVar[str] = "seed_overwrite_restricted"

    def __init__(self) -> None:
        super().__init__(
            "A push cannot change the id or the kind of a dataset, not even by force; push under a new name."
        )


class DatasetIdMismatch(Conflict):
    """The request names another dataset than the address does."""

    code: ClassVar[str] = "dataset_id_mismatch"


class MalformedMessage(ProtocolViolation):
    """Text that cannot be read as the message that is due."""

    code: ClassVar[str] = "malformed_message"


class UnexpectedMessage(ProtocolViolation):
    """A message that may not come at this point of the session."""

    code: ClassVar[str] = "unexpected_message"


class BinaryFrame(ProtocolViolation):
    """A binary message; the protocol has text only."""

    code: ClassVar[str] = "binary_frame"


class UnsupportedSubprotocol(ProtocolViolation):
    """The client offers subprotocols, but none that is spoken here."""

    code: ClassVar[str] = "unsupported_subprotocol"


class StrategiesMismatch(ProtocolViolation):
    """The answer to a request for objects is about other objects."""

    code: ClassVar[str] = "strategies_mismatch"


class MessageTooLarge(LimitExceeded):
    """A message larger than is read at this point."""

    code: ClassVar[str] = "message_too_large"


class TooManyObjects(LimitExceeded):
    """A request for more objects than are answered at once."""

    code: ClassVar[str] = "too_many_objects"


class TooManyBlocks(LimitExceeded):
    """A plan of more blocks than are taken in one session."""

    code: ClassVar[str] = "too_many_blocks"


class UnsupportedMediaType(InvalidInput):
    """A batch of blocks in a container or encoding that the dialect does not have."""

    code: ClassVar[str] = "unsupported_media_type"


class UnknownHashCode(InvalidInput):
    """A hash of another function than SHA3-256, where only that one can stand."""

    code: ClassVar[str] = "unknown_hash_code"


class EmptyPush(InvalidInput):
    """A push that announces no block."""

    code: ClassVar[str] = "empty_push"


class DialectLimitation(InvalidInput):
    """A wish that the dialect of the connection has no words for."""

    code: ClassVar[str] = "dialect_limitation"


class ObjectsUndeclared(InvalidInput):
    """Objects are asked for that no block of the push declares."""

    code: ClassVar[str] = "objects_undeclared"


class BatchCountMismatch(IntegrityError):
    """The plan, the batch and its archive do not agree on the number of blocks."""

    code: ClassVar[str] = "batch_count_mismatch"


class ObjectsMissing(NotFound):
    """Objects that the blocks declare, or that were asked for, are not there."""

    code: ClassVar[str] = "objects_missing"


class SessionExpired(Unavailable):
    """The session lasted longer than its uploads are kept; push again, nothing present moves twice."""

    code: ClassVar[str] = "session_expired"


class ConnectionLost(Unavailable):
    """The connection ended in the middle; nothing was committed."""

    code: ClassVar[str] = "connection_lost"


class PushOutcomeUnknown(OutcomeUnknown):
    """The connection ended while the node committed; look at its head before pushing again."""

    code: ClassVar[str] = "push_outcome_unknown"


class PeerFailure(InternalError):
    """The peer reports a failure without a code that is known here."""

    code: ClassVar[str] = "peer_failure"


class SessionMisuse(InternalError):
    """This program called a session out of turn."""

    code: ClassVar[str] = "session_misuse"


def _text(head: Multihash | None) -> str | None:
    return None if head is None else str(head)
