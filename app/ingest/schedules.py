"""Polls and transforms by the clock: a cron expression per dataset; workers make its turns into jobs."""

from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID, uuid4

from croniter import croniter
from croniter.croniter import CroniterError
from sqlalchemy import delete, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin, connect
from app.datasets.tables import Dataset
from app.ingest.requests import PullRequest
from app.jobs.service import add_job, find_waiting
from app.jobs.tables import PullSchedule
from app.mirrors.requests import poll_mirror
from app.transform.triggers import start_transform
from odf_core.ingest.errors import InvalidSchedule

_AT_ONCE = 100
_CRON_CHARS = 200
DERIVATIVE = "Derivative"


@dataclass(frozen=True, slots=True)
class Schedule:
    """When a dataset is polled by itself; `next_at` is its next turn, in UTC."""

    cron: str
    next_at: datetime


def next_turn(cron: str, after: datetime) -> datetime:
    """The first moment after `after` that the expression names, in UTC. Raises `InvalidSchedule`."""
    try:
        if len(cron) > _CRON_CHARS or len(cron.split()) != 5:
            raise ValueError("not five fields")
        turn: datetime = croniter(cron, after.astimezone(UTC)).get_next(datetime)
    except (CroniterError, ValueError, KeyError, OverflowError) as error:
        raise InvalidSchedule(
            f"{cron[:80]!r} is no schedule: it takes minute, hour, day of the month, month and day of the "
            "week, as in `30 6 * * 1-5` (half past six, Monday to Friday, UTC).",
            objects=[cron[:80]],
        ) from error
    return turn


async def set_schedule(node: NodeContext, dataset_pk: int, account_id: UUID, cron: str) -> Schedule:
    """Poll the dataset by this expression from now on. Raises `InvalidSchedule`, `DatabaseUnavailable`."""
    schedule = Schedule(cron, next_turn(cron, datetime.now(UTC)))
    values = {"account_id": account_id, "cron": schedule.cron, "next_at": schedule.next_at}
    async with begin(node.engine) as conn:
        statement = insert(PullSchedule).values(dataset_pk=dataset_pk, **values)
        await conn.execute(statement.on_conflict_do_update(index_elements=["dataset_pk"], set_=values))
    return schedule


async def remove_schedule(node: NodeContext, dataset_pk: int) -> None:
    """Poll the dataset no more by itself; nothing where it was not. Raises `DatabaseUnavailable`."""
    async with begin(node.engine) as conn:
        await conn.execute(delete(PullSchedule).where(PullSchedule.dataset_pk == dataset_pk))


async def read_schedule(node: NodeContext, dataset_pk: int) -> Schedule | None:
    """The schedule, None where there is none. Raises `DatabaseUnavailable`."""
    wanted = select(PullSchedule.cron, PullSchedule.next_at).where(PullSchedule.dataset_pk == dataset_pk)
    async with connect(node.engine) as conn:
        row = (await conn.execute(wanted)).one_or_none()
    return None if row is None else Schedule(row.cron, row.next_at)


async def start_due_pulls(node: NodeContext) -> int:
    """Make a job of each schedule whose turn has come; how many. Workers share the turns, none is doubled.

    A dataset whose last job still waits gets no second one, and turns that passed while no worker ran count
    as one.
    """
    now = datetime.now(UTC)
    async with begin(node.engine) as conn:
        due = await conn.execute(
            select(PullSchedule.dataset_pk, PullSchedule.account_id, PullSchedule.cron, Dataset.kind)
            .join(Dataset, Dataset.id == PullSchedule.dataset_pk)
            .where(PullSchedule.next_at <= now)
            .limit(_AT_ONCE)
            .with_for_update(of=PullSchedule, skip_locked=True)
        )
        rows = due.all()
        for row in rows:
            await start_pull(conn, row.dataset_pk, row.kind, row.account_id, PullRequest())
            await conn.execute(
                update(PullSchedule)
                .where(PullSchedule.dataset_pk == row.dataset_pk)
                .values(next_at=next_turn(row.cron, now))
            )
    return len(rows)


async def start_pull(
    conn: AsyncConnection, dataset_pk: int, dataset_kind: str, account_id: UUID, request: PullRequest
) -> UUID:
    """The job of a poll, of a mirror's poll, or of the transform of a derivative dataset: the waiting one,
    else a new one."""
    mirror = await poll_mirror(conn, dataset_pk, account_id, is_poll=False)
    if mirror is not None:
        return mirror
    if dataset_kind == DERIVATIVE:
        return await start_transform(conn, dataset_pk, account_id)
    waiting = await find_waiting(conn, "pull", dataset_pk)
    if waiting is not None and not request.fetch_uncacheable:
        return waiting
    return await add_job(
        conn,
        uuid4(),
        kind="pull",
        dataset_pk=dataset_pk,
        account_id=account_id,
        request=request.to_values(),
    )
