"""The dialect of the specification's AsyncAPI document: camelCase, DatasetError, archives in base64."""

from odf_core.transfer.dialects.published.dialect import PUBLISHED, SUBPROTOCOL, PublishedDialect

__all__ = ["PUBLISHED", "PublishedDialect", "SUBPROTOCOL"]
