"""Base58 in the Bitcoin alphabet, which did:key is written in."""

from typing import Final

BASE58_ALPHABET: Final = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz"
_DIGIT = {char: value for value, char in enumerate(BASE58_ALPHABET)}


def base58_encode(data: bytes) -> str:
    """Digits of `data` as one big-endian number, a `1` for each leading zero byte."""
    number = int.from_bytes(data, "big")
    digits: list[str] = []
    while number:
        number, digit = divmod(number, 58)
        digits.append(BASE58_ALPHABET[digit])
    zeros = len(data) - len(data.lstrip(b"\x00"))
    return "1" * zeros + "".join(reversed(digits))


def base58_decode(digits: str) -> bytes:
    """The inverse of `base58_encode`; raises ValueError, naming the character that is no digit."""
    number = 0
    for char in digits:
        value = _DIGIT.get(char)
        if value is None:
            raise ValueError(f"{char!r} is not in its alphabet")
        number = number * 58 + value
    zeros = len(digits) - len(digits.lstrip("1"))
    return b"\x00" * zeros + number.to_bytes((number.bit_length() + 7) // 8, "big")
