"""Table of keys that the node makes for itself."""

from datetime import datetime

from sqlalchemy import DateTime, LargeBinary, Text, func
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base


class NodeKey(Base):
    """A private key, by what it is for; all processes of a node share it."""

    __tablename__ = "node_key"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    seed: Mapped[bytes] = mapped_column(LargeBinary)
    """32 bytes, from which an ed25519 key is made."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
