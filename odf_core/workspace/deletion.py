"""Deleting datasets, with an eye on those that are computed from them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import DatasetInUse
from odf_core.workspace.state import dependants, names_of

if TYPE_CHECKING:
    from odf_core.workspace.workspace import Workspace


def delete_datasets(
    workspace: "Workspace", datasets: Sequence[LocalDataset], *, force: bool = False
) -> list[LocalDataset]:
    """Delete datasets; those that have thereby lost an input.

    Raises `DatasetInUse`, and deletes nothing, where a dataset that is to stay reads one of them; not
    with `force`.
    """
    users = check_unused(workspace, datasets, force=force)
    for item in datasets:
        workspace.delete(item)
    return users


def check_unused(
    workspace: "Workspace", datasets: Sequence[LocalDataset], *, force: bool = False
) -> list[LocalDataset]:
    """The datasets beside `datasets` that read one of them. Raises `DatasetInUse` unless `force`."""
    ids = [item.id for item in datasets]
    users = dependants(workspace, ids, but=ids)
    if users and not force:
        raise DatasetInUse(
            f"{names_of(users)} read {names_of(datasets)} and would lose an input; delete them too, or "
            "insist by `--force`.",
            objects=[item.id for item in users],
        )
    return users
