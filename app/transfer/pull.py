"""A pull as the node drives it (wire.md 3.4): plan, archive, then strategies as often as asked."""

from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial

import anyio.to_thread

from app.context import NodeContext
from app.database import connect
from app.datasets.model import DatasetInfo
from app.transfer.archive_cache import ArchiveCache, CachedMessage, write_message
from app.transfer.chain_index import Interval, find_interval, known_objects, plan_of, read_blocks, read_head
from app.transfer.channel import Channel, PeerGone
from app.transfer.conversation import send
from app.transfer.object_urls import download_strategies, key_of
from app.transfer.target import ChainReplaced, DatasetGone, Target, require_same_id
from odf_core.identity import Multihash
from odf_core.transfer import (
    BlocksBatch,
    Dialect,
    MetadataRequest,
    ObjectsRequest,
    PullRequest,
    ServerPullSession,
    TransferPlan,
    fit_archive,
)
from odf_core.transfer.errors import ObjectsMissing
from odf_core.transfer.messages import PULL_METADATA_RESPONSE

SHOWN_OBJECTS = 20
NORMAL_CLOSE = 1000


@dataclass(slots=True)
class PullConversation:
    """One pull session; the interval is pinned when it is asked for, so a later push changes nothing."""

    context: NodeContext
    channel: Channel
    dialect: Dialect
    target: Target
    dataset: DatasetInfo
    archives: ArchiveCache
    finished: bool = False
    session: ServerPullSession = field(init=False)
    _kept: AsyncExitStack = field(default_factory=AsyncExitStack)
    _archive: CachedMessage | None = None

    def __post_init__(self) -> None:
        self.session = ServerPullSession(self.dialect, self.context.settings.bounds)

    async def step(self) -> None:
        """Read the client's next message and answer it; the client ends a pull by its Close."""
        self.channel.limit_messages(self.session.max_message_bytes)
        try:
            text = await self.channel.receive()
        except PeerGone as gone:
            self.finished = gone.extras.get("closeCode") == NORMAL_CLOSE
            if self.finished:
                return
            raise
        event = self.session.receive_text(text)
        match event:
            case PullRequest():
                await self._answer_plan(event)
            case MetadataRequest():
                await self._send_archive()
            case ObjectsRequest():
                await self._answer_objects(event)

    async def aclose(self) -> None:
        """Give back the archive, which others may share."""
        await self._kept.aclose()

    async def _answer_plan(self, request: PullRequest) -> None:
        require_same_id(request.dataset_id, self.dataset.id)
        async with connect(self.context.engine) as conn:
            head = await read_head(conn, self.dataset.pk)
            if head is None:
                raise DatasetGone(f"{self.target.alias} was deleted meanwhile.", objects=[self.target.alias])
            interval = await find_interval(
                conn,
                self.dataset.pk,
                head,
                begin_after=request.begin_after,
                stop_at=request.stop_at,
                force=request.force,
            )
        plan = TransferPlan.empty()
        if interval.num_blocks:
            # Made before the plan is told: only then is it known how many blocks fit one message.
            key = (self.dialect.name, interval.dataset_pk, interval.tail, interval.head)
            self._archive = await self._kept.enter_async_context(
                self.archives.borrow(key, partial(self._make_archive, interval))
            )
            plan = self._archive.plan
        await send(self.channel, self.session.send_plan(plan))

    async def _make_archive(self, interval: Interval) -> CachedMessage:
        """Blocks and plan out of one snapshot, since a forced push may replace the chain at any time."""
        limits = self.context.settings.bounds
        async with connect(self.context.engine) as conn:
            await conn.execution_options(isolation_level="REPEATABLE READ")
            blocks = await read_blocks(conn, interval, max_raw_bytes=limits.archive_expanded_bytes)
            if len(blocks) == interval.num_blocks and blocks[-1][0] != interval.head:
                raise ChainReplaced("The chain was replaced by a forced push at this moment; pull again.")
            batch = await anyio.to_thread.run_sync(self._fit, blocks)
            plan = await plan_of(conn, interval.first_blocks(batch.num_blocks))
        return await anyio.to_thread.run_sync(self._encode, batch, plan)

    def _fit(self, blocks: list[tuple[Multihash, bytes]]) -> BlocksBatch:
        settings = self.context.settings.transfer
        room = settings.max_sent_message_bytes if settings.fragment_messages else settings.max_frame_bytes
        return fit_archive(blocks, self.dialect, room).batch

    def _encode(self, batch: BlocksBatch, plan: TransferPlan) -> CachedMessage:
        return write_message(self.dialect.encode(PULL_METADATA_RESPONSE, batch).chunks(), plan)

    async def _send_archive(self) -> None:
        if self._archive is None:
            raise RuntimeError("the session asked for blocks before it had a plan")
        await self.channel.send_chunks(
            self._archive.chunks(), self._archive.total, self.context.settings.transfer.max_frame_bytes
        )
        self.session.sent_blocks(self._archive.plan.num_blocks)

    async def _answer_objects(self, request: ObjectsRequest) -> None:
        async with connect(self.context.engine) as conn:
            known = await known_objects(conn, self.dataset.id, [item.hash for item in request.objects])
        missing = [item for item in request.objects if key_of(item) not in known]
        if missing:
            raise ObjectsMissing(
                f"{len(missing)} of the objects asked for are not part of {self.target.alias}; "
                "ask for those that its blocks name.",
                objects=missing[:SHOWN_OBJECTS],
            )
        strategies = await anyio.to_thread.run_sync(
            download_strategies,
            self.context,
            self.target.requester,
            self.dataset.id,
            request.objects,
            sum(known.values()),
        )
        await send(self.channel, self.session.send_objects(strategies))
