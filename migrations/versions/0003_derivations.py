"""What derivative datasets read, and what was found when datasets were verified."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects import postgresql

revision: str = "0003"
down_revision: str | None = "0002"
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.drop_constraint(op.f("ck_job_kind"), "job", type_="check")
    op.create_check_constraint(
        op.f("ck_job_kind"), "job", "kind IN ('ingest', 'pull', 'transform', 'verify')"
    )
    op.create_index("ix_job_dataset_pk_kind_created_at", "job", ["dataset_pk", "kind", "created_at"])
    op.create_table(
        "derivation",
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("transform_hash", sa.LargeBinary(), nullable=True),
        sa.Column("is_automatic", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_pk"], ["dataset.id"], name=op.f("fk_derivation_dataset_pk_dataset"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dataset_pk", name=op.f("pk_derivation")),
    )
    op.create_table(
        "derivation_input",
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("input_id", sa.Text(), nullable=False),
        sa.Column("alias", sa.Text(), nullable=True),
        sa.Column("seen_hash", sa.LargeBinary(), nullable=True),
        sa.ForeignKeyConstraint(
            ["dataset_pk"],
            ["derivation.dataset_pk"],
            name=op.f("fk_derivation_input_dataset_pk_derivation"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("dataset_pk", "position", name=op.f("pk_derivation_input")),
    )
    op.create_index(op.f("ix_derivation_input_input_id"), "derivation_input", ["input_id"], unique=False)
    op.create_table(
        "attestation",
        sa.Column("id", sa.BigInteger(), sa.Identity(), nullable=False),
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("head", sa.LargeBinary(), nullable=False),
        sa.Column("is_good", sa.Boolean(), nullable=False),
        sa.Column("summary", postgresql.JSONB(), nullable=False),
        sa.Column("envelope", postgresql.JSONB(), nullable=False),
        sa.Column("made_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_pk"], ["dataset.id"], name=op.f("fk_attestation_dataset_pk_dataset"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_attestation")),
    )
    op.create_index(op.f("ix_attestation_dataset_pk"), "attestation", ["dataset_pk"], unique=False)


def downgrade() -> None:
    op.drop_index(op.f("ix_attestation_dataset_pk"), table_name="attestation")
    op.drop_table("attestation")
    op.drop_index(op.f("ix_derivation_input_input_id"), table_name="derivation_input")
    op.drop_table("derivation_input")
    op.drop_table("derivation")
    op.execute("DELETE FROM job WHERE kind IN ('transform', 'verify')")
    op.drop_index("ix_job_dataset_pk_kind_created_at", table_name="job")
    op.drop_constraint(op.f("ck_job_kind"), "job", type_="check")
    op.create_check_constraint(op.f("ck_job_kind"), "job", "kind IN ('ingest', 'pull')")
