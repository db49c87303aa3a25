"""Jobs and schedules, keys that the node makes for itself, and the queue tables in a schema of their own."""

from collections.abc import Sequence
from importlib.metadata import version

import sqlalchemy as sa
from alembic import op
from procrastinate.schema import SchemaManager
from sqlalchemy.dialects import postgresql

revision: str = "0002"
down_revision: str | None = "0001"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "job",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("idempotency_key", sa.Text(), nullable=True),
        sa.Column("request", postgresql.JSONB(), nullable=False),
        sa.Column("state", sa.Text(), server_default=sa.text("'waiting'"), nullable=False),
        sa.Column("attempts", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("result", postgresql.JSONB(), nullable=True),
        sa.Column("error", postgresql.JSONB(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.CheckConstraint("kind IN ('ingest', 'pull')", name=op.f("ck_job_kind")),
        sa.CheckConstraint("state IN ('waiting', 'running', 'done', 'failed')", name=op.f("ck_job_state")),
        sa.ForeignKeyConstraint(
            ["account_id"], ["account.id"], name=op.f("fk_job_account_id_account"), ondelete="CASCADE"
        ),
        sa.ForeignKeyConstraint(
            ["dataset_pk"], ["dataset.id"], name=op.f("fk_job_dataset_pk_dataset"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_job")),
    )
    op.create_index(
        "uq_job_dataset_pk_account_id_idempotency_key",
        "job",
        ["dataset_pk", "account_id", "idempotency_key"],
        unique=True,
        postgresql_where=sa.text("idempotency_key IS NOT NULL"),
    )
    op.create_index("ix_job_finished_at", "job", ["finished_at"], unique=False)
    op.create_table(
        "pull_schedule",
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("cron", sa.Text(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["account.id"],
            name=op.f("fk_pull_schedule_account_id_account"),
            ondelete="CASCADE",
        ),
        sa.ForeignKeyConstraint(
            ["dataset_pk"],
            ["dataset.id"],
            name=op.f("fk_pull_schedule_dataset_pk_dataset"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("dataset_pk", name=op.f("pk_pull_schedule")),
    )
    op.create_index(op.f("ix_pull_schedule_next_at"), "pull_schedule", ["next_at"], unique=False)
    op.create_table(
        "node_key",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("seed", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_node_key")),
    )
    _make_queue()


def _make_queue() -> None:
    """The queue's tables as the installed version has them.

    The schema's comment keeps that version: a later revision applies those of the package's own migrations
    that came after it.
    """
    raw = op.get_bind().connection.driver_connection
    if raw is None:
        raise RuntimeError("the connection has no driver connection")
    # Several statements at once, and per cents that are no parameters: for the driver, not for SQLAlchemy.
    raw.execute("CREATE SCHEMA jobs")
    raw.execute(f"COMMENT ON SCHEMA jobs IS 'procrastinate {version('procrastinate')}'")
    raw.execute("SET LOCAL search_path TO jobs")
    raw.execute(SchemaManager.get_schema())
    raw.execute("SET LOCAL search_path TO DEFAULT")


def downgrade() -> None:
    op.execute("DROP SCHEMA jobs CASCADE")
    op.drop_table("node_key")
    op.drop_index(op.f("ix_pull_schedule_next_at"), table_name="pull_schedule")
    op.drop_table("pull_schedule")
    op.drop_index("ix_job_finished_at", table_name="job")
    op.drop_index("uq_job_dataset_pk_account_id_idempotency_key", table_name="job")
    op.drop_table("job")
