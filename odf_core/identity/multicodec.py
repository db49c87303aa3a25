"""The multicodec codes of the specification, its private ones included (metadata.md 3)."""

from collections.abc import Mapping
from types import MappingProxyType

CIDV1 = 0x01
SHA2_256 = 0x12
SHA3_256 = 0x16
ED25519_PUB = 0xED
MULTIDID = 0x0D1D
ARROW0_SHA3_256 = 0x300016
ODF_METADATA_BLOCK = 0x400000
ODF_DATASET_SNAPSHOT = 0x400001

CODE_NAMES: Mapping[int, str] = MappingProxyType(
    {
        CIDV1: "cidv1",
        SHA2_256: "sha2-256",
        SHA3_256: "sha3-256",
        ED25519_PUB: "ed25519-pub",
        MULTIDID: "multidid",
        ARROW0_SHA3_256: "arrow0-sha3-256",
        ODF_METADATA_BLOCK: "odf-metadata-block",
        ODF_DATASET_SNAPSHOT: "odf-dataset-snapshot",
    }
)
"""Every known code with its name in the multicodec table or the specification."""

HASH_DIGEST_BYTES: Mapping[int, int] = MappingProxyType({SHA2_256: 32, SHA3_256: 32, ARROW0_SHA3_256: 32})
"""The hash functions that a multihash may name, with the size of their digests."""
