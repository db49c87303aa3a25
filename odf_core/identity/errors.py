"""Errors of identifiers: text or bytes that are not what they should name."""

from typing import ClassVar

from odf_core.errors import InvalidInput

_SHOWN_CHARS = 100


class InvalidMultibase(InvalidInput):
    """Text that is not canonical multibase in one of the final encodings."""

    code: ClassVar[str] = "invalid_multibase"


class InvalidVarint(InvalidInput):
    """Bytes that do not start with a minimal unsigned varint of at most four bytes."""

    code: ClassVar[str] = "invalid_varint"


class InvalidMultihash(InvalidInput):
    """Text or bytes that are not exactly one multihash."""

    code: ClassVar[str] = "invalid_multihash"


class UnknownMulticodec(InvalidMultihash):
    """A multihash of a function that the specification does not use."""

    code: ClassVar[str] = "unknown_multicodec"


class InvalidDid(InvalidInput):
    """Text or bytes that are not a decentralized identifier of the expected method and key type."""

    code: ClassVar[str] = "invalid_did"


class InvalidName(InvalidInput):
    """Text that is not a dataset, account or repository name, or not a name pattern."""

    code: ClassVar[str] = "invalid_name"


class InvalidReference(InvalidInput):
    """Text that is no form of a dataset reference."""

    code: ClassVar[str] = "invalid_reference"


def shown(text: str) -> str:
    """The text as it may stand in a message: quoted, control characters escaped, cut to 100 characters."""
    return repr(text) if len(text) <= _SHOWN_CHARS else repr(text[:_SHOWN_CHARS]) + "…"
