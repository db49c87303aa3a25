"""One function makes the boto3 client: the settings that work on AWS and on rclone alike (stack.md 2.3)."""

from typing import TYPE_CHECKING

import boto3
from botocore.config import Config

from odf_core.storage.credentials import Credentials
from odf_core.storage.errors import StoreAccessDenied
from odf_core.storage.s3_config import S3Config

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client


class S3Clients:
    """The boto3 clients of one configuration; a copy inside S3 may take longer than any other answer."""

    def __init__(self, config: S3Config) -> None:
        self._session = boto3.session.Session(
            aws_access_key_id=config.access_key_id,
            aws_secret_access_key=config.secret_access_key,
            aws_session_token=config.session_token,
            region_name=config.region,
        )
        self.client = self._make(config, config.read_seconds)
        self.copier = self._make(config, config.copy_seconds)

    def credentials(self) -> Credentials:
        """The present credentials; those of a role change from time to time."""
        found = self._session.get_credentials()
        frozen = found.get_frozen_credentials() if found else None
        if frozen is None or not frozen.access_key or not frozen.secret_key:
            raise StoreAccessDenied("There are no credentials for S3: give a key, a profile or a role.")
        return Credentials(frozen.access_key, frozen.secret_key, frozen.token or None)

    def close(self) -> None:
        self.client.close()
        self.copier.close()

    def _make(self, config: S3Config, read_seconds: float) -> "S3Client":
        return self._session.client(
            "s3",
            endpoint_url=config.endpoint,
            config=Config(
                signature_version="s3v4",
                s3={"addressing_style": config.addressing_style, "payload_signing_enabled": False},
                request_checksum_calculation="when_required",
                response_checksum_validation="when_required",
                retries={"mode": "standard", "max_attempts": config.max_attempts},
                max_pool_connections=config.max_connections,
                connect_timeout=config.connect_seconds,
                read_timeout=read_seconds,
            ),
        )
