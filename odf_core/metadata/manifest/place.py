"""Places in a manifest, and the refusal that names one."""

from typing import Any, NoReturn, TypeAlias

from odf_core.metadata.errors import InvalidManifest

Path: TypeAlias = tuple[Any, str | int] | None
"""A chain of (parent, step), which becomes text only in an error."""

_SHOWN_CHARS = 80


def refuse(path: Path, what: str) -> NoReturn:
    """Raises `InvalidManifest` about the place."""
    where = path_text(path)
    raise InvalidManifest(f"Invalid manifest: {where} {what}.", objects=[where])


def path_text(path: Path) -> str:
    """The place as text: `content.event.prepare[0].format`."""
    steps: list[str] = []
    while path is not None:
        path, step = path
        steps.append(f"[{step}]" if isinstance(step, int) else f".{step[:_SHOWN_CHARS]}")
    return "".join(reversed(steps)).lstrip(".") or "the document"


def shown(value: Any) -> str:
    """A stranger's value as it may stand in a message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return ascii(value[:_SHOWN_CHARS] if isinstance(value, str) else value)[: _SHOWN_CHARS + 2]
