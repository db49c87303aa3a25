"""The wrapper of a manifest: exactly `kind`, `version` and `content` (metadata.md 5.1)."""

from typing import Any

from odf_core.limits import Limits
from odf_core.metadata.block import DecodedBlock, StoredBlock
from odf_core.metadata.config import DatasetConfig
from odf_core.metadata.errors import InvalidManifest, UnsupportedManifestVersion
from odf_core.metadata.events import MetadataBlock, MetadataEvent
from odf_core.metadata.manifest.place import refuse, shown
from odf_core.metadata.manifest.read import from_json
from odf_core.metadata.manifest.write import to_json
from odf_core.metadata.shapes import Shape, shape_of
from odf_core.metadata.snapshot import DatasetSnapshot
from odf_core.metadata.versions import check_version

_LIMITS = Limits()
_VERSION = 1
_PROPERTIES = ("kind", "version", "content")

MANIFEST_SHAPES: dict[str, Shape] = {
    "MetadataBlock": shape_of(MetadataBlock),
    "MetadataEvent": shape_of(MetadataEvent),
    "DatasetSnapshot": shape_of(DatasetSnapshot),
    "DatasetConfig": shape_of(DatasetConfig),
}
"""The kinds of manifests and what their content is."""


def block_to_json(decoded: DecodedBlock | StoredBlock) -> dict[str, Any]:
    """The manifest of a block, of the version that its bytes have."""
    return _wrapped("MetadataBlock", decoded.version, decoded.block)


def block_from_json(manifest: Any, limits: Limits = _LIMITS) -> DecodedBlock:
    """Reads a block's manifest of version 2 or 3.

    Raises `InvalidManifest`, `NestingTooDeep`, `ObsoleteManifestVersion`, `UnsupportedManifestVersion`.
    """
    kind, version, content = _unwrapped(manifest)
    _check_kind(kind, "MetadataBlock")
    check_version(version)
    return DecodedBlock(version, _content(kind, content, limits))


def event_to_json(event: MetadataEvent) -> dict[str, Any]:
    """The manifest of an event."""
    return _wrapped("MetadataEvent", _VERSION, event)


def event_from_json(manifest: Any, limits: Limits = _LIMITS) -> MetadataEvent:
    """Reads an event's manifest. Raises `InvalidManifest`, `NestingTooDeep`, `UnsupportedManifestVersion`."""
    event: MetadataEvent = _read_first_version(manifest, "MetadataEvent", limits)
    return event


def snapshot_to_json(snapshot: DatasetSnapshot) -> dict[str, Any]:
    """The manifest of a snapshot."""
    return _wrapped("DatasetSnapshot", _VERSION, snapshot)


def snapshot_from_json(manifest: Any, limits: Limits = _LIMITS) -> DatasetSnapshot:
    """Reads a snapshot's manifest. Raises as `event_from_json`."""
    snapshot: DatasetSnapshot = _read_first_version(manifest, "DatasetSnapshot", limits)
    return snapshot


def config_to_json(config: DatasetConfig) -> dict[str, Any]:
    """The manifest of a dataset's configuration."""
    return _wrapped("DatasetConfig", _VERSION, config)


def config_from_json(manifest: Any, limits: Limits = _LIMITS) -> DatasetConfig:
    """Reads the manifest of a dataset's configuration. Raises as `event_from_json`."""
    config: DatasetConfig = _read_first_version(manifest, "DatasetConfig", limits)
    return config


def _wrapped(kind: str, version: int, value: Any) -> dict[str, Any]:
    return {"kind": kind, "version": version, "content": to_json(value, MANIFEST_SHAPES[kind])}


def _read_first_version(manifest: Any, expected: str, limits: Limits) -> Any:
    kind, version, content = _unwrapped(manifest)
    _check_kind(kind, expected)
    if version != _VERSION:
        raise UnsupportedManifestVersion(
            f"The manifest of kind {kind} has version {version}; only version {_VERSION} is read.",
            extras={"version": version, "maximum": _VERSION, "place": ["version"]},
        )
    return _content(kind, content, limits)


def _unwrapped(manifest: Any) -> tuple[str, int, Any]:
    if not isinstance(manifest, dict):
        refuse(None, f"has to be an object, not {shown(manifest)}")
    for key in manifest:
        if key not in _PROPERTIES:
            known = ", ".join(_PROPERTIES)
            refuse(None, f"has the unknown property {shown(key)} (known: {known})", at=(None, key))
    for key in _PROPERTIES:
        if key not in manifest:
            refuse(None, f"lacks the property {key!r}")
    kind, version, content = (manifest[key] for key in _PROPERTIES)
    if not isinstance(kind, str):
        refuse((None, "kind"), f"has to be text, not {shown(kind)}")
    if type(version) is not int:
        refuse((None, "version"), f"has to be an integer, not {shown(version)}")
    return kind, version, content


def _check_kind(kind: str, expected: str) -> None:
    if kind != expected:
        raise InvalidManifest(
            f"The manifest is of kind {shown(kind)}; {expected} is needed here.", extras={"place": ["kind"]}
        )


def _content(kind: str, content: Any, limits: Limits) -> Any:
    return from_json(content, MANIFEST_SHAPES[kind], (None, "content"), limits.nesting_depth)
