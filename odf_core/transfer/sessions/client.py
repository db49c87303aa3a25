"""What the client's sides share: reading answers, and what a close frame means."""

import enum
from collections import defaultdict
from collections.abc import Sequence
from typing import Any, TypeVar

from odf_core.errors import OdfError
from odf_core.identity import ObjectKind, ObjectRef
from odf_core.identity.multihash import Multihash
from odf_core.transfer.dialects.reading import to_bytes
from odf_core.transfer.errors import StrategiesMismatch
from odf_core.transfer.model import CloseFrame
from odf_core.transfer.sessions.base import Session

State = TypeVar("State", bound=enum.Enum)
U = TypeVar("U")


class ClientSession(Session[State]):
    """The puller's or pusher's side."""

    failed_state: State
    finished_state: State

    def receive_close(self, frame: CloseFrame) -> OdfError | None:
        """What the end of the connection means: an error, or None once this side has finished.

        A connection that ended without a close frame counts as code 1006.
        """
        if self.state is self.finished_state:
            return None
        error = self._told(self.dialect.close_error(frame, self.turns[self.state].reply))
        self.state = self.failed_state
        return error

    def _read(self, text: bytes | str) -> Any:
        try:
            self._check_size(text)
            due = self.due
            if due:
                return self.dialect.decode(self.dialect.which(text, *due), text, self.limits)
            raise self.dialect.peer_error(to_bytes(text), self.turns[self.state].reply) or self._unexpected()
        except OdfError as error:
            self.state = self.failed_state
            told = self._told(error)
            if told is not error:
                raise told from error
            raise

    def _told(self, error: OdfError) -> OdfError:
        """The error with what this side knows better."""
        return error


def answers_in_order(
    requested: Sequence[ObjectRef], answered: Sequence[tuple[ObjectRef, U]]
) -> list[tuple[ObjectRef, U]]:
    """One answer for each requested object, in the order of the request, under our own references.

    Raises StrategiesMismatch if the peer answers fewer, more, or others.
    """
    by_object: defaultdict[tuple[ObjectKind, Multihash], list[U]] = defaultdict(list)
    for ref, answer in answered:
        by_object[ref.kind, ref.hash].append(answer)
    unanswered = [ref for ref in requested if not by_object[ref.kind, ref.hash]]
    if unanswered or len(answered) != len(requested):
        raise StrategiesMismatch(
            f"The node answered for {len(answered)} objects, {len(requested)} were asked for"
            + (f"; missing are {', '.join(str(ref) for ref in unanswered[:3])}." if unanswered else "."),
            objects=unanswered,
        )
    found: list[tuple[ObjectRef, U]] = []
    for ref in requested:
        answers = by_object[ref.kind, ref.hash]
        if not answers:
            raise StrategiesMismatch(
                "The node answered for other objects than were asked for.", objects=[ref]
            )
        found.append((ref, answers.pop(0)))
    return found
