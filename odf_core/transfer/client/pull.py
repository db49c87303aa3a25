"""A pull over the Smart Transfer Protocol (wire.md 3.4), driven to its end.

A node may answer with an older part of what is missing; the pull goes on until nothing is. A session
whose connection breaks is opened anew: objects that are in place do not move again.
"""

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from odf_core.chain import InvalidInterval
from odf_core.identity import DatasetId, Multihash, ObjectRef
from odf_core.transfer import (
    BlocksBatch,
    ClientPullSession,
    PullObjects,
    PullRequest,
    TransferPlan,
    read_batch,
)
from odf_core.transfer.client.addresses import DatasetAddress
from odf_core.transfer.client.conversation import Conversation, open_conversation
from odf_core.transfer.client.dispatch import Dispatcher, Ticket, use_before
from odf_core.transfer.client.download import Download
from odf_core.transfer.client.explain import explain_divergence
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.landing import CreateDataset, Landing
from odf_core.transfer.client.progress import SILENT, Phase, Progress
from odf_core.transfer.client.repository import remote_head
from odf_core.transfer.client.results import TransferResult, TransferStats, Updated, UpToDate
from odf_core.transfer.errors import ConnectionLost, UnexpectedMessage

PullConversation = Conversation[ClientPullSession]


@dataclass(slots=True)
class SmartPull:
    """Brings the dataset at `address` to the folder `local` (None: where `create` says).

    `dataset_id` is needed by the published dialect only. `run` raises `DatasetsDiverged` and
    `DestinationAhead` without `force`, `IdentityChanged`, and the errors of the node, of blocks, of the
    chain's rules and of objects; the local head is then where it was, or at an older part that is whole.
    """

    http: Http
    address: DatasetAddress
    local: DatasetFolder | None
    create: CreateDataset
    token: str | None = None
    progress: Progress = SILENT
    force: bool = False
    dataset_id: DatasetId | None = None

    def run(self) -> TransferResult:
        self.progress.phase(Phase.CONNECT)
        head = remote_head(self.http, self.address.url, self.token)
        if self.local is not None and self.local.head() == head:
            return UpToDate(head)
        pulled: Updated | None = None
        while pulled is None or pulled.new_head != head:
            part = self._with_patience()
            if isinstance(part, UpToDate):
                return pulled or part
            pulled = part if pulled is None else _joined(pulled, part)
        return pulled

    def _with_patience(self) -> TransferResult:
        """One session; another one where the connection broke."""
        for number in range(1, self.http.options.session_attempts + 1):
            try:
                return self._session()
            except ConnectionLost as lost:
                if number == self.http.options.session_attempts:
                    raise
                self.http.pause(number, lost)
        raise AssertionError("session_attempts is positive")

    def _session(self) -> TransferResult:
        landing = Landing(self.local, self.create, self.http.options, self.progress, force=self.force)
        url = self.address.join("pull")
        with open_conversation(self.http, url, self.token, ClientPullSession) as talk:
            try:
                plan = talk.ask(talk.session.send_request(self._request(landing.old_head)))
            except InvalidInterval as refused:
                self._explain(landing.old_head, refused)
                raise
            if not isinstance(plan, TransferPlan):
                raise UnexpectedMessage("The node answered a request for a plan with something else.")
            if plan.num_blocks == 0:
                talk.finish()
                return self._up_to_date(landing)
            self.progress.phase(Phase.BLOCKS, count=plan.num_blocks, size=plan.bytes_in_raw_blocks)
            batch = talk.ask(talk.session.send_metadata_request())
            if not isinstance(batch, BlocksBatch):
                raise UnexpectedMessage("The node answered a request for blocks with something else.")
            landing.take(read_batch(batch, self.http.options.limits))
            del batch
            self.local = landing.require_folder()
            result = landing.commit(_fetch_objects(self.http, talk, landing, self.progress))
            talk.finish()
            return result

    def _request(self, begin_after: Multihash | None) -> PullRequest:
        force = self.force and begin_after is not None
        return PullRequest(self.dataset_id, begin_after, None, force)

    def _up_to_date(self, landing: Landing) -> UpToDate:
        if landing.old_head is None:
            raise UnexpectedMessage("The node says that there is nothing to pull, but nothing is here.")
        return UpToDate(landing.old_head)

    def _explain(self, local_head: Multihash | None, refused: InvalidInterval) -> None:
        """Raise the refusal in terms of both sides, if the local side has a chain."""
        if self.local is None or local_head is None:
            return
        remote = refused.head or remote_head(self.http, self.address.url, self.token)
        explain_divergence(
            "pull", self.http, self.address, self.token, self.local, local_head, remote, self.dataset_id
        )


def _fetch_objects(http: Http, talk: PullConversation, landing: Landing, progress: Progress) -> TransferStats:
    """Download what is missing; the socket is needed again only when URLs expire."""
    missing = landing.missing()
    if not missing:
        return TransferStats()
    progress.phase(Phase.OBJECTS, count=len(missing), size=sum(ref.size or 0 for ref in missing))
    folder = landing.require_folder()

    def ask(refs: Sequence[ObjectRef]) -> dict[ObjectRef, Ticket]:
        now = datetime.now(UTC)
        answer = talk.ask(talk.session.send_objects_request(refs))
        if not isinstance(answer, PullObjects):
            raise UnexpectedMessage("The node answered a request for objects with something else.")
        margin = http.options.expiry_margin
        return {
            item.object: Ticket(
                item.url.url, dict(item.url.headers), use_before(item.url.expires_at, now, margin)
            )
            for item in answer.strategies
        }

    def move(ref: ObjectRef, ticket: Ticket, stop: threading.Event) -> int:
        target = folder.object_path(ref)
        moved = Download(http, ref, ticket.url or "", ticket.headers, target, progress, stop).run()
        folder.object_arrived(ref)
        return moved

    dispatcher = Dispatcher(http.options, progress, ask, move, parallelism=http.options.parallelism)
    return dispatcher.run(missing)


def _joined(first: Updated, then: Updated) -> Updated:
    return Updated(
        first.old_head, then.new_head, first.num_blocks + then.num_blocks, first.stats + then.stats
    )
