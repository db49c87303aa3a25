"""Accounts and tokens, datasets with refs, blocks and objects, push sessions."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

revision: str = "0001"
down_revision: str | None = None
branch_labels: str | Sequence[str] | None = None
depends_on: str | Sequence[str] | None = None


def upgrade() -> None:
    op.create_table(
        "account",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("did", sa.Text(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("display_name", sa.Text(), nullable=True),
        sa.Column("is_admin", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_account")),
        sa.UniqueConstraint("did", name=op.f("uq_account_did")),
    )
    op.create_index("uq_account_lower_name", "account", [sa.literal_column("lower(name)")], unique=True)
    op.create_table(
        "stored_object",
        sa.Column("dataset_id", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("verified_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('DataSlice', 'Checkpoint')", name=op.f("ck_stored_object_kind")),
        sa.PrimaryKeyConstraint("dataset_id", "kind", "hash", name=op.f("pk_stored_object")),
    )
    op.create_table(
        "access_token",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("token_hash", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("last_used_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["account.id"],
            name=op.f("fk_access_token_account_id_account"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_access_token")),
        sa.UniqueConstraint("token_hash", name=op.f("uq_access_token_token_hash")),
    )
    op.create_index(op.f("ix_access_token_account_id"), "access_token", ["account_id"], unique=False)
    op.create_table(
        "dataset",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=False), nullable=False),
        sa.Column("dataset_id", sa.Text(), nullable=False),
        sa.Column("owner_id", sa.Uuid(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("visibility", sa.Text(), nullable=False),
        sa.Column("kind", sa.Text(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.CheckConstraint("kind IN ('Root', 'Derivative')", name=op.f("ck_dataset_kind")),
        sa.CheckConstraint("visibility IN ('private', 'public')", name=op.f("ck_dataset_visibility")),
        sa.ForeignKeyConstraint(["owner_id"], ["account.id"], name=op.f("fk_dataset_owner_id_account")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_dataset")),
        sa.UniqueConstraint("dataset_id", name=op.f("uq_dataset_dataset_id")),
    )
    op.create_index(
        "uq_dataset_owner_id_lower_name",
        "dataset",
        ["owner_id", sa.literal_column("lower(name)")],
        unique=True,
    )
    op.create_table(
        "push_session",
        sa.Column("id", sa.Uuid(), nullable=False),
        sa.Column("account_id", sa.Uuid(), nullable=False),
        sa.Column("dataset_alias", sa.Text(), nullable=False),
        sa.Column("dataset_id", sa.Text(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("outcome", sa.Text(), nullable=True),
        sa.ForeignKeyConstraint(
            ["account_id"],
            ["account.id"],
            name=op.f("fk_push_session_account_id_account"),
            ondelete="CASCADE",
        ),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_push_session")),
    )
    op.create_index(op.f("ix_push_session_account_id"), "push_session", ["account_id"], unique=False)
    op.create_index(op.f("ix_push_session_expires_at"), "push_session", ["expires_at"], unique=False)
    op.create_table(
        "block",
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.Column("sequence_number", sa.BigInteger(), nullable=False),
        sa.Column("prev_hash", sa.LargeBinary(), nullable=True),
        sa.Column("event_kind", sa.Text(), nullable=False),
        sa.Column("system_time", sa.DateTime(timezone=True), nullable=False),
        sa.Column("size", sa.Integer(), nullable=False),
        sa.Column("data", sa.LargeBinary(), nullable=False),
        sa.Column("num_objects", sa.Integer(), server_default=sa.text("0"), nullable=False),
        sa.Column("num_records", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("object_bytes", sa.BigInteger(), server_default=sa.text("0"), nullable=False),
        sa.Column("is_current", sa.Boolean(), server_default=sa.text("true"), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_pk"], ["dataset.id"], name=op.f("fk_block_dataset_pk_dataset"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dataset_pk", "hash", name=op.f("pk_block")),
    )
    op.create_index(
        "ix_block_event_kind", "block", ["dataset_pk", "event_kind", "sequence_number"], unique=False
    )
    op.create_index(
        "uq_block_current_sequence_number",
        "block",
        ["dataset_pk", "sequence_number"],
        unique=True,
        postgresql_where=sa.text("is_current"),
    )
    op.create_table(
        "ref",
        sa.Column("dataset_pk", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("block_hash", sa.LargeBinary(), nullable=False),
        sa.Column("sequence_number", sa.BigInteger(), nullable=False),
        sa.Column("mirrored_hash", sa.LargeBinary(), nullable=True),
        sa.Column("updated_at", sa.DateTime(timezone=True), server_default=sa.text("now()"), nullable=False),
        sa.ForeignKeyConstraint(
            ["dataset_pk"], ["dataset.id"], name=op.f("fk_ref_dataset_pk_dataset"), ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("dataset_pk", "name", name=op.f("pk_ref")),
    )


def downgrade() -> None:
    op.drop_table("ref")
    op.drop_index(
        "uq_block_current_sequence_number", table_name="block", postgresql_where=sa.text("is_current")
    )
    op.drop_index("ix_block_event_kind", table_name="block")
    op.drop_table("block")
    op.drop_index(op.f("ix_push_session_expires_at"), table_name="push_session")
    op.drop_index(op.f("ix_push_session_account_id"), table_name="push_session")
    op.drop_table("push_session")
    op.drop_index("uq_dataset_owner_id_lower_name", table_name="dataset")
    op.drop_table("dataset")
    op.drop_index(op.f("ix_access_token_account_id"), table_name="access_token")
    op.drop_table("access_token")
    op.drop_table("stored_object")
    op.drop_index("uq_account_lower_name", table_name="account")
    op.drop_table("account")
