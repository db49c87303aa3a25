"""The text of personal tokens (wire.md 6.1).

`ka_` and the Crockford base32 of 36 bytes: uuid (16), random (16), CRC32 of the random (4, big
endian); 61 characters. The uuid finds the row, the random part is the secret, the checksum tells a
mistyped token from a wrong one without asking the database.
"""

import base64
import binascii
import hashlib
import secrets
import zlib
from dataclasses import dataclass, field
from uuid import UUID, uuid4

PREFIX = "ka_"
RANDOM_BYTES = 16
TEXT_CHARS = 61

_RFC4648 = b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
_CROCKFORD = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_TO_CROCKFORD = bytes.maketrans(_RFC4648, _CROCKFORD)
# Crockford reads small letters, and O, I and L as the digits that they look like.
_FROM_CROCKFORD = bytes.maketrans(
    _CROCKFORD + _CROCKFORD[10:].lower() + b"OoIiLl", _RFC4648 + _RFC4648[10:] + b"AABBBB"
)
_READABLE = frozenset(_CROCKFORD + _CROCKFORD[10:].lower() + b"OoIiLl")


@dataclass(frozen=True, slots=True)
class PersonalToken:
    """A token with its secret; only `secret_hash` is ever stored."""

    id: UUID
    secret: bytes = field(repr=False)

    @classmethod
    def generate(cls) -> "PersonalToken":
        return cls(uuid4(), secrets.token_bytes(RANDOM_BYTES))

    @classmethod
    def parse(cls, text: str) -> "PersonalToken | None":
        """The token of a text, or None where it is none: an unknown token like any other."""
        if len(text) != TEXT_CHARS or not text.startswith(PREFIX) or not text.isascii():
            return None
        digits = text[len(PREFIX) :].encode("ascii")
        if not _READABLE.issuperset(digits):
            return None
        plain = digits.translate(_FROM_CROCKFORD)
        try:
            data = base64.b32decode(plain + b"======")
        except binascii.Error:
            return None
        secret, checksum = data[16:32], data[32:]
        if checksum != _checksum(secret) or not _is_filled_with_zeros(plain):
            return None
        return cls(UUID(bytes=data[:16]), secret)

    @property
    def text(self) -> str:
        """What the holder keeps; shown once."""
        data = self.id.bytes + self.secret + _checksum(self.secret)
        return PREFIX + base64.b32encode(data).rstrip(b"=").translate(_TO_CROCKFORD).decode("ascii")

    @property
    def secret_hash(self) -> bytes:
        """SHA3-256 of the random part."""
        return hashlib.sha3_256(self.secret).digest()


def _is_filled_with_zeros(plain: bytes) -> bool:
    """Whether the last of 58 digits has nothing in the two bits that are beyond the 36 bytes."""
    return _RFC4648.index(plain[-1]) & 3 == 0


def _checksum(secret: bytes) -> bytes:
    return zlib.crc32(secret).to_bytes(4, "big")
