"""The node's side of a push (wire.md 3.5)."""

import enum
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from odf_core.errors import OdfError
from odf_core.limits import Limits
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.errors import BatchCountMismatch, EmptyPush, TooManyBlocks
from odf_core.transfer.frames import Outgoing, TextMessage
from odf_core.transfer.messages import (
    PUSH_COMPLETE,
    PUSH_CONFIRMED,
    PUSH_METADATA,
    PUSH_METADATA_RESPONSE,
    PUSH_OBJECTS_REQUEST,
    PUSH_OBJECTS_RESPONSE,
    PUSH_PROGRESS,
    PUSH_PROGRESS_REQUEST,
    PUSH_REQUEST,
    PUSH_RESPONSE,
    Message,
)
from odf_core.transfer.model import (
    BlocksBatch,
    MetadataAccepted,
    ObjectsRequest,
    Phase,
    Progress,
    ProgressRequest,
    PushAccepted,
    PushComplete,
    PushConfirmed,
    PushObjects,
    PushRequest,
    PushStrategy,
    TransferPlan,
)
from odf_core.transfer.sessions.base import Turn
from odf_core.transfer.sessions.server import ServerSession

PushEvent = PushRequest | BlocksBatch | ObjectsRequest | Progress | PushComplete


class ServerPushState(enum.Enum):
    """What is due from the client, or owed by the node."""

    REQUEST_DUE = "request due"
    ACCEPTANCE_OWED = "acceptance owed"
    METADATA_DUE = "metadata due"
    METADATA_ACCEPTANCE_OWED = "metadata acceptance owed"
    OBJECTS_REQUEST_DUE = "objects request due"
    OBJECTS_OWED = "objects owed"
    UPLOADING = "uploading"
    COMPLETE_DUE = "complete due"
    CONFIRMATION_OWED = "confirmation owed"
    CONFIRMED = "confirmed"
    FAILED = "failed"


_S = ServerPushState


