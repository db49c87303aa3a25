"""The pusher's side of a push (wire.md 3.5)."""

import enum
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from odf_core.errors import OdfError
from odf_core.identity import Multihash, ObjectRef
from odf_core.limits import Limits
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.errors import BatchCountMismatch, HeadMoved
from odf_core.transfer.frames import CLOSE_NORMAL, TextMessage
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
)
from odf_core.transfer.model import (
    BlocksBatch,
    CloseFrame,
    MetadataAccepted,
    ObjectsRequest,
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
from odf_core.transfer.sessions.client import ClientSession, answers_in_order

PushAnswer = PushAccepted | MetadataAccepted | PushObjects | ProgressRequest | PushConfirmed


class ClientPushState(enum.Enum):
    """What is due from the node; in the others it is our turn."""

    NEW = "new"
    ACCEPTANCE_DUE = "acceptance due"
    ACCEPTED = "accepted"
    METADATA_ACCEPTANCE_DUE = "metadata acceptance due"
    READY = "ready"
    OBJECTS_DUE = "objects due"
    UPLOADING = "uploading"
    UPLOADED = "uploaded"
    CONFIRMATION_DUE = "confirmation due"
    CONFIRMED = "confirmed"
    FINISHED = "finished"
    FAILED = "failed"


_S = ClientPushState


class ClientPushSession(ClientSession[ClientPushState]):
    """`send_request`, `send_blocks`, then once or more `send_objects_request`, uploads, `send_uploaded`;
    at last `send_complete`, the confirmation, and `finish`.

    While uploads run, answer each ProgressRequest with `send_progress`. To be able to renew URLs in the
    deployed dialect, send requests as truncated and end with an empty one that is not. There the
    confirmation and a late progress request are the same text: ask for the node's head afterwards
    (wire.md 3.7).
    """

    failed_state = _S.FAILED
    finished_state = _S.FINISHED
    turns: ClassVar[Mapping[Any, Turn]] = {
        _S.NEW: Turn((), PUSH_RESPONSE),
        _S.ACCEPTANCE_DUE: Turn((PUSH_RESPONSE,), PUSH_RESPONSE),
        _S.ACCEPTED: Turn((), PUSH_METADATA_RESPONSE),
        _S.METADATA_ACCEPTANCE_DUE: Turn((PUSH_METADATA_RESPONSE,), PUSH_METADATA_RESPONSE),
        _S.READY: Turn((), PUSH_OBJECTS_RESPONSE),
        # A progress request may cross the end of the uploads before.
        _S.OBJECTS_DUE: Turn((PUSH_OBJECTS_RESPONSE, PUSH_PROGRESS_REQUEST), PUSH_OBJECTS_RESPONSE),
        _S.UPLOADING: Turn((PUSH_PROGRESS_REQUEST,), PUSH_PROGRESS_REQUEST),
        _S.UPLOADED: Turn((PUSH_PROGRESS_REQUEST,), PUSH_PROGRESS_REQUEST),
        _S.CONFIRMATION_DUE: Turn((PUSH_CONFIRMED,), PUSH_CONFIRMED),
        _S.CONFIRMED: Turn((), PUSH_CONFIRMED),
        _S.FINISHED: Turn((), PUSH_CONFIRMED),
        _S.FAILED: Turn((), PUSH_CONFIRMED),
    }

    def __init__(self, dialect: Dialect, limits: Limits) -> None:
        super().__init__(dialect, limits, _S.NEW)
        self._plan = TransferPlan.empty()
        self._claimed_head: Multihash | None = None
        self._requested: tuple[ObjectRef, ...] = ()
        self._is_truncated = False

    @property
    def can_request_objects(self) -> bool:
        """Whether `send_objects_request` is possible now."""
        if self.state is _S.UPLOADED:
            return self._is_truncated or not self.dialect.has_progress
        return self.state is _S.READY or (self.state is _S.UPLOADING and not self.dialect.has_progress)

    def send_request(self, request: PushRequest) -> TextMessage:
        """First message; DialectLimitation if the dialect cannot say it."""
        text = self._send(PUSH_REQUEST, request, at=_S.NEW, then=_S.ACCEPTANCE_DUE)
        self._plan = request.plan
        self._claimed_head = request.current_head
        return text

    def send_blocks(self, batch: BlocksBatch) -> TextMessage:
        """The blocks of the plan; send it in `chunks`."""
        if batch.num_blocks != self._plan.num_blocks:
            raise BatchCountMismatch(
                f"The plan announced {self._plan.num_blocks} blocks, but the batch has {batch.num_blocks}."
            )
        return self._send(PUSH_METADATA, batch, at=_S.ACCEPTED, then=_S.METADATA_ACCEPTANCE_DUE)

    def send_objects_request(
        self, objects: Sequence[ObjectRef], *, is_truncated: bool = False
    ) -> TextMessage:
        """Asks for strategies; `is_truncated` announces a further request."""
        if not self.can_request_objects:
            self._require(_S.READY, str(PUSH_OBJECTS_REQUEST))
        request = ObjectsRequest(tuple(objects), is_truncated)
        text = self._send(PUSH_OBJECTS_REQUEST, request, at=self.state, then=_S.OBJECTS_DUE)
        self._requested, self._is_truncated = request.objects, is_truncated
        return text

    def send_progress(self, uploaded_objects: int) -> TextMessage | None:
        """Reply to a ProgressRequest; None if it came too late to be answered."""
        if self.state is not _S.UPLOADING or not self.dialect.has_progress:
            return None
        return self.dialect.encode(PUSH_PROGRESS, Progress(uploaded_objects))

    def send_uploaded(self) -> TextMessage | None:
        """All objects of the last request are there; None where the dialect does not say so."""
        self._require(_S.UPLOADING, str(PUSH_PROGRESS))
        self.state = _S.UPLOADED
        return self.dialect.encode(PUSH_PROGRESS, Progress(None)) if self.dialect.has_progress else None

    def send_complete(self) -> TextMessage:
        """Everything is sent; from now on the outcome is the node's."""
        if self.dialect.has_progress and self._is_truncated:
            self._require(_S.READY, str(PUSH_COMPLETE))
        return self._send(PUSH_COMPLETE, PushComplete(), at=_S.UPLOADED, then=_S.CONFIRMATION_DUE)

    def receive_text(self, text: bytes | str) -> PushAnswer:
        """The node's message as an event.

        Raises the error that the node told instead (HeadMoved, …), ProtocolViolation and LimitExceeded
        leaves, StrategiesMismatch; the session is over then.
        """
        value = self._read(text)
        event: PushAnswer = value
        if isinstance(event, PushAccepted):
            self.state = _S.ACCEPTED
        elif isinstance(event, MetadataAccepted):
            self.state = _S.READY
        elif isinstance(event, PushConfirmed):
            self.state = _S.CONFIRMED
        elif isinstance(event, PushObjects):
            self.state = _S.FAILED
            answered = answers_in_order(
                self._requested, [(item.object, item.upload_to) for item in event.strategies]
            )
            self.state = _S.UPLOADING
            return PushObjects(tuple(PushStrategy(ref, url) for ref, url in answered))
        return event

    def finish(self) -> CloseFrame:
        """The close of a push that succeeded."""
        self._require(_S.CONFIRMED, "close")
        self.state = _S.FINISHED
        return CloseFrame(CLOSE_NORMAL, "Client push flow succeeded")

    def _told(self, error: OdfError) -> OdfError:
        if isinstance(error, HeadMoved) and error.expected is None and self._claimed_head is not None:
            return HeadMoved(
                self._claimed_head, error.actual, actual_prefix=error.extras.get("actual_head_prefix")
            )
        return error
