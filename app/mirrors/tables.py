"""Tables of mirrors: the repositories that an operator has registered, and what is mirrored from them."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, Text, Uuid, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base


class Repository(Base):
    """A repository by the name that the operator gives it.

    `token` is what this node shows there for the accounts in `account_ids` and for admins; whoever else asks
    gets what the repository gives to anybody.
    """

    __tablename__ = "repository"
    __table_args__ = (Index("uq_repository_lower_name", func.lower(text("name")), unique=True),)

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    url: Mapped[str] = mapped_column(Text)
    token: Mapped[str | None] = mapped_column(Text)
    account_ids: Mapped[list[UUID]] = mapped_column(ARRAY(Uuid), server_default=text("'{}'"))
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


class Mirror(Base):
    """A dataset that follows one of a registered repository, `source` (`repo/[account/]name`)."""

    __tablename__ = "mirror"

    dataset_pk: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True
    )
    source: Mapped[str] = mapped_column(Text)
    is_recursive: Mapped[bool] = mapped_column(server_default=text("false"))
    """Whether all that its chain reads is mirrored with it."""
    polled_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.now(), index=True
    )
    """When the source was last to be asked by itself."""
