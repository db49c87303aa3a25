"""Multihash: a digest that names its function (metadata.md 3)."""

import binascii
import hashlib
from dataclasses import dataclass
from typing import Any

from odf_core.identity.errors import (
    InvalidMultibase,
    InvalidMultihash,
    InvalidVarint,
    UnknownMulticodec,
    shown,
)
from odf_core.identity.multibase import multibase_decode
from odf_core.identity.multicodec import CODE_NAMES, HASH_DIGEST_BYTES, SHA3_256
from odf_core.identity.varint import decode_varint, encode_varint

_HEADERS = {code: encode_varint(code) + encode_varint(size) for code, size in HASH_DIGEST_BYTES.items()}
_SHA3_HEADER = _HEADERS[SHA3_256]
_SHA3_BYTES = len(_SHA3_HEADER) + 32
_SHA3_TEXT = "f" + _SHA3_HEADER.hex()
_SHA3_CHARS = 1 + 2 * _SHA3_BYTES
_SHORT_CHARS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Multihash:
    """A hash function's multicodec `code` and its `digest` (32 bytes for every function in use).

    The constructor believes its arguments (five are made per block); whatever comes from outside
    goes through `parse` or `from_bytes`.
    """

    code: int
    digest: bytes

    @classmethod
    def parse(cls, text: str) -> "Multihash":
        """Reads multibase text in any final encoding; raises `InvalidMultihash`."""
        if len(text) == _SHA3_CHARS and text.startswith(_SHA3_TEXT):
            try:
                return cls(SHA3_256, binascii.unhexlify(text[len(_SHA3_TEXT) :]))
            except ValueError as error:
                raise InvalidMultihash(f"{shown(text)} is not a multihash: it is not hexadecimal.") from error
        try:
            return cls.from_bytes(multibase_decode(text))
        except InvalidMultibase as error:
            raise InvalidMultihash(f"{shown(text)} is not a multihash: {error.message}") from error

    @classmethod
    def from_bytes(cls, data: bytes) -> "Multihash":
        """Reads `varint code, varint length, digest`, all of `data`; raises `InvalidMultihash`."""
        if len(data) == _SHA3_BYTES and data.startswith(_SHA3_HEADER):
            return cls(SHA3_256, bytes(data[2:]))
        try:
            code, position = decode_varint(data)
            length, position = decode_varint(data, position)
        except InvalidVarint as error:
            raise InvalidMultihash(f"Bytes are not a multihash: {error.message}") from error
        size = HASH_DIGEST_BYTES.get(code)
        if size is None:
            raise UnknownMulticodec(
                f"Multihash of code 0x{code:x} ({CODE_NAMES.get(code, 'unknown')}) is not one of "
                f"{', '.join(CODE_NAMES[known] for known in HASH_DIGEST_BYTES)}."
            )
        if not length == size == len(data) - position:
            raise InvalidMultihash(
                f"Multihash of {CODE_NAMES[code]} needs a digest of {size} bytes, but declares {length} "
                f"and holds {len(data) - position}."
            )
        return cls(code, bytes(data[position:]))

    @classmethod
    def sha3_256(cls, data: bytes) -> "Multihash":
        """SHA3-256 of `data`: the hash of blocks, slices and checkpoints."""
        return cls(SHA3_256, hashlib.sha3_256(data).digest())

    def to_bytes(self) -> bytes:
        """`varint code, varint length, digest`."""
        return _HEADERS[self.code] + self.digest

    @property
    def short(self) -> str:
        """The last eight characters of the text, for people."""
        return self.digest.hex()[-_SHORT_CHARS:]

    def __str__(self) -> str:
        return f"f{_HEADERS[self.code].hex()}{self.digest.hex()}"

    def __eq__(self, other: Any) -> bool:
        if other.__class__ is not Multihash:
            return NotImplemented
        return bool(self.digest == other.digest and self.code == other.code)

    def __hash__(self) -> int:
        return hash(self.digest)
