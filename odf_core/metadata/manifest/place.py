"""Places in a manifest, and the refusal that names one."""

from typing import Any, NoReturn, TypeAlias

from odf_core.metadata.errors import InvalidManifest

Path: TypeAlias = tuple[Any, str | int] | None
"""A chain of (parent, step), which becomes text only in an error."""

SHOWN_CHARS = 80


def refuse(path: Path, what: str, *, at: Path = None) -> NoReturn:
    """Raises `InvalidManifest` about the place; `at` is nearer to the fault, if given."""
    where = path_text(path)
    raise InvalidManifest(
        f"Invalid manifest: {where} {what}.", objects=[where], extras={"place": path_steps(at or path)}
    )


def path_text(path: Path) -> str:
    """The place as text: `content.event.prepare[0].format`."""
    steps = [f"[{step}]" if isinstance(step, int) else f".{step}" for step in path_steps(path)]
    return "".join(steps).lstrip(".") or "the document"


def path_steps(path: Path) -> list[str | int]:
    """The steps from the document to the place: properties' names (of bounded length) and indexes."""
    steps: list[str | int] = []
    while path is not None:
        path, step = path
        steps.append(step if isinstance(step, int) else step[:SHOWN_CHARS])
    steps.reverse()
    return steps


def shown(value: Any) -> str:
    """A stranger's value as it may stand in a message."""
    if isinstance(value, dict):
        return "an object"
    if isinstance(value, list):
        return "an array"
    return ascii(value[:SHOWN_CHARS] if isinstance(value, str) else value)[: SHOWN_CHARS + 2]
