"""What a verification was asked for, as the row of its job keeps it."""

from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from typing import Any, Self
from uuid import UUID, uuid4

from sqlalchemy.ext.asyncio import AsyncConnection

from app.jobs.service import add_job, find_job, find_waiting
from odf_core.identity import Multihash


class Level(StrEnum):
    """How thorough a verification is: each holds those before it."""

    INTEGRITY = "integrity"
    """Chain, files and their logical hashes."""
    REPLAY = "replay"
    """Also every step of a derivative dataset, evaluated again."""


@dataclass(frozen=True, slots=True)
class VerifyRequest:
    """A verification of a dataset; `first` and `last` are the blocks of it between which steps are replayed.
    `recursive`: also of everything that it is computed from, and of that all blocks."""

    level: Level = Level.REPLAY
    first: str | None = None
    last: str | None = None
    recursive: bool = False

    @property
    def ends(self) -> tuple[Multihash | None, Multihash | None]:
        """Both blocks. Raises `InvalidMultihash`."""
        first, last = (None if text is None else Multihash.parse(text) for text in (self.first, self.last))
        return first, last

    @property
    def upstream(self) -> Self:
        """The same, of a dataset that the asked one is computed from."""
        return replace(self, first=None, last=None)

    def to_values(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        recursive = values.get("recursive", False)  # jobs of an earlier release do not say
        return cls(Level(values["level"]), values["first"], values["last"], recursive)


async def start_verification(
    conn: AsyncConnection, dataset_pk: int, account_id: UUID, request: VerifyRequest
) -> UUID:
    """The job of a verification; the one that waits already, where the account has asked for the same."""
    waiting = await find_waiting(conn, "verify", dataset_pk, keep_waiting=True)
    job = None if waiting is None else await find_job(conn, waiting)
    if job is not None and job.account_id == account_id and VerifyRequest.from_values(job.request) == request:
        return job.id
    return await add_job(
        conn,
        uuid4(),
        kind="verify",
        dataset_pk=dataset_pk,
        account_id=account_id,
        request=request.to_values(),
    )
