"""What the format commands do beyond the library's own functions."""

import sys

from odf_core.identity import Multihash
from odf_core.limits import Limits
from odf_core.metadata import (
    LegacyBlock,
    ObsoleteManifestVersion,
    UnsupportedManifestVersion,
    UnsupportedMember,
    decode_block,
)

_OTHER_VERSIONS = (LegacyBlock, ObsoleteManifestVersion, UnsupportedManifestVersion, UnsupportedMember)


def hash_of_block(data: bytes, limits: Limits) -> Multihash:
    """The hash of a block, also of a version that is not read here; raises `MalformedBlock` for what is
    no block at all."""
    try:
        decode_block(data, limits)
    except _OTHER_VERSIONS as error:
        sys.stderr.write(f"note: {error.message}\n")
    return Multihash.sha3_256(data)
