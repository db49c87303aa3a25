"""Attestations in the index, and what they say of a dataset as it is now."""

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncConnection

from app.datasets.model import DatasetInfo
from app.jobs.tables import Job
from app.verification.tables import Attestation
from odf_core.identity import Multihash

MOST_ATTESTATIONS = 100


class Verdict(StrEnum):
    """What is known of a dataset."""

    UNKNOWN = "Unknown"
    """It was not verified here, or not since it was made anew."""
    GOOD = "Good"
    """The last verification found nothing wrong."""
    BAD = "Bad"
    """The last verification found something wrong, or could not look at all of it."""


@dataclass(frozen=True, slots=True)
class Status:
    """The last word about a dataset, and whether a verification waits or is under way."""

    verdict: Verdict
    is_pending: bool
    head: Multihash | None = None
    made_at: datetime | None = None
    summary: dict[str, Any] | None = None


async def read_envelopes(conn: AsyncConnection, dataset: DatasetInfo) -> list[dict[str, Any]]:
    """The newest attestations, the last one first."""
    found = await conn.execute(
        select(Attestation.envelope)
        .where(Attestation.dataset_pk == dataset.pk)
        .order_by(Attestation.id.desc())
        .limit(MOST_ATTESTATIONS)
    )
    return list(found.scalars())


async def read_status(conn: AsyncConnection, dataset: DatasetInfo) -> Status:
    """The status of a dataset."""
    pending = await conn.execute(
        select(Job.id)
        .where(Job.dataset_pk == dataset.pk, Job.kind == "verify", Job.finished_at.is_(None))
        .limit(1)
    )
    is_pending = pending.scalar_one_or_none() is not None
    found = await conn.execute(
        select(Attestation.head, Attestation.is_good, Attestation.made_at, Attestation.summary)
        .where(Attestation.dataset_pk == dataset.pk)
        .order_by(Attestation.id.desc())
        .limit(1)
    )
    row = found.one_or_none()
    if row is None:
        return Status(Verdict.UNKNOWN, is_pending)
    verdict = Verdict.GOOD if row.is_good else Verdict.BAD
    return Status(verdict, is_pending, Multihash.from_bytes(row.head), row.made_at, row.summary)
