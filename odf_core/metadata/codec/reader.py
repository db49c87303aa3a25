"""Bounds-checked access to a FlatBuffer from a stranger.

Nothing is believed: every position is compared with the buffer's end before it is read. What is read
through references is charged to a budget in proportion to the buffer's size, so that a small buffer
whose references meet in one place cannot unfold into a large value.
"""

import struct
from collections.abc import Callable
from typing import Any, NoReturn

from odf_core.metadata.errors import MalformedBlock

_U32 = struct.Struct("<I").unpack_from
_I32 = struct.Struct("<i").unpack_from
_VTABLE_HEAD = struct.Struct("<HH").unpack_from
_MOST_KNOWN_SLOTS = 16
_SLOTS: list[Callable[..., tuple[int, ...]]] = [
    struct.Struct(f"<{count}H").unpack_from for count in range(_MOST_KNOWN_SLOTS + 1)
]
_ABSENT = [(0,) * count for count in range(_MOST_KNOWN_SLOTS + 1)]
_BUDGET_PER_BYTE = 2
_NUMBERS = {name: struct.Struct(name) for name in ("<B", "<h", "<i", "<I", "<q", "<Q")}


class Reader:
    """A buffer, its size, and how many more bytes may be read through references."""

    __slots__ = ("budget", "data", "max_depth", "size")

    def __init__(self, data: bytes, max_depth: int) -> None:
        self.data = data
        self.size = len(data)
        self.budget = _BUDGET_PER_BYTE * len(data)
        self.max_depth = max_depth

    def root(self) -> int:
        """Position of the root table."""
        if self.size < 8:
            malformed("The buffer", f"has {self.size} bytes, too few for a table")
        root: int = _U32(self.data, 0)[0]
        return root

    def charge(self, size: int, where: str) -> None:
        """Takes `size` bytes from the budget."""
        self.budget -= size
        if self.budget < 0:
            malformed(where, "is referred to so often that the value would outgrow the block")

    def number(self, form: str, table: int, at: int, size: int, where: str) -> int:
        """The number of a binary form at slot offset `at` of a table with `size` inline bytes."""
        number = _NUMBERS[form]
        if not 4 <= at <= size - number.size:
            malformed(where, "lies outside of its table")
        value: int = number.unpack_from(self.data, table + at)[0]
        return value


def malformed(where: str, what: str) -> NoReturn:
    """Raises `MalformedBlock`."""
    raise MalformedBlock(f"Bytes are not a metadata block: {where} {what}.", objects=[where])


def read_slots(reader: Reader, table: int, count: int, where: str) -> tuple[tuple[int, ...], int]:
    """The offsets of its first `count` slots (0 where absent), and its inline size.

    Further slots, which a later version of the schema appended, are passed over.
    """
    data, size = reader.data, reader.size
    if table + 4 > size:
        malformed(where, "lies outside of the buffer")
    vtable = table - _I32(data, table)[0]
    if not 0 <= vtable <= size - 4:
        malformed(where, "has its vtable outside of the buffer")
    vtable_size, inline_size = _VTABLE_HEAD(data, vtable)
    if vtable_size < 4 or vtable_size & 1 or vtable + vtable_size > size:
        malformed(where, "has a vtable of a wrong size")
    if inline_size < 4 or table + inline_size > size:
        malformed(where, "has a wrong inline size")
    reader.budget -= inline_size
    if reader.budget < 0:
        reader.charge(0, where)
    known = (vtable_size - 4) >> 1
    if known >= count:
        return _SLOTS[count](data, vtable + 4), inline_size
    return _SLOTS[known](data, vtable + 4) + _ABSENT[count - known], inline_size


def follow(reader: Reader, table: int, at: int, size: int, where: str) -> int:
    """Position of what the slot at offset `at` of a table refers to; there is room for a length."""
    if not 4 <= at <= size - 4:
        malformed(where, "lies outside of its table")
    position = table + at
    target: int = position + _U32(reader.data, position)[0]
    if target + 4 > reader.size:
        malformed(where, "lies outside of the buffer")
    return target


def byte_vector(reader: Reader, table: int, at: int, size: int, where: str) -> bytes:
    """The byte vector that a slot refers to."""
    data = reader.data
    start = follow(reader, table, at, size, where) + 4
    length = _U32(data, start - 4)[0]
    end = start + length
    if end > reader.size:
        malformed(where, "is longer than the buffer")
    reader.budget -= length
    if reader.budget < 0:
        reader.charge(0, where)
    return data[start:end]


def string_at(reader: Reader, target: int, where: str) -> str:
    """The text at a position that has room for a length."""
    data = reader.data
    length = _U32(data, target)[0]
    start = target + 4
    end = start + length
    if end >= reader.size or data[end]:
        malformed(where, "is text without an end")
    reader.charge(length + 4, where)
    try:
        return data[start:end].decode()
    except UnicodeDecodeError:
        malformed(where, "is not UTF-8")


def offset_vector(reader: Reader, table: int, at: int, size: int, where: str) -> list[int]:
    """Positions of the elements of a vector of references; there is room for a length at each."""
    target = follow(reader, table, at, size, where)
    data = reader.data
    length = _U32(data, target)[0]
    start = target + 4
    if start + 4 * length > reader.size:
        malformed(where, "is longer than the buffer")
    reader.charge(4 * length, where)
    offsets: tuple[Any, ...] = struct.unpack_from(f"<{length}I", data, start)
    positions = [start + 4 * index + offset for index, offset in enumerate(offsets)]
    if positions and max(positions) + 4 > reader.size:
        malformed(where, "has an element outside of the buffer")
    return positions
