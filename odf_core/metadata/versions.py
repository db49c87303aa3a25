"""Versions of the manifest that wraps a block (metadata.md 1.2)."""

from odf_core.metadata.errors import ObsoleteManifestVersion, UnsupportedManifestVersion

MIN_MANIFEST_VERSION = 2
MAX_MANIFEST_VERSION = 3

DEFAULT_MANIFEST_VERSION = 2
"""Version of new blocks unless a setting says otherwise.

Versions 2 and 3 hold the same events and differ in how the timestamp is aligned. Every deployed node
and tool of the current layout reads version 2, also those that refuse 3 because they are older than
July 2026, and the reference reads both; so a dataset written with 2 can go anywhere.
"""

TIMESTAMP_ALIGNMENT = {2: 1, 3: 4}
"""Alignment of the timestamp struct, in bytes, by manifest version (metadata.md 0.1)."""


def check_version(version: int) -> None:
    """Raises `ObsoleteManifestVersion` or `UnsupportedManifestVersion` for what is not read and written."""
    if version < MIN_MANIFEST_VERSION:
        raise ObsoleteManifestVersion(
            f"Obsolete version: manifest has version {version} while minimum supported version is "
            f"{MIN_MANIFEST_VERSION}.",
            extras={"version": version, "minimum": MIN_MANIFEST_VERSION},
        )
    if version > MAX_MANIFEST_VERSION:
        raise UnsupportedManifestVersion(
            f"Unsupported version: manifest has version {version} while maximum supported version is "
            f"{MAX_MANIFEST_VERSION}.",
            extras={"version": version, "maximum": MAX_MANIFEST_VERSION},
        )
