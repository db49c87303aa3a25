"""Tables of jobs: what was asked, and what came of it. Who does them is the queue's (`app.jobs.queue`)."""

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import CheckConstraint, DateTime, ForeignKey, Index, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base


class Job(Base):
    """One piece of work on a dataset.

    Its outcome is written in the transaction that commits its effect, so a job whose worker died between
    the two cannot be; whoever takes it up again finds it done.
    """

    __tablename__ = "job"
    __table_args__ = (
        CheckConstraint("kind IN ('ingest', 'mirror', 'pull', 'transform', 'verify')", name="kind"),
        CheckConstraint("dataset_pk IS NOT NULL OR kind = 'mirror'", name="dataset"),
        CheckConstraint("state IN ('waiting', 'running', 'done', 'failed')", name="state"),
        Index(
            "uq_job_dataset_pk_account_id_idempotency_key",
            "dataset_pk",
            "account_id",
            "idempotency_key",
            unique=True,
            postgresql_where=text("idempotency_key IS NOT NULL"),
        ),
        Index("ix_job_finished_at", "finished_at"),
        Index("ix_job_dataset_pk_kind_created_at", "dataset_pk", "kind", "created_at"),
    )

    id: Mapped[UUID] = mapped_column(Uuid, primary_key=True)
    kind: Mapped[str] = mapped_column(Text)
    dataset_pk: Mapped[int | None] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"))
    """None for a mirror that is still to be made."""
    account_id: Mapped[UUID] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    idempotency_key: Mapped[str | None] = mapped_column(Text)
    """A client's name for this request: sent again, it is the same job."""
    request: Mapped[dict[str, Any]] = mapped_column(JSONB)
    state: Mapped[str] = mapped_column(Text, server_default=text("'waiting'"))
    attempts: Mapped[int] = mapped_column(server_default=text("0"))
    result: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    """What was committed so far; final when the state is `done`."""
    error: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    started_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))
    finished_at: Mapped[datetime | None] = mapped_column(DateTime(timezone=True))


class PullSchedule(Base):
    """When a dataset's polling source is asked by itself; `cron` has five fields and means UTC."""

    __tablename__ = "pull_schedule"

    dataset_pk: Mapped[int] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True)
    account_id: Mapped[UUID] = mapped_column(ForeignKey("account.id", ondelete="CASCADE"))
    cron: Mapped[str] = mapped_column(Text)
    next_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), index=True)
