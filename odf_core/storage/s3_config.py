"""The settings of an S3 store as a value; importing it does not import boto3."""

from dataclasses import dataclass, field
from typing import Literal

AddressingStyle = Literal["path", "virtual"]


@dataclass(frozen=True, slots=True)
class S3Config:
    """Where the bucket is and how patient to be.

    `endpoint` None means AWS; no `access_key_id` means boto3's usual chain. A call takes at most
    about `max_attempts` times (`connect_seconds` + `read_seconds`), and the pauses between.
    """

    bucket: str
    endpoint: str | None = None
    region: str = "us-east-1"
    access_key_id: str | None = None
    secret_access_key: str | None = field(default=None, repr=False)
    session_token: str | None = field(default=None, repr=False)
    addressing_style: AddressingStyle = "path"
    max_connections: int = 64
    connect_seconds: float = 3.0
    read_seconds: float = 20.0
    copy_seconds: float = 300.0
    max_attempts: int = 4
