"""What a worker does for a verification: look, and keep the signed finding."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import anyio.to_thread
from sqlalchemy.dialects.postgresql import insert

from app.context import NodeContext
from app.database import begin
from app.ingest.scratch import Scratch
from app.jobs.model import JobInfo
from app.jobs.service import record_result
from app.query.keys import signing_key
from app.verification.check import Checked, Subject, check_files, check_steps
from app.verification.requests import Level, VerifyRequest
from app.verification.signing import signed_finding
from app.verification.subjects import read_subject
from app.verification.tables import Attestation
from odf_core.verify.options import ReplayOptions
from odf_core.workspace.transforms import ChooseEngine


@dataclass(slots=True)
class VerifyWork:
    """Verifications of one worker."""

    node: NodeContext
    choose: ChooseEngine
    scratch: Scratch

    async def run(self, job: JobInfo) -> None:
        """Verify the dataset as it is now.

        A damaged dataset is a finding, no error. Raises `DatasetNotFound`, `InvalidInterval`, errors of
        engines and of a store that does not answer, `JobSuperseded`.
        """
        request = VerifyRequest.from_values(job.request)
        dataset, subject = await read_subject(self.node, job.dataset_pk, job.account_id)
        with self.scratch.workdir() as workdir:
            found = await anyio.to_thread.run_sync(
                self._check, subject, request, workdir, abandon_on_cancel=True
            )
        key, made_at = await signing_key(self.node), datetime.now(UTC)
        envelope = signed_finding(key, dataset, request, found, made_at)
        async with begin(self.node.engine) as conn:
            values = {
                "dataset_pk": dataset.pk,
                "head": found.head.to_bytes(),
                "is_good": found.ok,
                "summary": {**found.to_json(), "level": request.level},
                "envelope": envelope,
                "made_at": made_at,
            }
            number = (
                await conn.execute(insert(Attestation).values(**values).returning(Attestation.id))
            ).scalar_one()
            result = {**found.to_json(), "attestation": number}
            await record_result(conn, job.id, result, attempt=job.attempts, is_final=True)

    def _check(self, subject: Subject, request: VerifyRequest, workdir: Path) -> Checked:
        """In a thread."""
        limits = self.node.settings.bounds
        files = check_files(self.node.store, subject, limits)
        steps = None
        if request.level is Level.REPLAY and subject.is_derivative:
            first, last = request.ends
            options = ReplayOptions(first=first, last=last, limits=limits)
            locate = partial(self.scratch.fetch, self.node.store)
            steps = check_steps(subject, self.choose, locate, workdir, options)
        return Checked(subject.blocks[-1].hash, files, steps)
