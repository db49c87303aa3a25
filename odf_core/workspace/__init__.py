"""A person's local datasets and the verbs over them: the coordinator in one object.

workspace = Workspace.init(Path.cwd())
Transfers(workspace).pull("odf+https://odf.example.org/alice/foo")
"""

from typing import TYPE_CHECKING

from odf_core.lazy import lazy_names

if TYPE_CHECKING:
    from odf_core.workspace.dataset import LocalDataset, RemoteAliases
    from odf_core.workspace.errors import (
        DatasetBusy,
        DatasetInUse,
        InvalidRepoUrl,
        LocalDatasetExists,
        LocalDatasetNotFound,
        ManifestUnreadable,
        NoAliasToPull,
        NotAnAncestor,
        NothingToImport,
        NotOfThisKind,
        OldHeadMismatch,
        PulledDataset,
        RepoExists,
        RepoNotFound,
        WorkspaceExists,
        WorkspaceNotFound,
        WorkspaceUnreadable,
    )
    from odf_core.workspace.repos import RepoRegistry
    from odf_core.workspace.tokens import TokenStore
    from odf_core.workspace.transfers import Transferred, Transfers
    from odf_core.workspace.workspace import Workspace

__all__ = [
    "Workspace",
    "Transfers",
    "Transferred",
    "LocalDataset",
    "RemoteAliases",
    "RepoRegistry",
    "TokenStore",
    "WorkspaceNotFound",
    "WorkspaceExists",
    "WorkspaceUnreadable",
    "LocalDatasetNotFound",
    "LocalDatasetExists",
    "DatasetBusy",
    "DatasetInUse",
    "ManifestUnreadable",
    "RepoExists",
    "RepoNotFound",
    "InvalidRepoUrl",
    "NoAliasToPull",
    "NotAnAncestor",
    "NotOfThisKind",
    "OldHeadMismatch",
    "PulledDataset",
    "NothingToImport",
]

__getattr__ = lazy_names(
    __name__,
    {
        "dataset": (
            "LocalDataset",
            "RemoteAliases",
        ),
        "errors": (
            "DatasetBusy",
            "DatasetInUse",
            "InvalidRepoUrl",
            "LocalDatasetExists",
            "LocalDatasetNotFound",
            "ManifestUnreadable",
            "NoAliasToPull",
            "NotAnAncestor",
            "NotOfThisKind",
            "OldHeadMismatch",
            "PulledDataset",
            "NothingToImport",
            "RepoExists",
            "RepoNotFound",
            "WorkspaceExists",
            "WorkspaceNotFound",
            "WorkspaceUnreadable",
        ),
        "repos": ("RepoRegistry",),
        "tokens": ("TokenStore",),
        "transfers": (
            "Transferred",
            "Transfers",
        ),
        "workspace": ("Workspace",),
    },
)
