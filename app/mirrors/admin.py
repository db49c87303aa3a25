"""What an operator does with mirrors; the commands of `odf admin mirror` call this."""

from app.accounts.service import get_account
from app.context import NodeContext
from app.database import connect
from app.jobs.model import JobInfo
from app.jobs.waiting import wait_for_job
from app.mirrors.requests import ask_for_mirror
from app.mirrors.service import MirrorInfo, list_mirrors


async def mirror_for(
    node: NodeContext,
    account: str,
    source: str,
    *,
    name: str | None,
    recursive: bool,
    force: bool,
    seconds: float,
) -> JobInfo:
    """The job of a mirror for an account: when it is over, or as it is after `seconds`.

    Raises `AccountNotFound`, and as `ask_for_mirror`.
    """
    async with connect(node.engine) as conn:
        owner = await get_account(conn, account)
    job_id = await ask_for_mirror(node, owner, source, name=name, recursive=recursive, force=force)
    return await wait_for_job(node.engine, job_id, seconds)


async def all_mirrors(node: NodeContext) -> list[MirrorInfo]:
    """All mirrors, by owner and name."""
    async with connect(node.engine) as conn:
        return await list_mirrors(conn, None)
