"""The fetch phase: raw bytes from the web, files, containers and brokers, within bounds and a policy."""

from odf_core.ingest.fetch.fetch import fetch
from odf_core.ingest.fetch.options import FetchOptions
from odf_core.ingest.fetch.policy import ALLOW_SETTING, FetchPolicy, InvalidFetchPolicy, Permission
from odf_core.ingest.fetch.savepoint import SavepointStore
from odf_core.ingest.fetch.values import (
    DEFAULT_SOURCE,
    ETAG,
    LAST_MODIFIED,
    FetchContext,
    Fetched,
    ProgressFn,
    UpToDate,
)

__all__ = [
    "fetch",
    "FetchContext",
    "Fetched",
    "UpToDate",
    "FetchOptions",
    "FetchPolicy",
    "InvalidFetchPolicy",
    "Permission",
    "ALLOW_SETTING",
    "SavepointStore",
    "ProgressFn",
    "DEFAULT_SOURCE",
    "ETAG",
    "LAST_MODIFIED",
]
