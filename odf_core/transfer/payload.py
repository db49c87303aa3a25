"""Archives inside JSON: arrays of numbers (deployed dialect) and base64 strings (published dialect).

Both are written piece by piece, so that a node can stream one WebSocket message in frames without
holding its text, and read in pieces out of a message that was only cut open (stack.md 4.3, 4.4).
"""

import binascii
from collections.abc import Iterator
from typing import Protocol

import msgspec
import numpy as np
import orjson

from odf_core.transfer.errors import MalformedMessage, MessageTooLarge
from odf_core.transfer.model import Payload

# A multiple of 3, so that pieces of base64 join without padding.
_PIECE = 3 * 16 * 1024
_READ_PIECE = 64 * 1024
_OPENING, _CLOSING = ord("["), ord("]")
_numbers = msgspec.json.Decoder(list[int])


class PayloadText(Protocol):
    """A JSON value that holds a payload."""

    def chunks(self) -> Iterator[bytes]:
        """The JSON text in pieces of at most 256 KiB, ASCII only."""

    @property
    def size(self) -> int:
        """Bytes of the JSON text, without making it."""


class NumberArray:
    """`[31,139,8]`: a payload as JSON array of numbers 0 to 255, about 3.57 characters each."""

    def __init__(self, payload: Payload) -> None:
        self._bytes = np.frombuffer(payload, dtype=np.uint8)

    def chunks(self) -> Iterator[bytes]:
        """The array's text in pieces."""
        opening = b"["
        for start in range(0, len(self._bytes), _PIECE):
            piece = orjson.dumps(self._bytes[start : start + _PIECE], option=orjson.OPT_SERIALIZE_NUMPY)
            yield opening + piece[1:-1]
            opening = b","
        yield b"]" if len(self._bytes) else b"[]"

    @property
    def size(self) -> int:
        """Bytes of the array's text."""
        return number_array_size(self._bytes) + 1 + (0 if len(self._bytes) else 1)


class Base64String:
    """`"H4sI"`: a payload as JSON string of standard base64 with padding."""

    def __init__(self, payload: Payload) -> None:
        self._bytes = memoryview(payload)

    def chunks(self) -> Iterator[bytes]:
        """The string's text in pieces, quotes included."""
        yield b'"'
        for start in range(0, len(self._bytes), _PIECE):
            yield binascii.b2a_base64(self._bytes[start : start + _PIECE], newline=False)
        yield b'"'

    @property
    def size(self) -> int:
        """Bytes of the string's text."""
        return base64_size(len(self._bytes)) + 2


def number_array_size(data: Payload | np.ndarray[tuple[int], np.dtype[np.uint8]]) -> int:
    """Characters that these bytes take within an array of numbers, each with one comma or bracket."""
    values = np.frombuffer(data, dtype=np.uint8)
    return 2 * len(values) + int(np.count_nonzero(values > 9)) + int(np.count_nonzero(values > 99))


def base64_size(length: int) -> int:
    """Characters of the base64 text of `length` bytes."""
    return 4 * ((length + 2) // 3)


def decode_number_array(text: Payload, max_bytes: int) -> bytes:
    """Bytes of a JSON array of numbers.

    Raises MalformedMessage for anything else (strings, fractions, numbers outside 0 to 255) and
    MessageTooLarge past `max_bytes`; memory stays near the size of the result.
    """
    view = memoryview(text)
    last = len(view) - 1
    if last < 1 or (view[0], view[last]) != (_OPENING, _CLOSING):
        raise MalformedMessage("The payload is not an array of numbers.")
    result = bytearray()
    start = 1
    while start < last:
        window = bytes(view[start : min(start + _READ_PIECE, last)])
        is_last = start + len(window) == last
        end = len(window) if is_last else window.rfind(b",")
        if end < 0:
            raise MalformedMessage("The payload has a number of more than 64 KiB.")
        data = _decode_piece(window[:end])
        if not data and not (start == 1 and is_last):
            raise MalformedMessage("The payload has a comma without a number.")
        result += data
        if len(result) > max_bytes:
            raise MessageTooLarge(f"The payload has more than the {max_bytes} bytes that are read.")
        start += end + 1
    return bytes(result)


def _decode_piece(piece: bytes) -> bytes:
    try:
        return bytes(_numbers.decode(b"[" + piece + b"]"))
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise MalformedMessage("The payload is not an array of numbers from 0 to 255.") from error


def decode_base64_string(text: Payload, max_bytes: int) -> bytes:
    """Bytes of a JSON string of standard base64; raises MalformedMessage and MessageTooLarge."""
    try:
        encoded = msgspec.json.decode(text, type=str)
        if len(encoded) > base64_size(max_bytes):
            raise MessageTooLarge(f"The payload has more than the {max_bytes} bytes that are read.")
        return binascii.a2b_base64(encoded, strict_mode=True)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise MalformedMessage("The payload is not a string of base64.") from error
