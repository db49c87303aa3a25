"""Reads of a block file what a puller must know: which objects it names, and what comes before it.

Written from the layout tables of the metadata page (section 1) with `struct` alone.
"""

import struct
from dataclasses import dataclass

ADD_DATA, EXECUTE_TRANSFORM = 1, 2


@dataclass(frozen=True)
class Peek:
    sequence_number: int
    prev: str | None
    event_type: int
    objects: list[tuple[str, str, int]]  # (object type, hash text, size)
    records: int


class _Table:
    def __init__(self, data: bytes, position: int) -> None:
        self.data, self.position = data, position
        self.vtable = position - struct.unpack_from("<i", data, position)[0]
        self.vtable_bytes = struct.unpack_from("<H", data, self.vtable)[0]

    def at(self, slot: int) -> int | None:
        entry = 4 + 2 * slot
        if entry >= self.vtable_bytes:
            return None
        offset = struct.unpack_from("<H", self.data, self.vtable + entry)[0]
        return self.position + offset if offset else None

    def scalar(self, slot: int, form: str) -> int:
        where = self.at(slot)
        return 0 if where is None else struct.unpack_from("<" + form, self.data, where)[0]

    def target(self, slot: int) -> int | None:
        where = self.at(slot)
        return None if where is None else where + struct.unpack_from("<I", self.data, where)[0]

    def table(self, slot: int) -> "_Table | None":
        where = self.target(slot)
        return None if where is None else _Table(self.data, where)

    def bytes(self, slot: int) -> "bytes | None":
        where = self.target(slot)
        if where is None:
            return None
        length = struct.unpack_from("<I", self.data, where)[0]
        return self.data[where + 4 : where + 4 + length]


def _root(data: bytes) -> _Table:
    return _Table(data, struct.unpack_from("<I", data, 0)[0])


def _text(binary: bytes | None) -> str:
    return "f" + (binary or b"").hex()


def peek(data: bytes) -> Peek:
    block = _root(_root(data).bytes(2) or b"")
    event_type = block.scalar(3, "B")
    event = block.table(4)
    objects: list[tuple[str, str, int]] = []
    records = 0
    if event is not None and event_type in (ADD_DATA, EXECUTE_TRANSFORM):
        new_data, checkpoint = (
            (event.table(2), event.table(3)) if event_type == ADD_DATA else (event.table(3), event.table(4))
        )
        if new_data is not None:
            objects.append(("DataSlice", _text(new_data.bytes(1)), new_data.scalar(3, "Q")))
            interval = new_data.table(2)
            if interval is not None:
                records = interval.scalar(1, "Q") - interval.scalar(0, "Q") + 1
        if checkpoint is not None:
            objects.append(("Checkpoint", _text(checkpoint.bytes(0)), checkpoint.scalar(1, "Q")))
    prev = block.bytes(1)
    return Peek(block.scalar(2, "Q"), None if prev is None else _text(prev), event_type, objects, records)
