"""The puller's side of a pull (wire.md 3.4)."""

import enum
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from odf_core.identity import ObjectRef
from odf_core.limits import Limits
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.errors import BatchCountMismatch
from odf_core.transfer.frames import CLOSE_NORMAL, TextMessage
from odf_core.transfer.messages import (
    PULL_METADATA_REQUEST,
    PULL_METADATA_RESPONSE,
    PULL_OBJECTS_REQUEST,
    PULL_OBJECTS_RESPONSE,
    PULL_REQUEST,
    PULL_RESPONSE,
)
from odf_core.transfer.model import (
    BlocksBatch,
    CloseFrame,
    MetadataRequest,
    ObjectsRequest,
    PullObjects,
    PullRequest,
    PullStrategy,
    TransferPlan,
)
from odf_core.transfer.sessions.base import Turn
from odf_core.transfer.sessions.client import ClientSession, answers_in_order


class ClientPullState(enum.Enum):
    """What is due from the node; in the others it is our turn."""

    NEW = "new"
    PLAN_DUE = "plan due"
    PLANNED = "planned"
    METADATA_DUE = "metadata due"
    READY = "ready"
    OBJECTS_DUE = "objects due"
    FINISHED = "finished"
    FAILED = "failed"


_S = ClientPullState


class ClientPullSession(ClientSession[ClientPullState]):
    """`send_request`, then the plan; `send_metadata_request`, then the blocks; then as many times as
    wished `send_objects_request` and its strategies (again for expired URLs); at last `finish`.

    A node may plan an older prefix of what is missing: a further pull continues behind it.
    """

    failed_state = _S.FAILED
    finished_state = _S.FINISHED
    turns: ClassVar[Mapping[Any, Turn]] = {
        _S.NEW: Turn((), PULL_RESPONSE),
        _S.PLAN_DUE: Turn((PULL_RESPONSE,), PULL_RESPONSE),
        _S.PLANNED: Turn((), PULL_METADATA_RESPONSE),
        _S.METADATA_DUE: Turn((PULL_METADATA_RESPONSE,), PULL_METADATA_RESPONSE),
        _S.READY: Turn((), PULL_OBJECTS_RESPONSE),
        _S.OBJECTS_DUE: Turn((PULL_OBJECTS_RESPONSE,), PULL_OBJECTS_RESPONSE),
        _S.FINISHED: Turn((), PULL_OBJECTS_RESPONSE),
        _S.FAILED: Turn((), PULL_OBJECTS_RESPONSE),
    }

    def __init__(self, dialect: Dialect, limits: Limits) -> None:
        super().__init__(dialect, limits, _S.NEW)
        self._plan = TransferPlan.empty()
        self._requested: tuple[ObjectRef, ...] = ()

    def send_request(self, request: PullRequest) -> TextMessage:
        """First message; DialectLimitation if the dialect cannot say it."""
        return self._send(PULL_REQUEST, request, at=_S.NEW, then=_S.PLAN_DUE)

    def send_metadata_request(self) -> TextMessage:
        """Asks for the blocks of the plan; not after a plan of 0 blocks."""
        return self._send(PULL_METADATA_REQUEST, MetadataRequest(), at=_S.PLANNED, then=_S.METADATA_DUE)

    def send_objects_request(self, objects: Sequence[ObjectRef]) -> TextMessage:
        """Asks for strategies; repeat it to renew them."""
        text = self._send(
            PULL_OBJECTS_REQUEST, ObjectsRequest(tuple(objects)), at=_S.READY, then=_S.OBJECTS_DUE
        )
        self._requested = tuple(objects)
        return text

    def receive_text(self, text: bytes | str) -> TransferPlan | BlocksBatch | PullObjects:
        """The node's answer as an event.

        Raises the error that the node told instead (InvalidInterval, …), ProtocolViolation and
        LimitExceeded leaves, BatchCountMismatch, StrategiesMismatch; the session is over then.
        """
        value = self._read(text)
        if isinstance(value, TransferPlan):
            self._plan = value
            self.state = _S.PLANNED
            return value
        if isinstance(value, BlocksBatch):
            self._check_count(value)
            self.state = _S.READY
            return value
        objects: PullObjects = value
        self.state = _S.FAILED
        answered = answers_in_order(self._requested, [(item.object, item.url) for item in objects.strategies])
        self.state = _S.READY
        return PullObjects(tuple(PullStrategy(ref, url) for ref, url in answered))

    def finish(self) -> CloseFrame:
        """The close of a pull that succeeded; send it after everything is stored."""
        self._require((_S.PLANNED, _S.READY), "close")
        self.state = _S.FINISHED
        return CloseFrame(CLOSE_NORMAL, "Client pull flow succeeded")

    def _check_count(self, batch: BlocksBatch) -> None:
        if batch.num_blocks != self._plan.num_blocks:
            self.state = _S.FAILED
            raise BatchCountMismatch(
                f"The node planned {self._plan.num_blocks} blocks, but its batch has {batch.num_blocks}."
            )
