"""The objects of a push: asked for, uploaded in parallel, reported to the node as they go."""

import itertools
import threading
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from odf_core.chain import new_objects
from odf_core.identity import ObjectRef
from odf_core.metadata import StoredBlock
from odf_core.transfer import ClientPushSession, ClientPushState, ProgressRequest, PushObjects
from odf_core.transfer.client.conversation import Conversation
from odf_core.transfer.client.dispatch import Dispatcher, Ticket, use_before
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.progress import Phase, Progress
from odf_core.transfer.client.results import TransferStats
from odf_core.transfer.client.upload import Upload
from odf_core.transfer.errors import UnexpectedMessage

PushConversation = Conversation[ClientPushSession]


def send_objects(
    http: Http,
    talk: PushConversation,
    folder: DatasetFolder,
    blocks: Iterable[StoredBlock],
    progress: Progress,
    *,
    renewable: bool,
) -> TransferStats:
    """Upload what the node lacks of the objects of `blocks`; the session is then ready to complete.

    `renewable` leaves room to ask for URLs again, where the dialect has to be told (wire.md 3.5); it
    costs a round trip, so only pushes that take long do it by themselves. Raises what `Upload.run` and
    the node raise, `TransferUrlExpired` where there is no such room.
    """
    refs = list(dict.fromkeys(itertools.chain.from_iterable(new_objects(item.block) for item in blocks)))
    size = sum(ref.size or 0 for ref in refs)
    progress.phase(Phase.OBJECTS, count=len(refs), size=size)
    options = http.options
    long = size > options.one_round_bytes or len(refs) > options.objects_per_request
    rounds = talk.session.dialect.has_progress and (renewable or long)
    return _Uploads(http, talk, folder, progress, rounds).run(refs)


@dataclass(slots=True)
class _Uploads:
    http: Http
    talk: PushConversation
    folder: DatasetFolder
    progress: Progress
    rounds: bool
    _uploaded: "itertools.count[int]" = field(default_factory=itertools.count)
    _num_uploaded: int = 0

    def run(self, refs: Sequence[ObjectRef]) -> TransferStats:
        has_progress = self.talk.session.dialect.has_progress
        dispatcher = Dispatcher(
            self.http.options,
            self.progress,
            self._ask,
            self._move,
            parallelism=self.http.options.parallelism,
            poll=self._poll,
            ask_again=self.rounds or not has_progress,
            drain=has_progress,
        )
        stats = dispatcher.run(refs)
        if self.rounds or not refs:
            self.rounds = False
            self._ask(())
        self._say_uploaded()
        return stats

    def _ask(self, refs: Sequence[ObjectRef]) -> dict[ObjectRef, Ticket]:
        session = self.talk.session
        if session.state is ClientPushState.UPLOADING and session.dialect.has_progress:
            self._say_uploaded()
        now = datetime.now(UTC)
        answer = self.talk.ask(session.send_objects_request(refs, is_truncated=self.rounds))
        while isinstance(answer, ProgressRequest):  # sent before the node had read ours
            answer = self.talk.hear(self.http.options.reply_timeout)
        if not isinstance(answer, PushObjects):
            raise UnexpectedMessage("The node answered a request for objects with something else.")
        margin = self.http.options.expiry_margin
        tickets: dict[ObjectRef, Ticket] = {}
        for item in answer.strategies:
            url = item.upload_to
            tickets[item.object] = (
                Ticket(None)
                if url is None
                else Ticket(url.url, dict(url.headers), use_before(url.expires_at, now, margin))
            )
        return tickets

    def _move(self, ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        source = self.folder.object_path(ref)
        upload = Upload(self.http, ref, ticket.url or "", ticket.headers, source, self.progress, stop)
        sent = upload.run()
        self._num_uploaded = next(self._uploaded) + 1
        return sent

    def _poll(self) -> None:
        """Answer the node's questions about progress; notice its refusal while uploads still run."""
        while (heard := self.talk.overhear()) is not None:
            if isinstance(heard, ProgressRequest):
                reply = self.talk.session.send_progress(self._num_uploaded)
                if reply is not None:
                    self.talk.socket.send(reply)

    def _say_uploaded(self) -> None:
        message = self.talk.session.send_uploaded()
        if message is not None:
            self.talk.socket.send(message)