class ServerPushSession(ServerSession[ServerPushState]):
    """Feed it texts with `receive_text`, answer each event with the `send_…` of its kind.

    Progress needs no answer. In the deployed dialect uploads end with Progress `is_complete`; then the
    next ObjectsRequest comes if the last one was truncated, PushComplete otherwise. In the published
    dialect either may come at any time once the blocks were taken: a push may have no objects at all.
    """

    failed_state = _S.FAILED
    turns: ClassVar[Mapping[Any, Turn]] = {
        _S.REQUEST_DUE: Turn((PUSH_REQUEST,), PUSH_RESPONSE),
        _S.ACCEPTANCE_OWED: Turn((), PUSH_RESPONSE),
        _S.METADATA_DUE: Turn((PUSH_METADATA,), PUSH_METADATA_RESPONSE),
        _S.METADATA_ACCEPTANCE_OWED: Turn((), PUSH_METADATA_RESPONSE),
        _S.OBJECTS_REQUEST_DUE: Turn((PUSH_OBJECTS_REQUEST,), PUSH_OBJECTS_RESPONSE),
        _S.OBJECTS_OWED: Turn((), PUSH_OBJECTS_RESPONSE),
        _S.UPLOADING: Turn((PUSH_PROGRESS,), PUSH_PROGRESS_REQUEST),
        # A reply to a progress request may cross the end of the uploads.
        _S.COMPLETE_DUE: Turn((PUSH_PROGRESS, PUSH_COMPLETE), PUSH_CONFIRMED),
        _S.CONFIRMATION_OWED: Turn((), PUSH_CONFIRMED),
        _S.CONFIRMED: Turn((), PUSH_CONFIRMED),
        _S.FAILED: Turn((), PUSH_CONFIRMED),
    }

    def __init__(self, dialect: Dialect, limits: Limits) -> None:
        super().__init__(dialect, limits, _S.REQUEST_DUE)
        self._plan = TransferPlan.empty()
        self._is_truncated = False
        self._deferred: OdfError | None = None

    @property
    def due(self) -> tuple[Message[Any], ...]:
        """Messages that the peer may send now."""
        if self.state in (_S.OBJECTS_REQUEST_DUE, _S.UPLOADING) and not self.dialect.has_progress:
            return (PUSH_OBJECTS_REQUEST, PUSH_COMPLETE)
        return super().due

    def receive_text(self, text: bytes | str) -> PushEvent:
        """The client's next message as an event.

        Raises ProtocolViolation, LimitExceeded, EmptyPush, BatchCountMismatch and the leaves of what
        the message holds, and what `fail` had to put off; answer each with `fail`.
        """
        _, value = self._read(text)
        event: PushEvent = value
        if isinstance(event, PushRequest):
            self._check_plan(event.plan)
            self.state = _S.ACCEPTANCE_OWED
        elif isinstance(event, BlocksBatch):
            self._check_count(event)
            self.state = _S.METADATA_ACCEPTANCE_OWED
        elif isinstance(event, ObjectsRequest):
            self._is_truncated = event.is_truncated
            self.state = _S.OBJECTS_OWED
            if self._deferred is not None:
                raise self._deferred
        elif isinstance(event, PushComplete):
            self.state = _S.CONFIRMATION_OWED
        elif event.is_complete and self.state is _S.UPLOADING:
            self.state = _S.OBJECTS_REQUEST_DUE if self._is_truncated else _S.COMPLETE_DUE
        return event

    def send_accepted(self) -> TextMessage:
        """Answer to PushRequest."""
        return self._send(PUSH_RESPONSE, PushAccepted(), at=_S.ACCEPTANCE_OWED, then=_S.METADATA_DUE)

    def send_metadata_accepted(self) -> TextMessage:
        """Answer to BlocksBatch."""
        return self._send(
            PUSH_METADATA_RESPONSE,
            MetadataAccepted(),
            at=_S.METADATA_ACCEPTANCE_OWED,
            then=_S.OBJECTS_REQUEST_DUE,
        )

    def send_objects(self, strategies: Sequence[PushStrategy]) -> TextMessage:
        """Answer to ObjectsRequest: one strategy for each object, in its order."""
        value = PushObjects(tuple(strategies))
        return self._send(PUSH_OBJECTS_RESPONSE, value, at=_S.OBJECTS_OWED, then=_S.UPLOADING)

    def send_progress_request(self) -> TextMessage | None:
        """To be sent every 10 s while uploads run; None where the dialect has no such message or no
        uploads run."""
        if self.state is not _S.UPLOADING or not self.dialect.has_progress:
            return None
        return self.dialect.encode(PUSH_PROGRESS_REQUEST, ProgressRequest())

    def send_confirmed(self) -> TextMessage:
        """Answer to PushComplete, after the commit. The client closes then."""
        return self._send(PUSH_CONFIRMED, PushConfirmed(), at=_S.CONFIRMATION_OWED, then=_S.CONFIRMED)

    def fail(self, error: OdfError, phase: Phase | None = None) -> tuple[Outgoing, ...]:
        """What to send so that the client learns of `error`.

        Some refusals of the blocks can be read by a deployed client only in the answer to its *next*
        message (wire.md 3.5). Then this answers the blocks as if they were taken, the session goes on
        (`is_failed` stays False), and `receive_text` raises the error when that message came.
        """
        owed = self.state is _S.METADATA_ACCEPTANCE_OWED
        if owed and self.dialect.defers(error, PUSH_METADATA_RESPONSE):
            self._deferred = error
            return (self.send_metadata_accepted(),)
        return super().fail(error, phase)

    def _check_plan(self, plan: TransferPlan) -> None:
        if plan.num_blocks == 0:
            raise EmptyPush("The push announces no blocks; there is nothing to do.")
        if plan.num_blocks > self.limits.archive_entries:
            raise TooManyBlocks(
                f"The push announces {plan.num_blocks} blocks; at most {self.limits.archive_entries} are "
                "taken at once, so push the older ones first."
            )
        self._plan = plan

    def _check_count(self, batch: BlocksBatch) -> None:
        if batch.num_blocks != self._plan.num_blocks:
            raise BatchCountMismatch(
                f"The plan announced {self._plan.num_blocks} blocks, but the batch has {batch.num_blocks}."
            )
