"""Errors of the metadata: what cannot be read as a block, manifest or snapshot, or cannot be written."""

from typing import ClassVar

from odf_core.errors import IntegrityError, InvalidInput, LimitExceeded


class MalformedBlock(InvalidInput):
    """Bytes that are not a metadata block: an offset, a length or a value is wrong."""

    code: ClassVar[str] = "malformed_block"


class UnsupportedMember(InvalidInput):
    """A union member or an enumeration number of a later version of the specification."""

    code: ClassVar[str] = "unsupported_member"


class ObsoleteManifestVersion(InvalidInput):
    """A manifest of a version that is no longer read."""

    code: ClassVar[str] = "obsolete_manifest_version"


class UnsupportedManifestVersion(InvalidInput):
    """A manifest of a version that is not read yet."""

    code: ClassVar[str] = "unsupported_manifest_version"


class LegacyBlock(InvalidInput):
    """A block of ODF 0.27 to 0.33, which shares the manifest version 2 with the current layout."""

    code: ClassVar[str] = "legacy_block"


class BlockTooLarge(LimitExceeded):
    """A block of more bytes than are read."""

    code: ClassVar[str] = "block_too_large"


class ManifestTooLarge(LimitExceeded):
    """A YAML or JSON manifest of more bytes than are read."""

    code: ClassVar[str] = "manifest_too_large"


class NestingTooDeep(LimitExceeded):
    """Metadata that are nested deeper than is read."""

    code: ClassVar[str] = "nesting_too_deep"


class BlockHashMismatch(IntegrityError):
    """A block whose bytes have another hash than the name it came under."""

    code: ClassVar[str] = "block_hash_mismatch"


class InvalidManifest(InvalidInput):
    """YAML or JSON that is not a manifest of the expected kind."""

    code: ClassVar[str] = "invalid_manifest"


class InvalidSnapshot(InvalidInput):
    """A dataset snapshot that cannot become a chain."""

    code: ClassVar[str] = "invalid_snapshot"


class MissingInputs(InvalidSnapshot):
    """A snapshot whose transformation reads datasets that nobody knows."""

    code: ClassVar[str] = "missing_inputs"


class InvalidTimestamp(InvalidInput):
    """Text or numbers that are not a moment."""

    code: ClassVar[str] = "invalid_timestamp"


class InvalidExtraAttributes(InvalidInput):
    """Extra attributes that are not a JSON object."""

    code: ClassVar[str] = "invalid_extra_attributes"


class ValueNotEncodable(InvalidInput):
    """A value of the model that the binary or the text form cannot hold."""

    code: ClassVar[str] = "value_not_encodable"
