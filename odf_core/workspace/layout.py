"""Where a workspace is and what it holds: the folder `.odf`, found from below like git's.

.odf/version              "1"
.odf/repos.yaml           repositories by name
.odf/locks/<id>.lock      one lock per dataset
.odf/datasets/<id>/       datasets, each in the layout of the specification
"""

import os
from pathlib import Path

from odf_core.workspace.errors import WorkspaceExists, WorkspaceNotFound, WorkspaceUnreadable

FOLDER = ".odf"
VERSION = "1"
WORKSPACE_VARIABLE = "ODF_WORKSPACE"
"""Names the folder that holds `.odf`, instead of the search upwards."""


def init_folder(parent: Path) -> Path:
    """Make a workspace in `parent`; its `.odf`. Raises `WorkspaceExists`."""
    root = parent / FOLDER
    if (root / "version").exists():
        raise WorkspaceExists(f"There is a workspace in {parent} already.", objects=[parent])
    (root / "datasets").mkdir(parents=True, exist_ok=True)
    (root / "version").write_text(VERSION)
    return root


def find_folder(start: Path) -> Path:
    """The `.odf` of `start` or of the nearest folder above. Raises `WorkspaceNotFound`."""
    named = os.environ.get(WORKSPACE_VARIABLE)
    candidates = [Path(named)] if named else [start, *start.parents]
    for candidate in candidates:
        root = candidate / FOLDER
        if (root / "version").is_file():
            return checked(root)
    raise WorkspaceNotFound(
        f"There is no workspace in {candidates[0]} or above; make one with `odf init`.",
        objects=[candidates[0]],
    )


def checked(root: Path) -> Path:
    """`root`, if this program knows its version. Raises `WorkspaceUnreadable`."""
    version = (root / "version").read_text(errors="replace").strip()
    if version != VERSION:
        raise WorkspaceUnreadable(
            f"The workspace in {root.parent} has version {version[:20]!r}; this program knows {VERSION}.",
            objects=[root],
        )
    return root
