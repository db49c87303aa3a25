"""Which versions of engines the datasets of the workspace name."""

from collections import Counter

from app.cli.session import find_workspace


def datasets_by_engine() -> Counter[tuple[str, str | None]] | None:
    """How many datasets are computed by an engine, by its name and version; None outside of a workspace."""
    from odf_core.workspace.errors import WorkspaceNotFound
    from odf_core.workspace.state import current_state

    try:
        workspace = find_workspace()
    except WorkspaceNotFound:
        return None
    found: Counter[tuple[str, str | None]] = Counter()
    for dataset in workspace.datasets():
        defined = current_state(dataset.folder).transform
        if defined is not None:
            found[defined.transform.engine.lower(), defined.transform.version] += 1
    return found
