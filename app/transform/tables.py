"""Tables of derivations: what the transforms of the node's derivative datasets read."""

from sqlalchemy import BigInteger, ForeignKey, LargeBinary, Text, text
from sqlalchemy.orm import Mapped, mapped_column

from app.database import Base


class Derivation(Base):
    """A derivative dataset whose chain has a SetTransform.

    `is_automatic`: it is brought up to date when its inputs move. Those that were made here are; those that
    were pushed are computed by somebody else, whose chain would part from the node's.
    """

    __tablename__ = "derivation"

    dataset_pk: Mapped[int] = mapped_column(ForeignKey("dataset.id", ondelete="CASCADE"), primary_key=True)
    transform_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
    """The block of the SetTransform that the inputs are of; None where its chain has none any more."""
    is_automatic: Mapped[bool] = mapped_column(server_default=text("false"))


class DerivationInput(Base):
    """One input, by its id (multibase), whether it is on this node or not.

    `seen_hash` is the head of the input up to which the dataset is known to be up to date.
    """

    __tablename__ = "derivation_input"

    dataset_pk: Mapped[int] = mapped_column(
        BigInteger, ForeignKey("derivation.dataset_pk", ondelete="CASCADE"), primary_key=True
    )
    position: Mapped[int] = mapped_column(primary_key=True)
    input_id: Mapped[str] = mapped_column(Text, index=True)
    alias: Mapped[str | None] = mapped_column(Text)
    seen_hash: Mapped[bytes | None] = mapped_column(LargeBinary)
