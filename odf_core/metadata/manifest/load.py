"""Text of a manifest, YAML or JSON, to a JSON-compatible value; bounded (metadata.md 5)."""

import json
from typing import Any

from odf_core.limits import Limits
from odf_core.metadata.errors import InvalidManifest, ManifestTooLarge, NestingTooDeep
from odf_core.metadata.extra import parse_json_int, refuse_constant
from odf_core.metadata.manifest.yaml_text import load_yaml

_LIMITS = Limits()
_LEVELS_PER_TABLE = 3
"""JSON levels that one table of the model can take: its object, an array, the type's object."""


def load_manifest(text: str | bytes, limits: Limits = _LIMITS) -> Any:
    """The one document of a text. Raises `InvalidManifest`, `ManifestTooLarge` or `NestingTooDeep`."""
    documents = load_manifests(text, limits)
    if len(documents) != 1:
        raise InvalidManifest(f"The text has to hold one manifest, but holds {len(documents)}.")
    return documents[0]


def load_manifests(text: str | bytes, limits: Limits = _LIMITS) -> list[Any]:
    """All documents of a YAML stream, or the one of a JSON text. Raises as `load_manifest`."""
    plain = _bounded_text(text, limits.manifest_bytes)
    max_depth = limits.nesting_depth * _LEVELS_PER_TABLE
    if plain.lstrip()[:1] == "{":
        try:
            return [_load_json(plain, max_depth)]
        except json.JSONDecodeError:
            # A mapping of YAML in flow style begins like JSON.
            return load_yaml(plain, max_depth)
    return load_yaml(plain, max_depth)


def _bounded_text(text: str | bytes, most: int) -> str:
    # A text has at least as many bytes as characters: the cheap test comes first.
    if len(text) > most or (isinstance(text, str) and len(text.encode(errors="replace")) > most):
        raise ManifestTooLarge(f"The manifest exceeds the limit of {most} bytes.")
    if isinstance(text, str):
        return text.removeprefix("\ufeff")
    try:
        return text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidManifest(f"The manifest is not UTF-8 (byte {error.start}).") from error


def _load_json(text: str, max_depth: int) -> Any:
    too_deep = f"The manifest is nested deeper than {max_depth} levels."
    try:
        value = json.loads(
            text,
            object_pairs_hook=_without_duplicates,
            parse_int=parse_json_int,
            parse_constant=refuse_constant,
        )
    except RecursionError as error:
        raise NestingTooDeep(too_deep) from error
    level = [value]
    for _ in range(max_depth):
        level = [part for item in level for part in _parts(item)]
        if not level:
            return value
    raise NestingTooDeep(too_deep)


def _parts(item: Any) -> list[Any]:
    """The collections directly within a value."""
    if isinstance(item, dict):
        return [part for part in item.values() if isinstance(part, dict | list)]
    return [part for part in item if isinstance(part, dict | list)]


def _without_duplicates(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    value = dict(pairs)
    if len(value) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise InvalidManifest(f"The manifest has the property {ascii(twice)[:80]} twice.")
    return value
