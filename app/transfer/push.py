"""A push as the node drives it (wire.md 3.5): plan, blocks, uploads, admission, commit."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from uuid import UUID, uuid4

import anyio.to_thread

from app.context import NodeContext
from app.database import connect
from app.transfer.admission import Admission
from app.transfer.chain_index import known_objects, read_head, read_key_blocks
from app.transfer.channel import Channel, PeerGone
from app.transfer.claims import Intake, read_blocks_of, take_in
from app.transfer.commit import NewDataset
from app.transfer.conversation import send
from app.transfer.landing import land
from app.transfer.object_urls import key_of, upload_strategies
from app.transfer.push_sessions import find_collision, open_push_session
from app.transfer.target import Target, require_same_id
from app.transform.chains import read_whole_chain
from app.verification.pushes import PushDoubt
from odf_core.identity import DatasetId, Multihash
from odf_core.metadata import Seed, StoredBlock, read_block
from odf_core.transfer import (
    BlocksBatch,
    Dialect,
    ObjectsRequest,
    Progress,
    PushComplete,
    PushRequest,
    ServerPushSession,
    ServerPushState,
    Visibility,
)
from odf_core.transfer.errors import HeadMoved, ObjectsUndeclared, SeedOverwriteRestricted

SHOWN_OBJECTS = 20


@dataclass(slots=True)
class PushConversation:
    """One push session. Nothing of it is visible to anybody before its commit."""

    context: NodeContext
    channel: Channel
    dialect: Dialect
    target: Target
    account_id: UUID
    finished: bool = False
    session_id: UUID = field(default_factory=uuid4)
    session: ServerPushSession = field(init=False)
    request: PushRequest | None = None
    intake: Intake | None = None
    admission: Admission | None = None
    replaces_chain: bool = False
    committed_head: Multihash | None = None
    has_session: bool = False

    def __post_init__(self) -> None:
        self.session = ServerPushSession(self.dialect, self.context.settings.bounds)

    async def step(self) -> None:
        """Read the client's next message, asking for progress while uploads run, and answer it."""
        self.channel.limit_messages(self.session.max_message_bytes)
        text = await self._next_text()
        event = await anyio.to_thread.run_sync(self.session.receive_text, text)
        match event:
            case PushRequest():
                await self._accept(event)
            case BlocksBatch():
                await self._take_blocks(event)
            case ObjectsRequest():
                await self._answer_objects(event)
            case PushComplete():
                await self._complete()
            case Progress():
                pass  # it says nothing that the node has to answer

    async def _next_text(self) -> str:
        if not (self.session.state is ServerPushState.UPLOADING and self.dialect.has_progress):
            return await self.channel.receive()
        while True:
            try:
                async with asyncio.timeout(self.context.settings.transfer.progress_interval_seconds):
                    return await self.channel.receive()
            except TimeoutError:
                question = self.session.send_progress_request()
                if question is not None:
                    await send(self.channel, question)

    async def _accept(self, request: PushRequest) -> None:
        """The client's idea of the head must be right, with force too (wire.md 3.5)."""
        if self.target.dataset is not None:
            require_same_id(request.dataset_id, self.target.dataset.id)
        actual = await self._head()
        if actual != request.current_head:
            raise HeadMoved(expected=request.current_head, actual=actual)
        self.request = request
        await send(self.channel, self.session.send_accepted())

    async def _head(self) -> Multihash | None:
        if self.target.dataset is None:
            return None
        async with connect(self.context.engine) as conn:
            head = await read_head(conn, self.target.dataset.pk)
        return None if head is None else head.hash

    async def _take_blocks(self, batch: BlocksBatch) -> None:
        limits = self.context.settings.bounds
        blocks = await anyio.to_thread.run_sync(read_blocks_of, batch, limits)
        known = await self._chain_before(blocks)
        intake = await anyio.to_thread.run_sync(take_in, known, blocks, limits)
        seed = _seed_of((*known, *blocks))
        require_same_id(self._require_request().dataset_id, seed.dataset_id)
        await find_collision(self.context.engine, self.target, self.account_id, seed.dataset_id)
        self.intake = intake
        self.admission = Admission(self.context, self.dataset_id, self.session_id, intake)
        await send(self.channel, self.session.send_metadata_accepted())

    async def _chain_before(self, blocks: Sequence[StoredBlock]) -> tuple[StoredBlock, ...]:
        """Key blocks of the chain that `blocks` continue; none where they are a whole chain.

        A whole chain replaces the present one only by force, and only with the same seed.
        """
        dataset, request = self.target.dataset, self._require_request()
        if dataset is None or request.current_head is None:
            return ()
        seed = blocks[0].block.event
        if request.force and isinstance(seed, Seed):
            if (seed.dataset_id, seed.dataset_kind.text) != (dataset.id, dataset.kind):
                raise SeedOverwriteRestricted
            self.replaces_chain = True
            return ()
        async with connect(self.context.engine) as conn:
            head = await read_head(conn, dataset.pk)
            if head is None or head.hash != request.current_head:
                raise HeadMoved(expected=request.current_head, actual=None if head is None else head.hash)
            stored = await read_key_blocks(conn, dataset.pk, head)
        limits = self.context.settings.bounds
        return tuple(read_block(data, None, limits) for data in stored)

    async def _answer_objects(self, request: ObjectsRequest) -> None:
        """Strategies for declared objects only; the size is the block's word, not the request's."""
        intake = self._require_intake()
        sizes = intake.sizes
        unknown = [item for item in request.objects if key_of(item) not in sizes]
        unknown += [item for item in request.objects if item.size not in (None, sizes.get(key_of(item)))]
        if unknown:
            raise ObjectsUndeclared(
                "Objects are offered that no block of this push declares with this hash, kind and size.",
                objects=unknown[:SHOWN_OBJECTS],
            )
        async with connect(self.context.engine) as conn:
            known = await known_objects(conn, self.dataset_id, [item.hash for item in request.objects])
        await open_push_session(self.context, self.session_id, self.account_id, self.target, self.dataset_id)
        self.has_session = True
        strategies = await anyio.to_thread.run_sync(
            upload_strategies,
            self.context,
            self.target.requester,
            self.session_id,
            request.objects,
            sizes,
            frozenset(known),
        )
        await send(self.channel, self.session.send_objects(strategies))
        self._require_admission().start()

    async def _complete(self) -> None:
        """Admit and commit while one read watches for a client that drops the connection.

        A drop before the commit ends the work; once the commit has begun it runs to its end.
        """
        work = asyncio.create_task(self._admit_and_land())
        watch = self.channel.reading()
        await asyncio.wait({work, watch}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done() and watch.done() and isinstance(watch.exception(), PeerGone):
            if self.committed_head is None:
                work.cancel()
            await asyncio.gather(work, return_exceptions=True)
            raise PeerGone("The peer ended the connection before its push was committed.")
        await work
        await send(self.channel, self.session.send_confirmed())
        self.finished = True

    async def _admit_and_land(self) -> None:
        intake, request = self._require_intake(), self._require_request()
        await self._require_admission().complete()
        seed = _seed_of(intake.blocks) if self.target.dataset is None else None
        doubt = PushDoubt.of(self.context, self.target.alias, self.account_id, intake.blocks)
        if doubt is not None and doubt.mode == "before":
            await doubt.replay(self.dataset_id, await self._whole_chain())
        self.committed_head = intake.blocks[-1].hash
        await land(
            self.context,
            dataset=self.target.dataset,
            create=None if seed is None else self._new_dataset(seed, request.visibility),
            dataset_id=self.dataset_id,
            blocks=intake.blocks,
            expected_head=request.current_head,
            replaces_chain=self.replaces_chain,
            within=None if doubt is None else partial(doubt.start_job, dataset_id=self.dataset_id),
        )

    async def _whole_chain(self) -> tuple[StoredBlock, ...]:
        """The chain as it will be."""
        intake, dataset = self._require_intake(), self.target.dataset
        if dataset is None or self.replaces_chain:
            return tuple(intake.blocks)
        async with connect(self.context.engine) as conn:
            present = await read_whole_chain(conn, dataset, self.context.settings.bounds)
        return (*present, *intake.blocks)

    def _new_dataset(self, seed: Seed, visibility: Visibility) -> NewDataset:
        return NewDataset(
            dataset_id=seed.dataset_id,
            kind=seed.dataset_kind.text,
            alias=self.target.alias,
            owner_id=self.account_id,
            visibility=visibility,
        )

    @property
    def dataset_id(self) -> DatasetId:
        """The dataset's id: the index's, or that of the Seed which creates it."""
        if self.target.dataset is not None:
            return self.target.dataset.id
        return _seed_of(self._require_intake().blocks).dataset_id

    async def aclose(self) -> None:
        """Let go of what the session holds in the store."""
        if self.admission is not None:
            await self.admission.aclose()

    def _require_admission(self) -> Admission:
        if self.admission is None:
            raise RuntimeError("the session went on without blocks")
        return self.admission

    def _require_request(self) -> PushRequest:
        if self.request is None:
            raise RuntimeError("the session went on without a request")
        return self.request

    def _require_intake(self) -> Intake:
        if self.intake is None:
            raise RuntimeError("the session went on without blocks")
        return self.intake


def _seed_of(blocks: Sequence[StoredBlock]) -> Seed:
    """The Seed that begins a chain whose rules hold."""
    match blocks[0].block.event:
        case Seed() as seed:
            return seed
        case other:
            raise RuntimeError(f"the chain begins with {type(other).__name__}, not with its seed")
