"""The node's side of a pull (wire.md 3.4)."""

import enum
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from odf_core.limits import Limits
from odf_core.transfer.dialects import Dialect
from odf_core.transfer.errors import BatchCountMismatch
from odf_core.transfer.frames import TextMessage
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
    MetadataRequest,
    ObjectsRequest,
    PullObjects,
    PullRequest,
    PullStrategy,
    TransferPlan,
)
from odf_core.transfer.sessions.base import Turn
from odf_core.transfer.sessions.server import ServerSession


class ServerPullState(enum.Enum):
    """What is due from the client, or owed by the node."""

    REQUEST_DUE = "request due"
    PLAN_OWED = "plan owed"
    UP_TO_DATE = "up to date"
    METADATA_REQUEST_DUE = "metadata request due"
    METADATA_OWED = "metadata owed"
    OBJECTS_REQUEST_DUE = "objects request due"
    OBJECTS_OWED = "objects owed"
    FAILED = "failed"


_S = ServerPullState


class ServerPullSession(ServerSession[ServerPullState]):
    """Feed it texts with `receive_text`, answer each event with the `send_…` of its kind.

    Requests for objects may come until the client closes, also for the same objects again. The client
    closes; with a plan of 0 blocks right after it.
    """

    failed_state = _S.FAILED
    turns: ClassVar[Mapping[Any, Turn]] = {
        _S.REQUEST_DUE: Turn((PULL_REQUEST,), PULL_RESPONSE),
        _S.PLAN_OWED: Turn((), PULL_RESPONSE),
        _S.UP_TO_DATE: Turn((), PULL_METADATA_RESPONSE),
        _S.METADATA_REQUEST_DUE: Turn((PULL_METADATA_REQUEST,), PULL_METADATA_RESPONSE),
        _S.METADATA_OWED: Turn((), PULL_METADATA_RESPONSE),
        _S.OBJECTS_REQUEST_DUE: Turn((PULL_OBJECTS_REQUEST,), PULL_OBJECTS_RESPONSE),
        _S.OBJECTS_OWED: Turn((), PULL_OBJECTS_RESPONSE),
        _S.FAILED: Turn((), PULL_OBJECTS_RESPONSE),
    }

    def __init__(self, dialect: Dialect, limits: Limits) -> None:
        super().__init__(dialect, limits, _S.REQUEST_DUE)
        self._plan = TransferPlan.empty()

    def receive_text(self, text: bytes | str) -> PullRequest | MetadataRequest | ObjectsRequest:
        """The client's next message as an event.

        Raises ProtocolViolation and LimitExceeded leaves and those of what the message holds; answer
        each with `fail`.
        """
        _, value = self._read(text)
        if isinstance(value, PullRequest):
            self.state = _S.PLAN_OWED
            return value
        if isinstance(value, MetadataRequest):
            self.state = _S.METADATA_OWED
            return value
        request: ObjectsRequest = value
        self.state = _S.OBJECTS_OWED
        return request

    def send_plan(self, plan: TransferPlan) -> TextMessage:
        """Answer to PullRequest; 0 blocks say that the client is up to date."""
        self._plan = plan
        then = _S.METADATA_REQUEST_DUE if plan.num_blocks else _S.UP_TO_DATE
        return self._send(PULL_RESPONSE, plan, at=_S.PLAN_OWED, then=then)

    def send_blocks(self, batch: BlocksBatch) -> TextMessage:
        """Answer to MetadataRequest: exactly the blocks of the plan; send it in `chunks`."""
        self._check_count(batch.num_blocks)
        return self._send(PULL_METADATA_RESPONSE, batch, at=_S.METADATA_OWED, then=_S.OBJECTS_REQUEST_DUE)

    def sent_blocks(self, num_blocks: int) -> None:
        """Notes that the answer to MetadataRequest was sent as it had been encoded before."""
        self._check_count(num_blocks)
        self._require(_S.METADATA_OWED, "batch")
        self.state = _S.OBJECTS_REQUEST_DUE

    def send_objects(self, strategies: Sequence[PullStrategy]) -> TextMessage:
        """Answer to ObjectsRequest: one strategy for each object, in its order."""
        value = PullObjects(tuple(strategies))
        return self._send(PULL_OBJECTS_RESPONSE, value, at=_S.OBJECTS_OWED, then=_S.OBJECTS_REQUEST_DUE)

    def _check_count(self, num_blocks: int) -> None:
        if num_blocks != self._plan.num_blocks:
            raise BatchCountMismatch(
                f"The plan announced {self._plan.num_blocks} blocks, but the batch has {num_blocks}."
            )
