"""Postgres and S3 for one-machine use, as children of the node (docs/adr/0001)."""

from app.embedded.services import EmbeddedS3, EmbeddedServices

__all__ = ["EmbeddedS3", "EmbeddedServices"]
