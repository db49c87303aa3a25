"""Derivative datasets that somebody else computed, replayed when they are pushed (`admission.replay`)."""

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import ClassVar, Self
from uuid import UUID

import anyio.to_thread
from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.accounts.model import Caller
from app.accounts.service import find_account_by_id
from app.context import NodeContext
from app.database import connect
from app.datasets.tables import Dataset
from app.transform.engines import engines_of, installed_engines
from app.verification.check import Subject, check_steps, in_turn
from app.verification.downloads import download_object
from app.verification.modes import ReplayMode, replay_mode
from app.verification.requests import Level, VerifyRequest, start_verification
from app.verification.subjects import read_inputs
from odf_core.errors import IntegrityError
from odf_core.identity import DatasetAlias, DatasetId
from odf_core.metadata import ExecuteTransform, StoredBlock
from odf_core.transform.execute import Target
from odf_core.verify.options import ReplayOptions


class PushNotReproducible(IntegrityError):
    """New steps of a derivative dataset do not come out as its blocks say, or cannot be evaluated here."""

    code: ClassVar[str] = "push_not_reproducible"


@dataclass(frozen=True, slots=True)
class PushDoubt:
    """A push whose steps this node does not believe: `first` and `last` are its blocks with steps."""

    node: NodeContext
    alias: DatasetAlias
    account_id: UUID
    mode: ReplayMode
    first: StoredBlock
    last: StoredBlock

    @classmethod
    def of(
        cls, node: NodeContext, alias: DatasetAlias, account_id: UUID, blocks: Sequence[StoredBlock]
    ) -> Self | None:
        """None where the blocks have no steps, or the node replays none of this dataset."""
        admission = node.settings.admission
        mode = replay_mode(admission.replay_of, admission.replay, alias)
        steps = [block for block in blocks if isinstance(block.block.event, ExecuteTransform)]
        if mode == "none" or not steps:
            return None
        return cls(node, alias, account_id, mode, steps[0], steps[-1])

    async def start_job(self, conn: AsyncConnection, *, dataset_id: DatasetId) -> None:
        """In the transaction of the commit: a job that verifies the new steps, where that is wanted."""
        if self.mode != "after":
            return
        found = await conn.execute(select(Dataset.id).where(Dataset.dataset_id == dataset_id.multibase))
        request = VerifyRequest(Level.REPLAY, str(self.first.hash), str(self.last.hash))
        await start_verification(conn, found.scalar_one(), self.account_id, request)

    async def replay(self, dataset_id: DatasetId, blocks: Sequence[StoredBlock]) -> None:
        """Evaluate the new steps of the chain `blocks`, of which the last ones are not committed yet.

        Raises `PushNotReproducible`, errors of engines and of a store that does not answer.
        """
        limits = self.node.settings.bounds
        async with connect(self.node.engine) as conn:
            caller = Caller(await find_account_by_id(conn, self.account_id))
            inputs = await read_inputs(conn, caller, self.alias, blocks, limits)
        subject = Subject(Target(dataset_id, str(self.alias)), blocks, inputs)
        await anyio.to_thread.run_sync(self._replayed, subject, abandon_on_cancel=True)

    def _replayed(self, subject: Subject) -> None:
        options = ReplayOptions(first=self.first.hash, last=self.last.hash, limits=self.node.settings.bounds)
        with tempfile.TemporaryDirectory(prefix="odf-replay-") as folder:
            files, workdir = Path(folder) / "files", Path(folder) / "work"
            files.mkdir()
            workdir.mkdir()
            locate = in_turn(partial(download_object, self.node.store, files))
            settings, dataset_id = self.node.settings, subject.target.dataset_id
            choose = engines_of(settings, installed_engines(settings), dataset_id)
            report = check_steps(subject, choose, locate, workdir, options)
        if not report.ok:
            said = report.findings[0].message if report.findings else "a step was left out."
            raise PushNotReproducible(
                f"The steps of this push could not be reproduced: {said}",
                objects=[self.first.hash],
                extras={"findings": [finding.to_json() for finding in report.findings[:10]]},
            )
