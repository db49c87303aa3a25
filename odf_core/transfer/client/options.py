"""How the client transfers: every number a documented default."""

import os
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from odf_core.limits import KiB, Limits, MiB

_MOST_PARALLEL = 32
_PER_CPU = 4


class DialectName(StrEnum):
    """Which encoding of the Smart Transfer Protocol is offered (wire-published.md)."""

    DEPLOYED = "deployed"
    PUBLISHED = "published"


def default_parallelism() -> int:
    """Four transfers for each processor, at most 32: presigned reads wait more than they work."""
    return min(_MOST_PARALLEL, _PER_CPU * (os.cpu_count() or 1))


class TransferOptions(BaseModel):
    """Settings of a pull or push. Times are seconds, sizes are bytes."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dialect: DialectName = Field(
        DialectName.DEPLOYED, description="Encoding of the Smart Transfer Protocol to speak."
    )
    parallelism: int = Field(
        default_factory=default_parallelism, gt=0, le=512, description="Objects in transfer at once."
    )
    simple_parallelism: int = Field(
        10, gt=0, le=512, description="Objects in transfer at once over the Simple Transfer Protocol."
    )
    attempts: int = Field(5, gt=0, description="Tries of one request before its failure is reported.")
    session_attempts: int = Field(3, gt=0, description="Smart sessions tried when the connection breaks.")
    backoff: float = Field(0.25, ge=0, description="Wait before the second try; doubles with each try.")
    backoff_most: float = Field(
        20.0, ge=0, description="Longest wait between two tries, also by Retry-After."
    )
    connect_timeout: float = Field(15.0, gt=0, description="Longest wait for a connection.")
    read_timeout: float = Field(120.0, gt=0, description="Longest silence within an HTTP answer.")
    reply_timeout: float = Field(
        900.0, gt=0, description="Longest wait for a message of the node; a commit checks all objects."
    )
    close_timeout: float = Field(5.0, gt=0, description="Longest wait for the node's Close.")
    renewals: int = Field(
        8, ge=0, description="Times in a row that expired URLs are asked for anew without any progress."
    )
    expiry_margin: float = Field(
        5.0, ge=0, description="A URL that expires sooner than this is asked for anew before it is used."
    )
    objects_per_request: int = Field(
        10_000, gt=0, description="Objects whose URLs are asked for in one message."
    )
    one_round_bytes: int = Field(
        32 * MiB, ge=0, description="A push of more bytes leaves room to ask for URLs again (wire.md 3.5)."
    )
    chunk_bytes: int = Field(
        512 * KiB, ge=64 * KiB, description="Piece of an object between two hash updates."
    )
    frame_bytes: int = Field(
        8 * MiB, gt=0, le=16 * MiB, description="Longest WebSocket frame that is sent (wire.md 2)."
    )
    durable: bool = Field(True, description="Flush files to the disk before a head moves.")
    limits: Limits = Field(default_factory=Limits, description="Bounds on what the node may send.")
