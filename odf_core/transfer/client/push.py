"""A push over the Smart Transfer Protocol (wire.md 3.5), driven to its end and confirmed.

The node's head is the judge: it is read before every session and after the last, so a push whose
connection broke at its very end is told from one that failed.
"""

from dataclasses import dataclass

from odf_core.chain import InvalidInterval, walk_interval
from odf_core.errors import OdfError, Unavailable
from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import StoredBlock
from odf_core.transfer import ClientPushSession, CloseFrame, PushRequest, TransferPlan, Visibility
from odf_core.transfer.client.addresses import DatasetAddress
from odf_core.transfer.client.answers import login_hint
from odf_core.transfer.client.conversation import Conversation, dialect_of, open_conversation
from odf_core.transfer.client.errors import (
    RemoteDatasetNotFound,
    RemoteForbidden,
    RemoteReadOnly,
    RemoteUnauthenticated,
    TransferUrlExpired,
)
from odf_core.transfer.client.explain import explain_divergence
from odf_core.transfer.client.folder import DatasetFolder
from odf_core.transfer.client.http import Http
from odf_core.transfer.client.progress import SILENT, Phase, Progress
from odf_core.transfer.client.repository import has_block, remote_head
from odf_core.transfer.client.results import TransferResult, TransferStats, Updated, UpToDate
from odf_core.transfer.client.uploads import send_objects
from odf_core.transfer.errors import ConnectionLost, PushOutcomeUnknown, SessionExpired
from odf_core.transfer.fit import FRAGMENTED_BYTES, fit_archive
from odf_core.transfer.messages import PUSH_CONFIRMED

PushConversation = Conversation[ClientPushSession]
_TRIED_AGAIN = (ConnectionLost, SessionExpired, PushOutcomeUnknown, TransferUrlExpired)


