"""The table of attestations."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, ForeignKey, Identity, LargeBinary, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base


class Attestation(Base):
    """What a verification of a dataset found, signed by the node."""

    __tablename__ = "attestation"

    id: Mapped[int] = mapped_column(BigInteger, Identity(), primary_key=True)
    dataset_pk: Mapped[int] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"), index=True)
    head: Mapped[bytes] = mapped_column(LargeBinary)
    """The head of the chain that was verified."""
    is_good: Mapped[bool]
    summary: Mapped[dict[str, Any]] = mapped_column(JSONB)
    """The finding in a few words, for pages."""
    envelope: Mapped[dict[str, Any]] = mapped_column(JSONB)
    """The DSSE envelope as it is served."""
    made_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
