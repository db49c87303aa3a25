"""What a mirror's job was asked for, as its row keeps it, and when such jobs are made."""

from dataclasses import asdict, dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Self
from uuid import UUID, uuid4

from sqlalchemy import delete, exists, select, update
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import AccountInfo
from app.context import NodeContext
from app.database import begin, connect
from app.datasets.service import find_dataset_by_id
from app.datasets.tables import Dataset
from app.jobs.service import add_job
from app.jobs.tables import Job
from app.mirrors.repositories import read_repositories
from app.mirrors.service import find_mirror_of
from app.mirrors.sources import parse_wanted
from app.mirrors.tables import Mirror
from app.transfer.handshake import ForeignAccount
from odf_core.identity import DatasetAliasRemote, DatasetName

_AT_ONCE = 100


@dataclass(frozen=True, slots=True)
class MirrorRequest:
    """A source (`repo/[account/]name` or an id), and what to do with it; `is_poll`: nobody asked."""

    wanted: str
    name: str | None = None
    recursive: bool = False
    force: bool = False
    is_poll: bool = False

    def to_values(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        return cls(**values)


async def ask_for_mirror(
    node: NodeContext,
    account: AccountInfo,
    source: str,
    *,
    name: str | None = None,
    recursive: bool = False,
    force: bool = False,
) -> UUID:
    """The job that brings a dataset here from a registered repository, or brings it up to date.

    Raises `InvalidReference`, `InvalidName`, `NotRegistered`, `ForeignAccount`, `DatabaseUnavailable`.
    """
    settings = node.settings
    if settings.tenancy == "single" and account.name.lower() != settings.accounts.default_account.lower():
        raise ForeignAccount("Datasets of this node belong to its one account.", objects=[account.name])
    async with connect(node.engine) as conn:
        wanted = parse_wanted(source, await read_repositories(conn))
        if isinstance(wanted, DatasetAliasRemote):
            present = await find_mirror_of(conn, wanted)
        else:
            present = await find_dataset_by_id(conn, wanted.id)
    checked = None if name is None else str(DatasetName(name))
    request = MirrorRequest(str(wanted), checked, recursive, force)
    async with begin(node.engine) as conn:
        return await start_mirror(conn, None if present is None else present.pk, account.id, request)


async def start_mirror(
    conn: AsyncConnection, dataset_pk: int | None, account_id: UUID, request: MirrorRequest
) -> UUID:
    """The job of this request: the one that waits already, else a new one."""
    values = request.to_values()
    waiting = await conn.execute(
        select(Job.id)
        .where(
            Job.kind == "mirror",
            Job.state == "waiting",
            Job.account_id == account_id,
            Job.dataset_pk.is_not_distinct_from(dataset_pk),
            Job.request == values,
        )
        .limit(1)
        .with_for_update(read=True)
    )
    found = waiting.scalar_one_or_none()
    if found is not None:
        return found
    return await add_job(
        conn,
        uuid4(),
        kind="mirror",
        dataset_pk=dataset_pk,
        account_id=account_id,
        request=values,
        lock=None if dataset_pk is not None else f"mirror:{request.wanted}",
    )


async def poll_mirror(
    conn: AsyncConnection, dataset_pk: int, account_id: UUID, *, is_poll: bool
) -> UUID | None:
    """The job that asks the source of a mirror for news; None for what is no mirror."""
    row = (await conn.execute(select(Mirror.source).where(Mirror.dataset_pk == dataset_pk))).one_or_none()
    if row is None:
        return None
    return await start_mirror(conn, dataset_pk, account_id, MirrorRequest(row.source, is_poll=is_poll))


async def start_due_polls(node: NodeContext) -> int:
    """Make a job of each mirror that was not asked about for `mirrors.poll_seconds`; how many.

    Of earlier polls only what came last is kept. Raises `DatabaseUnavailable`.
    """
    seconds = node.settings.mirrors.poll_seconds
    if not seconds:
        return 0
    now = datetime.now(UTC)
    under_way = exists().where(
        Job.dataset_pk == Mirror.dataset_pk, Job.kind == "mirror", Job.finished_at.is_(None)
    )
    async with begin(node.engine) as conn:
        found = await conn.execute(
            select(Mirror.dataset_pk, Dataset.owner_id)
            .join(Dataset, Dataset.id == Mirror.dataset_pk)
            .where(Mirror.polled_at <= now - timedelta(seconds=seconds), ~under_way)
            .order_by(Mirror.dataset_pk)
            .limit(_AT_ONCE)
            .with_for_update(of=Mirror, skip_locked=True)
        )
        due = found.all()
        for row in due:
            await conn.execute(
                delete(Job).where(
                    Job.dataset_pk == row.dataset_pk,
                    Job.kind == "mirror",
                    Job.finished_at.is_not(None),
                    Job.request["is_poll"].as_boolean(),
                )
            )
            await poll_mirror(conn, row.dataset_pk, row.owner_id, is_poll=True)
            await conn.execute(
                update(Mirror).where(Mirror.dataset_pk == row.dataset_pk).values(polled_at=now)
            )
    return len(due)
