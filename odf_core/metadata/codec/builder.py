"""Writes FlatBuffers from their end, byte for byte as the deployed implementation does (metadata.md 2.3).

Positions are counted from the end of the buffer: the position of an object is the number of bytes
that are used when its first byte has been written.
"""

import struct

_U32 = struct.Struct("<I")
_I32 = struct.Struct("<i")
_ZEROS = [bytes(count) for count in range(16)]


class Builder:
    """One buffer under construction. Pieces are collected last to first and joined at the end."""

    __slots__ = ("_min_align", "_pieces", "_slots", "_table_end", "_used", "_vtables")

    def __init__(self) -> None:
        self._pieces: list[bytes] = []
        self._used = 0
        self._min_align = 1
        self._vtables: dict[bytes, int] = {}
        self._slots: list[tuple[int, int]] = []
        self._table_end = 0

    def _push(self, data: bytes) -> None:
        self._pieces.append(data)
        self._used += len(data)

    def _align(self, length: int, alignment: int) -> None:
        """Pads so that after `length` further bytes the position is a multiple of `alignment`."""
        if alignment > self._min_align:
            self._min_align = alignment
        padding = -(self._used + length) % alignment
        if padding:
            self._pieces.append(_ZEROS[padding])
            self._used += padding

    def byte_vector(self, data: bytes) -> int:
        """Position of a new vector of bytes."""
        self._align(len(data), 4)
        self._push(data)
        self._push(_U32.pack(len(data)))
        return self._used

    def string(self, data: bytes) -> int:
        """Position of a new string of these UTF-8 bytes."""
        self._align(len(data) + 1, 4)
        self._push(b"\0")
        self._push(data)
        self._push(_U32.pack(len(data)))
        return self._used

    def offset_vector(self, targets: list[int]) -> int:
        """Position of a new vector that points to objects already written, in the order given."""
        self._align(4 * len(targets), 4)
        for target in reversed(targets):
            self._push(_U32.pack(self._used + 4 - target))
        self._push(_U32.pack(len(targets)))
        return self._used

    def start_table(self) -> None:
        """Begins a table; its out-of-line parts have to be there already."""
        self._slots = []
        self._table_end = self._used

    def scalar(self, slot: int, data: bytes) -> None:
        """Writes a number of this binary form, aligned to its size, into a slot."""
        self._align(len(data), len(data))
        self._push(data)
        self._slots.append((slot, self._used))

    def struct(self, slot: int, data: bytes, alignment: int) -> None:
        """Writes a struct into a slot."""
        self._align(len(data), alignment)
        self._push(data)
        self._slots.append((slot, self._used))

    def offset(self, slot: int, target: int) -> None:
        """Writes a reference to an object already written into a slot."""
        self._align(4, 4)
        self._push(_U32.pack(self._used + 4 - target))
        self._slots.append((slot, self._used))

    def end_table(self) -> int:
        """Position of the finished table; an equal earlier vtable is used again."""
        self._align(4, 4)
        table = self._used + 4
        entries = [0] * (max([slot for slot, _ in self._slots], default=-1) + 1)
        for slot, position in self._slots:
            entries[slot] = table - position
        size = 4 + 2 * len(entries)
        vtable = struct.pack(f"<{2 + len(entries)}H", size, table - self._table_end, *entries)
        known = self._vtables.get(vtable)
        if known is not None:
            self._push(_I32.pack(known - table))
        else:
            self._push(_I32.pack(size))
            self._push(vtable)
            self._vtables[vtable] = self._used
        return table

    def finish(self, root: int) -> bytes:
        """The whole buffer, with the reference to its root table in front."""
        self._align(4, max(4, self._min_align))
        self._push(_U32.pack(self._used + 4 - root))
        self._pieces.reverse()
        return b"".join(self._pieces)
