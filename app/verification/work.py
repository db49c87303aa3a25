"""What a worker does for a verification: look, and keep the signed findings."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import anyio.to_thread
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection

from app.context import NodeContext
from app.database import begin
from app.datasets.tables import Dataset
from app.ingest.scratch import Scratch
from app.jobs.model import JobInfo
from app.jobs.service import record_result
from app.query.keys import signing_key
from app.transform.engines import engines_of
from app.verification.check import Checked, Subject, check_files, check_steps, in_turn
from app.verification.lineage import Verified, lanes, verify_all
from app.verification.progress import LineageProgress, told_at_job
from app.verification.requests import Level, VerifyRequest
from app.verification.signing import signed_finding
from app.verification.subjects import SubjectFound, read_subjects
from app.verification.tables import Attestation
from odf_core.transform.execute import Locate
from odf_core.verify import ProgressCallback, ReplayOptions, VerifyOptions
from odf_core.verify.lineage import is_computed
from odf_core.workspace.transforms import ChooseEngine

_PROGRESS_SECONDS = 1.0


@dataclass(slots=True)
class VerifyWork:
    """Verifications of one worker; how far one is stands at its job every `tell_seconds`."""

    node: NodeContext
    choose: ChooseEngine
    scratch: Scratch
    tell_seconds: float = _PROGRESS_SECONDS

    async def run(self, job: JobInfo) -> None:
        """Verify the dataset as it is now, and what it is computed from where that was asked for.

        A damaged dataset is a finding, no error. Raises `DatasetNotFound`, `LineageTooLarge`,
        `InvalidInterval`, errors of engines and of a store that does not answer, `JobSuperseded`.
        """
        request = VerifyRequest.from_values(job.request)
        found = await read_subjects(self.node, job.dataset_pk, job.account_id, recursive=request.recursive)
        progress = LineageProgress(len(found))
        with self.scratch.workdir() as workdir:
            async with told_at_job(self.node, job, progress, self.tell_seconds):
                verified = await anyio.to_thread.run_sync(
                    self._verify, found, request, workdir, progress, abandon_on_cancel=True
                )
        await self._keep(job, verified)

    async def _keep(self, job: JobInfo, verified: Sequence[Verified]) -> None:
        """The statements and the outcome of the job, in one transaction."""
        key, made_at = await signing_key(self.node), datetime.now(UTC)
        *upstream, asked = verified
        async with begin(self.node.engine) as conn:
            there = await _still_there(conn, upstream)
            for item in upstream:
                if item.is_kept and item.dataset.pk in there:
                    await _attest(conn, key, item, made_at)
            result: dict[str, Any] = {
                **asked.checked.to_json(),
                "attestation": await _attest(conn, key, asked, made_at),
            }
            if asked.request.recursive:
                result["datasets"] = [item.to_json() for item in verified]
            await record_result(conn, job.id, result, attempt=job.attempts, is_final=True)

    def _verify(
        self, found: Sequence[SubjectFound], request: VerifyRequest, workdir: Path, progress: LineageProgress
    ) -> list[Verified]:
        """In a thread."""
        locate = in_turn(partial(self.scratch.fetch, self.node.store))
        share = lanes(len(found))

        def check(subject: Subject, wanted: VerifyRequest) -> Checked:
            folder = Path(mkdtemp(prefix="verify-", dir=workdir))
            with progress.of(subject.target.name) as show:
                return self._check(subject, wanted, folder, locate, share, show)

        return verify_all(found, request, check)

    def _check(
        self,
        subject: Subject,
        request: VerifyRequest,
        workdir: Path,
        locate: Locate,
        share: int,
        show: ProgressCallback,
    ) -> Checked:
        """One of `share` datasets that are verified at one time."""
        limits = self.node.settings.bounds
        at_once = max(1, VerifyOptions().parallelism // share)
        files = check_files(self.node.store, subject, VerifyOptions(limits=limits, parallelism=at_once), show)
        steps = None
        if request.level is Level.REPLAY and is_computed(subject.blocks):
            first, last = request.ends
            at_once = max(1, ReplayOptions().parallelism // share)
            options = ReplayOptions(first=first, last=last, limits=limits, parallelism=at_once)
            choose = engines_of(self.node.settings, self.choose, subject.target.dataset_id)
            steps = check_steps(subject, choose, locate, workdir, options, show)
        return Checked(subject.blocks[-1].hash, files, steps)


async def _still_there(conn: AsyncConnection, verified: Sequence[Verified]) -> set[int]:
    """Those that were not deleted meanwhile; they stay until the transaction is over."""
    wanted = select(Dataset.id).where(Dataset.id.in_([item.dataset.pk for item in verified]))
    found = await conn.execute(wanted.with_for_update(read=True, key_share=True))
    return set(found.scalars())


async def _attest(
    conn: AsyncConnection, key: Ed25519PrivateKey, verified: Verified, made_at: datetime
) -> int:
    """The number of the statement."""
    found, request = verified.checked, verified.request
    values = {
        "dataset_pk": verified.dataset.pk,
        "head": found.head.to_bytes(),
        "is_good": found.ok,
        "summary": {**found.to_json(), "level": request.level},
        "envelope": signed_finding(key, verified.dataset, request, found, made_at),
        "made_at": made_at,
    }
    made = await conn.execute(insert(Attestation).values(**values).returning(Attestation.id))
    number: int = made.scalar_one()
    return number
