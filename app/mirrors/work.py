"""What a worker does for a mirror, and for a transform whose inputs are on other nodes."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import structlog
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import AccountInfo
from app.accounts.service import find_account_by_id
from app.context import NodeContext
from app.database import begin, connect
from app.datasets.tables import Dataset
from app.ingest.scratch import Scratch
from app.jobs.model import JobInfo
from app.jobs.service import record_result
from app.mirrors.bringing import Ask, Bringing, forget_pulls
from app.mirrors.errors import MirrorSourceNotFound
from app.mirrors.pulling import transfer_options
from app.mirrors.repositories import Repositories, read_repositories
from app.mirrors.requests import MirrorRequest
from app.mirrors.sources import parse_wanted
from app.transform.tables import DerivationInput
from odf_core.identity import DatasetId, DatasetIdRemote, DatasetName
from odf_core.transfer.client import Http

log = structlog.get_logger(__name__)


@dataclass(slots=True)
class MirrorWork:
    """Mirrors of one worker."""

    node: NodeContext
    scratch: Scratch

    async def run(self, job: JobInfo) -> None:
        """Make the dataset, and what it reads if that is wanted, what they are at their source.

        Raises what `parse_wanted` and `Bringing.bring` raise, and `JobSuperseded`; what was committed before
        stays.
        """
        request = MirrorRequest.from_values(job.request)
        async with connect(self.node.engine) as conn:
            repositories = await read_repositories(conn)
        wanted = parse_wanted(request.wanted, repositories)
        name = None if request.name is None else DatasetName(request.name)
        with self._bringing(job, repositories, await self._account(job)) as bringing:
            await bringing.bring(Ask(wanted, name, request.recursive, request.force))
            brought = bringing.brought
        result = {"datasets": brought, "result": _summary(brought)}
        async with begin(self.node.engine) as conn:
            await record_result(conn, job.id, result, attempt=job.attempts, is_final=True)

    async def bring_inputs(self, job: JobInfo) -> None:
        """Mirror those inputs of a job's dataset that are not on this node.

        One that no repository has stays missing. Raises what `Bringing.bring` raises.
        """
        async with connect(self.node.engine) as conn:
            missing = await missing_inputs(conn, job.dataset_pk)
            repositories = await read_repositories(conn) if missing else {}
        if not repositories:
            return
        with self._bringing(job, repositories, await self._account(job)) as bringing:
            for dataset_id in missing:
                try:
                    await bringing.bring(Ask(DatasetIdRemote(None, dataset_id), is_input=True))
                except MirrorSourceNotFound:
                    log.info("input_nowhere", job=str(job.id), input=str(dataset_id))

    async def _account(self, job: JobInfo) -> AccountInfo:
        async with connect(self.node.engine) as conn:
            found = await find_account_by_id(conn, job.account_id)
        if found is None:
            raise RuntimeError("a job goes with its account")
        return found

    @contextmanager
    def _bringing(self, job: JobInfo, repositories: Repositories, account: AccountInfo) -> Iterator[Bringing]:
        async def record(conn: AsyncConnection, result: dict[str, Any]) -> None:
            """Of a transform's job nothing is told: its result is that of its steps."""
            if job.kind == "mirror":
                await record_result(conn, job.id, result, attempt=job.attempts, is_final=False)

        async def tell(result: dict[str, Any]) -> None:
            async with begin(self.node.engine) as conn:
                await record(conn, result)

        forget_pulls(self.scratch.pulls)
        options = transfer_options(self.node.settings.bounds)
        with Http(options) as http:
            yield Bringing(self.node, http, repositories, account, self.scratch.pulls, record, tell)


async def missing_inputs(conn: AsyncConnection, dataset_pk: int) -> list[DatasetId]:
    """The inputs of a dataset that are not on this node."""
    found = await conn.execute(
        select(DerivationInput.input_id)
        .outerjoin(Dataset, Dataset.dataset_id == DerivationInput.input_id)
        .where(DerivationInput.dataset_pk == dataset_pk, Dataset.id.is_(None))
        .order_by(DerivationInput.position)
    )
    return [DatasetId.parse(f"did:odf:{item}") for item in dict.fromkeys(found.scalars())]


def _summary(brought: list[dict[str, Any]]) -> str:
    return "Updated" if any(item["numBlocks"] for item in brought) else "UpToDate"
