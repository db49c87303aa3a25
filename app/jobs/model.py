"""Values of jobs."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

JobKind = Literal["ingest", "mirror", "pull", "transform", "verify"]
JobState = Literal["waiting", "running", "done", "failed"]


@dataclass(frozen=True, slots=True)
class JobInfo:
    """A job as the database has it; `result` grows with each commit, `error` is set when it failed.

    `subject_pk` is the dataset that it is about, None for a mirror that is still to be made.
    """

    id: UUID
    kind: JobKind
    subject_pk: int | None
    account_id: UUID
    request: dict[str, Any]
    state: JobState
    attempts: int
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: datetime
    started_at: datetime | None
    finished_at: datetime | None

    @property
    def dataset_pk(self) -> int:
        """The dataset of a job that has one from its beginning."""
        if self.subject_pk is None:
            raise RuntimeError("the job makes its dataset")
        return self.subject_pk

    @property
    def is_finished(self) -> bool:
        """Whether nothing more will happen to it."""
        return self.finished_at is not None
