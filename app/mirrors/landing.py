"""What was pulled becomes part of the node, by the same admission as a push: claims, examination, commit."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import chain, count
from uuid import UUID, uuid4

import anyio
import anyio.to_thread
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import AccountInfo
from app.context import NodeContext
from app.database import begin, connect
from app.datasets.mirror import mirror_dataset_info
from app.datasets.model import DatasetInfo
from app.datasets.tables import Dataset
from app.mirrors.pulling import Pulled
from app.mirrors.sources import Source
from app.mirrors.tables import Mirror
from app.transfer.admission import Admission
from app.transfer.chain_index import known_objects
from app.transfer.claims import Intake, take_in
from app.transfer.commit import NewDataset
from app.transfer.landing import land
from app.transfer.object_urls import key_of
from app.verification.pushes import PushDoubt
from odf_core.identity import DatasetAlias, DatasetName
from odf_core.storage import discard_session, ensure_staging, staging_key
from odf_core.transfer.model import Visibility

Within = Callable[[AsyncConnection], Awaitable[None]]
"""What else is to happen in the transaction of the commit."""


@dataclass(frozen=True, slots=True)
class NewMirror:
    """What a mirror is called that is made now, and whose it is."""

    owner: AccountInfo
    alias: DatasetAlias
    visibility: Visibility


async def land_mirror(
    node: NodeContext,
    pulled: Pulled,
    target: DatasetInfo | NewMirror,
    *,
    is_recursive: bool,
    within: Within,
) -> None:
    """Admit the objects of `pulled`, then commit its blocks; a new mirror is recorded in the same
    transaction.

    Raises as a push does: the leaves of `take_in` and `Admission.complete`, `PushNotReproducible`,
    `HeadMoved`, `NameCollision`, `RefCollision`, and what `within` raises; the dataset is unchanged then.
    """
    limits = node.settings.bounds
    intake = await anyio.to_thread.run_sync(take_in, pulled.known, pulled.blocks, limits)
    await _admit(node, pulled, intake)
    present = target if isinstance(target, DatasetInfo) else None
    owner_id = target.owner.id if isinstance(target, NewMirror) else target.owner_id
    doubt = PushDoubt.of(node, target.alias, owner_id, intake.blocks)
    if doubt is not None and doubt.mode == "before":
        await doubt.replay(pulled.dataset_id, tuple(pulled.chain))

    async def record(conn: AsyncConnection) -> None:
        if isinstance(target, NewMirror):
            pk = select(Dataset.id).where(Dataset.dataset_id == pulled.dataset_id.multibase).scalar_subquery()
            values = {"source": str(pulled.source.ref), "is_recursive": is_recursive}
            await conn.execute(insert(Mirror).values(dataset_pk=pk, **values))
        if doubt is not None:
            await doubt.start_job(conn, dataset_id=pulled.dataset_id)
        await within(conn)

    await land(
        node,
        dataset=present,
        create=_new_dataset(pulled, target) if isinstance(target, NewMirror) else None,
        dataset_id=pulled.dataset_id,
        blocks=intake.blocks,
        expected_head=None if present is None else present.head,
        replaces_chain=present is not None and not pulled.known,
        within=record,
    )


async def _admit(node: NodeContext, pulled: Pulled, intake: Intake) -> None:
    """Stage what was pulled as a push's uploads are, and have it admitted."""
    session_id = uuid4()
    async with connect(node.engine) as conn:
        known = await known_objects(conn, pulled.dataset_id, {claim.ref.hash for claim in intake.claims})

    def stage() -> None:
        ensure_staging(node.store)
        new = {key_of(claim.ref): claim.ref for claim in intake.claims if key_of(claim.ref) not in known}
        for ref in new.values():
            path = pulled.folder.object_path(ref)
            with path.open("rb") as file:
                node.store.write(staging_key(session_id, ref), file, size=path.stat().st_size)

    try:
        await anyio.to_thread.run_sync(stage)
        admission = Admission(node, pulled.dataset_id, session_id, intake)
        try:
            await admission.complete()
        finally:
            await admission.aclose()
    finally:
        with anyio.CancelScope(shield=True):
            await anyio.to_thread.run_sync(discard_session, node.store, session_id)


def _new_dataset(pulled: Pulled, new: NewMirror) -> NewDataset:
    kind = pulled.seed.dataset_kind.text
    return NewDataset(pulled.dataset_id, kind, new.alias, new.owner.id, new.visibility)


async def free_name(conn: AsyncConnection, owner_id: UUID, wanted: DatasetName) -> DatasetName:
    """`wanted`, or `wanted-2` and so on where the owner has a dataset of that name."""
    found = await conn.execute(select(func.lower(Dataset.name)).where(Dataset.owner_id == owner_id))
    taken = set(found.scalars())
    numbered = (DatasetName(f"{wanted}-{number}") for number in count(2))
    return next(name for name in chain([wanted], numbered) if name.folded not in taken)


async def follow_source(
    node: NodeContext, mirror: DatasetInfo, source: Source, *, is_recursive: bool
) -> None:
    """Record where the mirror is read from now on, before anything is taken from there.

    One that its source shows to the holder of a token only becomes private; the way back is the owner's.
    """
    hides = mirror.is_public and source.token is not None
    values = {"source": str(source.ref), "is_recursive": is_recursive}
    async with begin(node.engine) as conn:
        await conn.execute(update(Mirror).where(Mirror.dataset_pk == mirror.pk).values(**values))
        if hides:
            await conn.execute(update(Dataset).where(Dataset.id == mirror.pk).values(visibility="private"))
        if hides or mirror.mirror_of != str(source.ref):
            await mirror_dataset_info(node.store, conn, mirror.pk)
