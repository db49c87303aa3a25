"""Repositories of other nodes, and the datasets that are mirrored from them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0004"
down_revision: str | None = "0003"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.drop_constraint(op.f("ck_job_kind"), "job", type_="check")
    op.create_check_constraint(
        op.f("ck_job_kind"), "job", "kind IN ('ingest', 'mirror', 'pull', 'transform', 'verify')"
    )
    op.alter_column("job", "dataset_pk", existing_type=sa.BigInteger(), nullable=True)
    op.create_check_constraint(op.f("ck_job_dataset"), "job", "dataset_pk IS NOT NULL OR kind = 'mirror'")
    op.create_table(
        "repository",
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("url", sa.Text(), nullable=False),
        sa.Column("token", sa.Text(), nullable=True),
        sa.Column("account_ids", postgresql.ARRAY(sa.Uuid()), server_default=sa.text("'{}'"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("name", name=op.f("pk_repository")),
    )
    op.create_index("uq_repository_lower_name", "repository", [sa.literal_column("lower(name)")], unique=True)
    op.create_table(
        "mirror",
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("source", sa.Text(), nullable=False),
        sa.Column("is_recursive", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("polled_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_pk"], ["dataset.id"], name=op.f("fk_mirror_dataset_pk_dataset"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dataset_pk", name=op.f("pk_mirror")),
    )
    op.create_index(op.f("ix_mirror_polled_at"), "mirror", ["polled_at"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_mirror_polled_at"), table_name="mirror")
    op.drop_table("mirror")
    op.drop_index("uq_repository_lower_name", table_name="repository")
    op.drop_table("repository")
    op.execute("DELETE FROM job WHERE kind = 'mirror'")
    op.drop_constraint(op.f("ck_job_dataset"), "job", type_="check")
    op.alter_column("job", "dataset_pk", existing_type=sa.BigInteger(), nullable=False)
    op.drop_constraint(op.f("ck_job_kind"), "job", type_="check")
    op.create_check_constraint(
        op.f("ck_job_kind"), "job", "kind IN ('ingest', 'pull', 'transform', 'verify')"
    )
