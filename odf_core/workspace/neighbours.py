"""Datasets of other workspaces of this machine, by `file:` URL."""

from pathlib import Path

from odf_core.errors import InvalidInput
from odf_core.identity import DatasetAlias
from odf_core.workspace.layout import FOLDER
from odf_core.workspace.workspace import Workspace


def dataset_folder(path: Path) -> Path:
    """The folder that `path` names: itself, or where `path` is `…/name` and `…` is a workspace with a dataset
    of that name (or `…/account/name`), the folder of that dataset."""
    if (path / "refs" / "head").is_file():
        return path
    for parent, parts in ((path.parent, (path.name,)), (path.parent.parent, (path.parent.name, path.name))):
        if (parent / FOLDER / "version").is_file():
            found = _named(parent, "/".join(parts))
            if found is not None:
                return found
    return path


def _named(parent: Path, name: str) -> Path | None:
    try:
        alias = DatasetAlias.parse(name)
    except InvalidInput:
        return None
    found = Workspace(parent / FOLDER).find_dataset(alias)
    return found.path if found is not None else None
