"""Private keys that a node makes for itself, one for each purpose; all its processes share them."""

import secrets
from datetime import datetime
from typing import Literal

from sqlalchemy import DateTime, LargeBinary, Text, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncEngine
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base, begin

Purpose = Literal["answers", "uploads"]
_SEED_BYTES = 32


class NodeKey(Base):
    """A private key, by what it is for."""

    __tablename__ = "node_key"

    name: Mapped[str] = mapped_column(Text, primary_key=True)
    seed: Mapped[bytes] = mapped_column(LargeBinary)
    """32 bytes, from which an ed25519 key is made, or which are the key of a MAC."""
    created_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())


async def own_seed(engine: AsyncEngine, purpose: Purpose) -> bytes:
    """The 32 secret bytes of a purpose, made when they are first needed. Raises `DatabaseUnavailable`."""
    wanted = select(NodeKey.seed).where(NodeKey.name == purpose)
    async with begin(engine) as conn:
        found = (await conn.execute(wanted)).scalar_one_or_none()
        if found is None:
            made = insert(NodeKey).values(name=purpose, seed=secrets.token_bytes(_SEED_BYTES))
            await conn.execute(made.on_conflict_do_nothing())
            found = (await conn.execute(wanted)).scalar_one()
    seed: bytes = found
    return seed
