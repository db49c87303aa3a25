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
_READ = f"versions {MIN_MANIFEST_VERSION} to {MAX_MANIFEST_VERSION} are read and written"


def check_version(version: int) -> None:
    """Raises `ObsoleteManifestVersion` or `UnsupportedManifestVersion` for what is not read and written."""
    if version < MIN_MANIFEST_VERSION:
        raise ObsoleteManifestVersion(
            f"The block's manifest has the obsolete version {version}; {_READ}.",
            extras={"version": version, "minimum": MIN_MANIFEST_VERSION},
        )
    if version > MAX_MANIFEST_VERSION:
        raise UnsupportedManifestVersion(
            f"The block's manifest has the unknown version {version}; {_READ}.",
            extras={"version": version, "maximum": MAX_MANIFEST_VERSION},
        )
