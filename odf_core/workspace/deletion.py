"""Deleting datasets, with an eye on those that are computed from them."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

from odf_core.workspace.dataset import LocalDataset
from odf_core.workspace.errors import DatasetInUse
from odf_core.workspace.state import dependants, names_of
from odf_core.workspace.workspace import remove_files

if TYPE_CHECKING:
    from odf_core.workspace.workspace import Workspace


def delete_datasets(
    workspace: "Workspace", datasets: Sequence[LocalDataset], *, force: bool = False
) -> list[LocalDataset]:
    """Delete datasets; those that have thereby lost an input.

    Raises, and deletes nothing, `DatasetInUse` where a dataset that is to stay reads one of them (not
    with `force`), and `DatasetBusy`.
    """
    users = check_unused(workspace, datasets, force=force)
    with all_locked(datasets):
        for item in datasets:
            remove_files(item)
    return users


@contextmanager
def all_locked(datasets: Iterable[LocalDataset]) -> Iterator[None]:
    """The locks of all of them at once, so that what follows happens to all or to none.

    Raises `DatasetBusy`.
    """
    with ExitStack() as locks:
        for item in sorted(datasets, key=lambda item: item.id.multibase):
            locks.enter_context(item.lock())
        yield


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
