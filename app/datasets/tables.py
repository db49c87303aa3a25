"""Tables of datasets: the index over what lies in the bucket, from which it can be made again.

Hashes are binary multihashes (34 bytes); `dataset_id` is the multibase form (`fed01…`), as folders
in the bucket are named.
"""

from datetime import datetime
from uuid import UUID

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Identity,
    Index,
    LargeBinary,
    Text,
    func,
    text,
)
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base


class Dataset(Base):
    """One dataset; it exists for readers once it has a Ref named `head`."""

    __tablename__ = "dataset"
    __table_args__ = (
        Index("uq_dataset_owner_id_lower_name", "owner_id", func.lower(text("name")), unique=True),
        CheckConstraint("visibility IN ('private', 'public')", name="visibility"),
        CheckConstraint("kind IN ('Root', 'Derivative')", name="kind"),
    )

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    dataset_id: Mapped[str] = mapped_column(Text, unique=True)
    owner_id: Mapped[UUID] = mapped_column(ForeignKey("account.id"))
    name: Mapped[str] = mapped_column(Text)
    visibility: Mapped[str] = mapped_column(Text)
    """`private` or `public`."""
    kind: Mapped[str] = mapped_column(Text)
    """`Root` or `Derivative`."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class Ref(Base):
    """A named reference to a block; `mirrored_hash` is what the bucket's `refs/<name>` is known to hold."""

    __tablename__ = "ref"

    dataset_pk: Mapped[int] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True)
    name: Mapped[str] = mapped_column(Text, primary_key=True)
    block_hash: Mapped[bytes] = mapped_column(LargeBinary)
    sequence_number: Mapped[int] = mapped_column(BigInteger)
    mirrored_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    updated_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class Block(Base):
    """A metadata block with its bytes as they came.

    `is_current` marks the chain that `head` closes; what a forced push replaced stays readable by hash.
    """

    __tablename__ = "block"
    __table_args__ = (
        Index(
            "uq_block_current_sequence_number",
            "dataset_pk",
            "sequence_number",
            unique=True,
            postgresql_where=text("is_current"),
        ),
        Index("ix_block_event_kind", "dataset_pk", "event_kind", "sequence_number"),
    )

    dataset_pk: Mapped[int] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    sequence_number: Mapped[int] = mapped_column(BigInteger)
    prev_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    event_kind: Mapped[str] = mapped_column(Text)
    system_time: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    """Microseconds; the block's bytes have the nanoseconds."""
    size: Mapped[int]
    data: Mapped[bytes] = mapped_column(LargeBinary)
    num_objects: Mapped[int] = mapped_column(server_default=text("0"))
    """New objects that the block names: what a transfer plan sums up (wire.md 3.2)."""
    num_records: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    object_bytes: Mapped[int] = mapped_column(BigInteger, server_default=text("0"))
    is_current: Mapped[bool] = mapped_column(server_default=text("true"))


class StoredObject(Base):
    """A slice or checkpoint that the node has read whole and found good.

    Without a foreign key, since objects are admitted before a dataset's first commit.
    """

    __tablename__ = "stored_object"
    __table_args__ = (CheckConstraint("kind IN ('DataSlice', 'Checkpoint')", name="kind"),)

    dataset_id: Mapped[str] = mapped_column(Text, primary_key=True)
    kind: Mapped[str] = mapped_column(Text, primary_key=True)
    hash: Mapped[bytes] = mapped_column(LargeBinary, primary_key=True)
    size: Mapped[int] = mapped_column(BigInteger)
    verified_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
