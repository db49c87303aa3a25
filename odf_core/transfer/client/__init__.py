"""The client of both transfer protocols: drives sockets, checks every hash, moves heads last.

`SmartPull` and `SmartPush` speak the Smart protocol in either dialect, `SimplePull` reads any static
server or folder of the layout; each has `run`, which returns `UpToDate` or `Updated` and raises leaves of
`odf_core.errors` for everything else. It is synchronous: threads move objects side by side.
"""

from typing import TYPE_CHECKING

from odf_core.lazy import lazy_names

if TYPE_CHECKING:
    from odf_core.transfer.client.addresses import DatasetAddress, Resolver
    from odf_core.transfer.client.errors import (
        AddressUnresolved,
        DatasetsDiverged,
        DestinationAhead,
        DownloadMismatch,
        IdentityChanged,
        LocalHeadMoved,
        LocalObjectDamaged,
        RemoteDatasetNotFound,
        RemoteForbidden,
        RemoteObjectNotFound,
        RemoteReadOnly,
        RemoteRefused,
        RemoteTokenRefused,
        RemoteUnauthenticated,
        RemoteUnavailable,
        TransferUrlExpired,
        TransferUrlRefused,
        UnexpectedAnswer,
    )
    from odf_core.transfer.client.folder import DatasetFolder
    from odf_core.transfer.client.http import Http
    from odf_core.transfer.client.options import DialectName, TransferOptions
    from odf_core.transfer.client.progress import SILENT, Phase, Progress
    from odf_core.transfer.client.pull import SmartPull
    from odf_core.transfer.client.push import SmartPush
    from odf_core.transfer.client.repository import RepositoryApi, remote_head
    from odf_core.transfer.client.results import TransferResult, TransferStats, Updated, UpToDate
    from odf_core.transfer.client.simple import SimplePull
    from odf_core.transfer.client.source import DatasetSource, FolderSource, HttpSource, folder_of

__all__ = [
    "SmartPull",
    "SmartPush",
    "SimplePull",
    "Http",
    "TransferOptions",
    "DialectName",
    "DatasetAddress",
    "Resolver",
    "DatasetFolder",
    "DatasetSource",
    "HttpSource",
    "FolderSource",
    "folder_of",
    "RepositoryApi",
    "remote_head",
    "Progress",
    "Phase",
    "SILENT",
    "TransferResult",
    "TransferStats",
    "UpToDate",
    "Updated",
    "AddressUnresolved",
    "DatasetsDiverged",
    "DestinationAhead",
    "DownloadMismatch",
    "IdentityChanged",
    "LocalHeadMoved",
    "LocalObjectDamaged",
    "RemoteDatasetNotFound",
    "RemoteForbidden",
    "RemoteObjectNotFound",
    "RemoteReadOnly",
    "RemoteRefused",
    "RemoteTokenRefused",
    "RemoteUnauthenticated",
    "RemoteUnavailable",
    "TransferUrlExpired",
    "TransferUrlRefused",
    "UnexpectedAnswer",
]

__getattr__ = lazy_names(
    __name__,
    {
        "addresses": (
            "DatasetAddress",
            "Resolver",
        ),
        "errors": (
            "AddressUnresolved",
            "DatasetsDiverged",
            "DestinationAhead",
            "DownloadMismatch",
            "IdentityChanged",
            "LocalHeadMoved",
            "LocalObjectDamaged",
            "RemoteDatasetNotFound",
            "RemoteForbidden",
            "RemoteObjectNotFound",
            "RemoteReadOnly",
            "RemoteRefused",
            "RemoteTokenRefused",
            "RemoteUnauthenticated",
            "RemoteUnavailable",
            "TransferUrlExpired",
            "TransferUrlRefused",
            "UnexpectedAnswer",
        ),
        "folder": ("DatasetFolder",),
        "http": ("Http",),
        "options": (
            "DialectName",
            "TransferOptions",
        ),
        "progress": (
            "SILENT",
            "Phase",
            "Progress",
        ),
        "pull": ("SmartPull",),
        "push": ("SmartPush",),
        "repository": (
            "RepositoryApi",
            "remote_head",
        ),
        "results": (
            "TransferResult",
            "TransferStats",
            "Updated",
            "UpToDate",
        ),
        "simple": ("SimplePull",),
        "source": (
            "DatasetSource",
            "FolderSource",
            "HttpSource",
            "folder_of",
        ),
    },
)
