"""Who may do what with a dataset: one function that every adapter asks."""

from app.accounts.model import Caller
from app.datasets.errors import DatasetForbidden, DatasetIsMirror, DatasetNotFound
from app.datasets.model import Action, DatasetInfo


def authorize(caller: Caller, dataset: DatasetInfo | None, action: Action) -> DatasetInfo:
    """The dataset, if the caller may do `action` with it.

    Raises `DatasetNotFound` for one that does not exist and, in the same words, for one that the
    caller may not read; `DatasetForbidden` only where the caller may read it; `DatasetIsMirror` for a
    commit to a mirror.
    """
    if dataset is None or not _may_read(caller, dataset):
        raise DatasetNotFound("There is no such dataset, or you may not read it.")
    if action is not Action.READ and not may_write(caller, dataset):
        raise DatasetForbidden("You may read this dataset, but not write to it.")
    if action is Action.WRITE and dataset.mirror_of is not None:
        raise DatasetIsMirror(
            f"{dataset.alias} is a mirror of {dataset.mirror_of} and changes with it; write there, or have "
            "the operator end the mirror (`odf admin mirror stop`).",
            objects=[dataset.id],
        )
    return dataset


def may_write(caller: Caller, dataset: DatasetInfo) -> bool:
    """Whether the dataset is the caller's, or the caller an admin."""
    account = caller.account
    return account is not None and (account.is_admin or account.id == dataset.owner_id)


def _may_read(caller: Caller, dataset: DatasetInfo) -> bool:
    return dataset.is_public or may_write(caller, dataset)
