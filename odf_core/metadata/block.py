"""Blocks as they are stored: bytes, hash, version and the typed value (metadata.md 1.2 and 2.1)."""

from dataclasses import dataclass

from odf_core.identity import Multihash
from odf_core.limits import Limits
from odf_core.metadata.codec.decode import decode_content
from odf_core.metadata.codec.encode import encode_content
from odf_core.metadata.codec.wrapper import unwrap, wrap
from odf_core.metadata.errors import BlockHashMismatch, BlockTooLarge
from odf_core.metadata.events import MetadataBlock
from odf_core.metadata.versions import DEFAULT_MANIFEST_VERSION, check_version

_LIMITS = Limits()


@dataclass(frozen=True, slots=True)
class DecodedBlock:
    """A block and the manifest version that it was, or is to be, written with."""

    version: int
    block: MetadataBlock


@dataclass(frozen=True, slots=True)
class StoredBlock:
    """A block with the bytes it has and their hash. The bytes are kept, never made again."""

    hash: Multihash
    data: bytes
    version: int
    block: MetadataBlock


def decode_block(data: bytes, limits: Limits = _LIMITS) -> DecodedBlock:
    """Reads a block file of manifest version 2 or 3, whether or not its bytes are canonical.

    Slots that a later version appended are passed over. Raises `MalformedBlock`, `UnsupportedMember`,
    `ObsoleteManifestVersion`, `UnsupportedManifestVersion`, `LegacyBlock`, `BlockTooLarge`,
    `NestingTooDeep`, or an error of identity for a hash, identifier or name within.
    """
    if len(data) > limits.block_bytes:
        raise BlockTooLarge(f"A block of {len(data)} bytes exceeds the limit of {limits.block_bytes} bytes.")
    version, content = unwrap(data)
    return DecodedBlock(version, decode_content(content, version, limits.nesting_depth))


def encode_block(block: MetadataBlock, version: int = DEFAULT_MANIFEST_VERSION) -> bytes:
    """The canonical bytes of a new block; raises `ValueNotEncodable` or an error of the version."""
    check_version(version)
    return wrap(encode_content(block, version), version)


def read_block(data: bytes, expected: Multihash | None = None, limits: Limits = _LIMITS) -> StoredBlock:
    """Reads a block that came under the name `expected`.

    Raises `BlockHashMismatch` where the bytes have another hash, and whatever `decode_block` raises.
    """
    if len(data) > limits.block_bytes:
        raise BlockTooLarge(f"A block of {len(data)} bytes exceeds the limit of {limits.block_bytes} bytes.")
    found = Multihash.sha3_256(data)
    if expected is not None and found != expected:
        raise BlockHashMismatch(
            f"Block {expected} has bytes whose hash is {found}.",
            objects=[expected],
            extras={"expected": str(expected), "found": str(found)},
        )
    decoded = decode_block(data, limits)
    return StoredBlock(found, data, decoded.version, decoded.block)


def make_block(block: MetadataBlock, version: int = DEFAULT_MANIFEST_VERSION) -> StoredBlock:
    """A new block with its canonical bytes and their hash."""
    data = encode_block(block, version)
    return StoredBlock(Multihash.sha3_256(data), data, version, block)
