"""Unsigned varints of multiformats: seven bits a byte, lowest first (metadata.md 3)."""

from odf_core.identity.errors import InvalidVarint

MAX_VARINT_BYTES = 4
"""Every code and length of the specification fits four bytes (28 bits)."""


def encode_varint(value: int) -> bytes:
    """The minimal varint of `value`, which is at least 0 and below 2**28; else `InvalidVarint`."""
    if not 0 <= value < 1 << (7 * MAX_VARINT_BYTES):
        raise InvalidVarint(f"{value} does not fit a varint of {MAX_VARINT_BYTES} bytes.")
    parts = bytearray()
    while value >= 0x80:
        parts.append(value & 0x7F | 0x80)
        value >>= 7
    parts.append(value)
    return bytes(parts)


def decode_varint(data: bytes, start: int = 0) -> tuple[int, int]:
    """Value of the varint at `start` and the position after it; raises `InvalidVarint`."""
    value = 0
    for index, byte in enumerate(data[start : start + MAX_VARINT_BYTES]):
        value |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if byte == 0 and index > 0:
                raise InvalidVarint("A varint is written with more bytes than it needs.")
            return value, start + index + 1
    raise InvalidVarint(f"A varint does not end within {MAX_VARINT_BYTES} bytes.")
