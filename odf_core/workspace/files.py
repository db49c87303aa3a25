"""The small files that a workspace keeps for itself: bounded reading, atomic writing."""

from pathlib import Path
from typing import Any

from odf_core.limits import MiB
from odf_core.transfer.client.durable import write_atomically
from odf_core.workspace.errors import WorkspaceUnreadable

_MOST_BYTES = 4 * MiB


def read_mapping(path: Path) -> dict[str, Any]:
    """A YAML mapping, {} where there is no file. Raises `WorkspaceUnreadable`."""
    try:
        with path.open("rb") as file:
            text = file.read(_MOST_BYTES)
    except FileNotFoundError:
        return {}
    except OSError as error:
        raise _unreadable(path) from error
    import yaml  # a workspace that has none of these files need not load it

    try:
        parsed = yaml.load(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))  # noqa: S506 - safe
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise _unreadable(path) from error
    if parsed is None:
        return {}
    if not isinstance(parsed, dict):
        raise _unreadable(path)
    return parsed


def write_mapping(path: Path, mapping: dict[str, Any], *, mode: int = 0o644) -> None:
    """Replace the file by `mapping` as YAML; `mode` holds before the first byte is written."""
    import yaml

    path.parent.mkdir(parents=True, exist_ok=True)
    text = yaml.safe_dump(mapping, sort_keys=False, allow_unicode=True).encode()
    write_atomically(path, text, durable=True, mode=mode)


def text_members(mapping: dict[str, Any], path: Path) -> dict[str, str]:
    """The mapping, if it goes from text to text. Raises `WorkspaceUnreadable`."""
    if not all(isinstance(key, str) and isinstance(value, str) for key, value in mapping.items()):
        raise _unreadable(path)
    return mapping


def text_list(value: object, path: Path) -> tuple[str, ...]:
    """A list of texts, empty for None. Raises `WorkspaceUnreadable`."""
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
        raise _unreadable(path)
    return tuple(value)


def _unreadable(path: Path) -> WorkspaceUnreadable:
    return WorkspaceUnreadable(f"{path} cannot be read; mend it or remove it.", objects=[path])
