"""What a job of this domain was asked for, as its row keeps it; and where its input waits."""

from dataclasses import asdict, dataclass
from typing import Any, Self
from uuid import UUID

from odf_core.storage import session_prefix


@dataclass(frozen=True, slots=True)
class IngestRequest:
    """Bytes that were pushed in; they wait in staging (`input_key`).

    `file_name` and `size` are those that an upload was prepared with; None where the body was sent along.
    """

    source_name: str | None
    media_type: str | None
    event_time: str | None
    file_name: str | None = None
    size: int | None = None

    @property
    def is_upload(self) -> bool:
        """Whether the bytes were uploaded before they were asked for."""
        return self.size is not None

    def to_values(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        return cls(
            values["source_name"],
            values["media_type"],
            values["event_time"],
            values.get("file_name"),
            values.get("size"),
        )


@dataclass(frozen=True, slots=True)
class PullRequest:
    """A polling source is to be asked; `fetch_uncacheable`: also one that tells no state."""

    fetch_uncacheable: bool = False

    def to_values(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_values(cls, values: dict[str, Any]) -> Self:
        return cls(bool(values.get("fetch_uncacheable", False)))


def input_key(job_id: UUID) -> str:
    """Where the bytes of an ingest wait: in staging, so that what nobody claims is swept."""
    return f"{session_prefix(job_id)}input"
