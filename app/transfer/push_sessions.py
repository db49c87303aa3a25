"""The record of a push: whose staged uploads lie in the bucket, until when, and what became of them."""

from datetime import UTC, datetime, timedelta
from uuid import UUID

import anyio.to_thread
from sqlalchemy import func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine

from app.context import NodeContext
from app.database import begin, connect
from app.datasets.tables import Dataset
from app.transfer.tables import PushSession
from app.transfer.target import Target
from odf_core.identity import DatasetId
from odf_core.storage import ensure_staging
from odf_core.transfer.errors import NameCollision, RefCollision


async def find_collision(
    engine: AsyncEngine, target: Target, account_id: UUID, dataset_id: DatasetId
) -> None:
    """Refuse early what the commit would refuse: the id elsewhere, or the name taken meanwhile.

    Raises `RefCollision` or `NameCollision`. The commit checks again, since both can still change.
    """
    if target.dataset is not None:
        return
    async with connect(engine) as conn:
        same_id = await conn.execute(select(Dataset.id).where(Dataset.dataset_id == dataset_id.multibase))
        if same_id.scalar_one_or_none() is not None:
            raise RefCollision(dataset_id)
        same_name = await conn.execute(
            select(Dataset.id).where(
                Dataset.owner_id == account_id, func.lower(Dataset.name) == target.alias.name.folded
            )
        )
        if same_name.scalar_one_or_none() is not None:
            raise NameCollision(target.alias)


async def open_push_session(
    context: NodeContext, session_id: UUID, account_id: UUID, target: Target, dataset_id: DatasetId
) -> None:
    """Record the session before its first upload address is given away; repeated calls change nothing."""
    lifetime = timedelta(seconds=context.settings.transfer.session_ttl_seconds)
    record = insert(PushSession).values(
        id=session_id,
        account_id=account_id,
        dataset_alias=str(target.alias),
        dataset_id=dataset_id.multibase,
        expires_at=datetime.now(UTC) + lifetime,
    )
    async with begin(context.engine) as conn:
        await conn.execute(record.on_conflict_do_nothing())
    await anyio.to_thread.run_sync(ensure_staging, context.store)


async def finish_push_session(engine: AsyncEngine, session_id: UUID, outcome: str) -> None:
    """Note how the session ended; its staged uploads can go."""
    async with begin(engine) as conn:
        await conn.execute(
            update(PushSession)
            .where(PushSession.id == session_id)
            .values(finished_at=datetime.now(UTC), outcome=outcome)
        )
