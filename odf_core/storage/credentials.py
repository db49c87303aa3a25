"""The key of an S3 account as a value."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Credentials:
    """`session_token` belongs to temporary credentials (STS) only."""

    access_key_id: str
    secret_access_key: str = field(repr=False)
    session_token: str | None = field(default=None, repr=False)
