"""Multibase: text that says in its first character how its bytes are written (metadata.md 3).

Read are exactly the encodings whose status in the multibase table (`multibase.csv` of
multiformats/multibase) is *final*:

=====  ============  =====================================
`f F`  base16        hex digits of any case
`b B`  base32        RFC 4648, any case, without padding
`z`    base58btc     Bitcoin alphabet, case-sensitive
`m`    base64        RFC 4648, without padding
`u`    base64url     RFC 4648 section 5, without padding
`U`    base64urlpad  RFC 4648 section 5, with padding
=====  ============  =====================================

The draft, experimental and reserved ones (base2, base36, proquint, base256emoji, …) are refused.
One byte string has one text per encoding (but for the case of letters): left-over bits must be zero,
padding must be exact, and nothing is skipped. Written is always base16 in lower case.
"""

import binascii
from collections.abc import Callable, Mapping
from types import MappingProxyType

from odf_core.identity.base58 import base58_decode
from odf_core.identity.errors import InvalidMultibase, shown

MAX_MULTIBASE_CHARS = 1024
"""Longest text that is decoded; the longest of the specification, a signature in base16, has 129."""

_BASE32_DIGIT = {char: value for value, char in enumerate("abcdefghijklmnopqrstuvwxyz234567")}
_BASE32_DIGIT |= {char.upper(): value for char, value in _BASE32_DIGIT.items()}
_BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
_BASE64_DIGIT = {char: value for value, char in enumerate(_BASE64 + "+/")}
_BASE64URL_DIGIT = {char: value for value, char in enumerate(_BASE64 + "-_")}


def multibase_encode(data: bytes) -> str:
    """Multibase text of `data`: base16 in lower case, prefix `f`."""
    return "f" + data.hex()


def multibase_decode(text: str) -> bytes:
    """Bytes of a multibase text; raises `InvalidMultibase`."""
    if len(text) > MAX_MULTIBASE_CHARS:
        raise InvalidMultibase(
            f"Multibase text of {len(text)} characters exceeds the {MAX_MULTIBASE_CHARS} that are read."
        )
    if not text:
        raise InvalidMultibase("Multibase text is empty; it has to start with the letter of its encoding.")
    decode = _DECODERS.get(text[0])
    if decode is None:
        raise InvalidMultibase(
            f"{shown(text)} does not start with a multibase prefix that is read here "
            f"({' '.join(FINAL_ENCODINGS)}); write it in base16 with the prefix f."
        )
    try:
        return decode(text[1:])
    except ValueError as error:
        raise InvalidMultibase(f"{shown(text)} is not {FINAL_ENCODINGS[text[0]]}: {error}.") from error


def _base16(digits: str) -> bytes:
    # Not bytes.fromhex: it skips white space.
    try:
        return binascii.unhexlify(digits)
    except binascii.Error as error:
        raise ValueError("an even number of hexadecimal digits is needed") from error


def _base32(digits: str) -> bytes:
    return _power_of_two(digits, _BASE32_DIGIT, 5)


def _base64(digits: str) -> bytes:
    return _power_of_two(digits, _BASE64_DIGIT, 6)


def _base64url(digits: str) -> bytes:
    return _power_of_two(digits, _BASE64URL_DIGIT, 6)


def _base64urlpad(digits: str) -> bytes:
    body = digits.rstrip("=")
    if len(digits) % 4 or len(digits) - len(body) > 2:
        raise ValueError("the padding is not exact")
    return _base64url(body)


def _power_of_two(digits: str, alphabet: Mapping[str, int], bits: int) -> bytes:
    """RFC 4648 without padding: the bits after the last whole byte are fewer than a digit's, and zero."""
    number = 0
    for char in digits:
        number = number << bits | _digit(alphabet, char)
    size, spare = divmod(len(digits) * bits, 8)
    if spare >= bits:
        raise ValueError("no byte string has a text of this length")
    if number & ((1 << spare) - 1):
        raise ValueError("the unused bits of its last character are not zero")
    return (number >> spare).to_bytes(size, "big")


def _digit(alphabet: Mapping[str, int], char: str) -> int:
    value = alphabet.get(char)
    if value is None:
        raise ValueError(f"{char!r} is not in its alphabet")
    return value


FINAL_ENCODINGS: Mapping[str, str] = MappingProxyType(
    {
        "f": "base16",
        "F": "base16upper",
        "b": "base32",
        "B": "base32upper",
        "z": "base58btc",
        "m": "base64",
        "u": "base64url",
        "U": "base64urlpad",
    }
)
"""Prefix -> name of every encoding that is read."""

_DECODERS: dict[str, Callable[[str], bytes]] = {
    "f": _base16,
    "F": _base16,
    "b": _base32,
    "B": _base32,
    "z": base58_decode,
    "m": _base64,
    "u": _base64url,
    "U": _base64urlpad,
}
