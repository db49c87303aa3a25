"""Mirrors in the index: found, listed, ended."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import delete, func, select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin, connect
from app.datasets.mirror import mirror_dataset_info
from app.datasets.model import DatasetAddress, DatasetInfo
from app.datasets.service import find_dataset, find_dataset_by_pk, find_datasets_by_ids
from app.datasets.tables import Dataset
from app.jobs.tables import Job
from app.mirrors.errors import MirrorNotFound
from app.mirrors.tables import Mirror
from odf_core.identity import DatasetAliasRemote, DatasetId


@dataclass(frozen=True, slots=True)
class MirrorInfo:
    """A mirror, and how its owner's last job went: `state` and `error` are that job's, None where it is
    forgotten."""

    dataset: DatasetInfo
    is_recursive: bool
    polled_at: datetime
    state: str | None
    error: dict[str, Any] | None


async def find_mirror_of(conn: AsyncConnection, source: DatasetAliasRemote) -> DatasetInfo | None:
    """The dataset that follows `source`, None where none does."""
    wanted = select(Mirror.dataset_pk).where(func.lower(Mirror.source) == str(source).lower()).limit(1)
    pk = (await conn.execute(wanted)).scalar_one_or_none()
    return None if pk is None else await find_dataset_by_pk(conn, pk)


async def is_recursive(conn: AsyncConnection, dataset_pk: int) -> bool:
    """Whether all that the mirror's chain reads is mirrored with it; False for what is no mirror."""
    found = await conn.execute(select(Mirror.is_recursive).where(Mirror.dataset_pk == dataset_pk))
    return bool(found.scalar_one_or_none())


async def list_mirrors(conn: AsyncConnection, owner_id: UUID | None) -> list[MirrorInfo]:
    """The mirrors of an account, or all of them, by owner and name."""
    last = (
        select(Job.state, Job.error)
        .where(Job.dataset_pk == Mirror.dataset_pk, Job.kind == "mirror", Job.account_id == Dataset.owner_id)
        .order_by(Job.created_at.desc())
        .limit(1)
        .lateral()
    )
    wanted = (
        select(Dataset.dataset_id, Mirror.is_recursive, Mirror.polled_at, last.c.state, last.c.error)
        .join(Dataset, Dataset.id == Mirror.dataset_pk)
        .outerjoin(last, last.c.state.is_not(None))
    )
    if owner_id is not None:
        wanted = wanted.where(Dataset.owner_id == owner_id)
    rows = {row.dataset_id: row for row in await conn.execute(wanted)}
    ids = [DatasetId.parse(f"did:odf:{item}") for item in rows]
    datasets = sorted(
        await find_datasets_by_ids(conn, ids), key=lambda item: (item.owner_name.lower(), item.name.lower())
    )
    told = [(item, rows[item.id.multibase]) for item in datasets]
    return [MirrorInfo(item, row.is_recursive, row.polled_at, row.state, row.error) for item, row in told]


async def end_mirror(node: NodeContext, address: DatasetAddress) -> DatasetInfo:
    """Let the dataset be one of its owner's own from now on. Raises `MirrorNotFound`, `DatabaseUnavailable`,
    `StoreUnavailable`."""
    async with connect(node.engine) as conn:
        dataset = await find_dataset(conn, address)
    if dataset is None or dataset.mirror_of is None:
        raise MirrorNotFound(f"There is no mirror {address}.", objects=[address])
    async with begin(node.engine) as conn:
        await conn.execute(delete(Mirror).where(Mirror.dataset_pk == dataset.pk))
        await mirror_dataset_info(node.store, conn, dataset.pk)
    return dataset
