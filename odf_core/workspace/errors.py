"""Errors of a person's workspace."""

from typing import ClassVar

from odf_core.errors import Conflict, InvalidInput, NotFound


class WorkspaceNotFound(NotFound):
    """There is no `.odf` folder here or in any folder above."""

    code: ClassVar[str] = "workspace_not_found"


class WorkspaceExists(Conflict):
    """`odf init` in a folder that is a workspace already."""

    code: ClassVar[str] = "workspace_exists"


class WorkspaceUnreadable(InvalidInput):
    """A file that the workspace keeps for itself cannot be read."""

    code: ClassVar[str] = "workspace_unreadable"


class LocalDatasetNotFound(NotFound):
    """The workspace has no such dataset."""

    code: ClassVar[str] = "local_dataset_not_found"


class LocalDatasetExists(Conflict):
    """The workspace has this dataset, or another one of this name, already."""

    code: ClassVar[str] = "local_dataset_exists"


class DatasetBusy(Conflict):
    """Another command is working on the dataset."""

    code: ClassVar[str] = "dataset_busy"


class RepoExists(Conflict):
    """A repository of this name is registered with another URL."""

    code: ClassVar[str] = "repo_exists"


class RepoNotFound(NotFound):
    """No repository of this name is registered."""

    code: ClassVar[str] = "repo_not_found"


class InvalidRepoUrl(InvalidInput):
    """A repository's URL that is neither http(s) nor odf+http(s)."""

    code: ClassVar[str] = "invalid_repo_url"


class NoAliasToPull(InvalidInput):
    """`odf pull` of a local dataset that has no address to pull from, or several."""

    code: ClassVar[str] = "no_alias_to_pull"


class NothingToImport(InvalidInput):
    """A dataset cannot be made of no blocks, or without the files that its blocks declare."""

    code: ClassVar[str] = "nothing_to_import"


class ManifestUnreadable(InvalidInput):
    """A file or an address that should give manifests gives none."""

    code: ClassVar[str] = "manifest_unreadable"


class DatasetInUse(Conflict):
    """Other local datasets are computed from the dataset."""

    code: ClassVar[str] = "dataset_in_use"


class OldHeadMismatch(Conflict):
    """The head is not where the caller thought it was."""

    code: ClassVar[str] = "old_head_mismatch"


class NotAnAncestor(NotFound):
    """The chain of the dataset has no such block."""

    code: ClassVar[str] = "not_an_ancestor"


class NotOfThisKind(InvalidInput):
    """A verb for root datasets on a derivative one."""

    code: ClassVar[str] = "not_of_this_kind"


class PulledDataset(Conflict):
    """The dataset follows another one, so its own history is not written here."""

    code: ClassVar[str] = "pulled_dataset"