@dataclass(slots=True)
class SmartPush:
    """Brings the dataset of the folder `local` to `address`.

    `visibility` counts where the push creates the dataset. `run` raises `DatasetsDiverged` and
    `DestinationAhead` without `force`, `IdentityChanged`, `HeadMoved`, the errors that the node tells,
    and `PushOutcomeUnknown` where its head could not be read after the end.
    """

    http: Http
    address: DatasetAddress
    local: DatasetFolder
    dataset_id: DatasetId
    token: str | None = None
    progress: Progress = SILENT
    force: bool = False
    visibility: Visibility = Visibility.PRIVATE

    def run(self) -> TransferResult:
        if not self.address.smart:
            raise RemoteReadOnly(
                f"{self.address} is read-only; push to odf+{self.address}.", objects=[self.address]
            )
        self.progress.phase(Phase.CONNECT)
        local_head = self.local.head()
        if local_head is None:
            raise RemoteDatasetNotFound(f"There is no dataset in {self.local} to push.", objects=[self.local])
        old_head = self.remote_head()
        if old_head == local_head:
            return UpToDate(local_head)
        remote, pushed, stats = old_head, 0, TransferStats()
        while remote != local_head:
            blocks = self._interval(local_head, remote)
            remote, count, moved = self._with_patience(blocks, remote)
            pushed, stats = pushed + count, stats + moved
        return Updated(old_head, local_head, pushed, stats)

    def remote_head(self) -> Multihash | None:
        """The node's head, None where it has no such dataset."""
        try:
            return remote_head(self.http, self.address.url, self.token)
        except RemoteDatasetNotFound:
            return None

    def _interval(self, local_head: Multihash, remote: Multihash | None) -> list[StoredBlock]:
        """Blocks that the node lacks; the whole chain where `force` replaces what it has."""
        try:
            return walk_interval(self.local.read_block, local_head, remote)
        except InvalidInterval:
            if not self.force and remote is not None:
                explain_divergence(
                    "push",
                    self.http,
                    self.address,
                    self.token,
                    self.local,
                    local_head,
                    remote,
                    self.dataset_id,
                )
            return walk_interval(self.local.read_block, local_head, None)

    def _with_patience(
        self, blocks: list[StoredBlock], remote: Multihash | None
    ) -> tuple[Multihash, int, TransferStats]:
        """One session; another one where the connection broke (or URLs expired that could not be asked
        for again) and the node's head has not moved."""
        renewable = False
        for number in range(1, self.http.options.session_attempts + 1):
            sent: list[Multihash] = []
            try:
                return self._session(blocks, remote, sent, renewable=renewable)
            except (RemoteDatasetNotFound, RemoteForbidden) as refused:
                if self.token is not None:
                    raise
                raise self._nobody(refused) from refused
            except _TRIED_AGAIN as error:
                head = self._head_after(error)
                if sent and head == sent[0]:
                    count = next(place for place, block in enumerate(blocks, 1) if block.hash == head)
                    return head, count, TransferStats()
                if number == self.http.options.session_attempts or head != remote:
                    raise
                renewable = isinstance(error, TransferUrlExpired)
                self.http.pause(number, error)
        raise AssertionError("session_attempts is positive")

    def _nobody(self, refused: OdfError) -> RemoteUnauthenticated:
        """Nobody pushes without a token, though the answer may be 404 or 403 (wire.md 1.2 and 6.4)."""
        url = self.address.url
        return RemoteUnauthenticated(
            f"Nobody may push to {url} without a token; {login_hint(url)}.",
            objects=[url],
            extras=refused.extras,
        )

    def _head_after(self, error: OdfError) -> Multihash | None:
        try:
            return self.remote_head()
        except Unavailable:
            raise error from None

    def _session(
        self, blocks: list[StoredBlock], remote: Multihash | None, sent: list[Multihash], *, renewable: bool
    ) -> tuple[Multihash, int, TransferStats]:
        """Push as many of `blocks` as fit a message; the new head, their count, what moved.

        The new head is put into `sent` as soon as the node may commit it.
        """
        dialect = dialect_of(self.http.options)
        fitted = fit_archive(((item.hash, item.data) for item in blocks), dialect, FRAGMENTED_BYTES)
        part = blocks[: fitted.num_blocks]
        new_head = part[-1].hash
        request = PushRequest(
            self.dataset_id, remote, TransferPlan.of(part), self._needs_force(part, remote), self.visibility
        )
        with open_conversation(self.http, self.address.join("push"), self.token, ClientPushSession) as talk:
            talk.ask(talk.session.send_request(request))
            self.progress.phase(Phase.BLOCKS, count=len(part), size=request.plan.bytes_in_raw_blocks)
            talk.ask(talk.session.send_blocks(fitted.batch))
            stats = send_objects(self.http, talk, self.local, part, self.progress, renewable=renewable)
            self.progress.phase(Phase.COMMIT, count=len(part))
            sent.append(new_head)
            talk.ask(talk.session.send_complete())
            self._confirm(talk, new_head, remote)
            talk.finish()
        return new_head, len(part), stats

    def _needs_force(self, part: list[StoredBlock], remote: Multihash | None) -> bool:
        return remote is not None and part[0].block.prev_block_hash != remote

    def _confirm(self, talk: PushConversation, new_head: Multihash, old_head: Multihash | None) -> None:
        """Make sure that the node is where it says: a late progress request looks like its confirmation
        (wire.md 3.7), and then the confirmation proper is still to come."""
        while True:
            try:
                head = self.remote_head()
            except Unavailable as error:
                raise PushOutcomeUnknown(
                    f"The node took the push of {new_head}, but its head cannot be read: {error.message}",
                    objects=[new_head],
                ) from error
            if head == new_head or self._was_overtaken(new_head, head, old_head):
                return
            received = talk.socket.receive(self.http.options.reply_timeout)
            if received is None:
                raise PushOutcomeUnknown(
                    f"The node says that it committed {new_head}, but its head is {head}.",
                    objects=[new_head] + ([head] if head is not None else []),
                )
            dialect = talk.session.dialect
            if isinstance(received, CloseFrame):
                raise dialect.close_error(received, PUSH_CONFIRMED)
            dialect.decode(PUSH_CONFIRMED, received, self.http.options.limits)

    def _was_overtaken(self, new_head: Multihash, head: Multihash | None, old_head: Multihash | None) -> bool:
        """Whether somebody pushed on top of our head already, so that the node's is a later one."""
        moved_on = head is not None and head != old_head
        return moved_on and has_block(self.http, self.address.url, self.token, new_head)
