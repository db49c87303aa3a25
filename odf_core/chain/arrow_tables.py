"""Bounds-checked reading of the FlatBuffers tables of an Arrow schema."""

import struct


class UnreadableArrowSchema(ValueError):
    """The bytes are no Arrow schema, or have a type that ODF has not; the message says which."""


class _Buffer:
    """The bytes, and how much may still be made of them.

    Offsets may lead to one table or text from many places, so a short buffer can describe a huge
    schema. An honest writer needs at least four bytes for each table, and writes each text anew.
    """

    def __init__(self, data: bytes) -> None:
        self.data = data
        self._left = len(data)

    def take(self, size: int) -> None:
        """Counts `size` bytes as used; raises `UnreadableArrowSchema` when there are not so many."""
        self._left -= size
        if self._left < 0:
            raise UnreadableArrowSchema("it describes more than its bytes can hold")


class Table:
    """A table; its slots are read by number. Every read raises `UnreadableArrowSchema` where it cannot be."""

    def __init__(self, buffer: _Buffer, at: int) -> None:
        buffer.take(4)
        self._buffer = buffer
        self._data = buffer.data
        self._at = at
        self._vtable = at - _int32(self._data, at)
        self._slots = (_uint16(self._data, self._vtable) - 4) // 2
        if self._slots < 0:
            raise UnreadableArrowSchema("a table has no list of its slots")

    @classmethod
    def root(cls, data: bytes) -> "Table":
        """The table that the buffer is about."""
        return cls(_Buffer(data), _uint32(data, 0))

    def _position(self, slot: int) -> int | None:
        if slot >= self._slots:
            return None
        offset = _uint16(self._data, self._vtable + 4 + 2 * slot)
        return self._at + offset if offset else None

    def _target(self, slot: int) -> int | None:
        at = self._position(slot)
        return None if at is None else at + _uint32(self._data, at)

    def scalar(self, slot: int, form: str, default: int) -> int:
        """The number in a slot; `form` as in `struct`."""
        at = self._position(slot)
        return default if at is None else _unpack(form, self._data, at)

    def table(self, slot: int) -> "Table | None":
        """The table that a slot refers to."""
        at = self._target(slot)
        return None if at is None else Table(self._buffer, at)

    def text(self, slot: int) -> str | None:
        """The text that a slot refers to."""
        at = self._target(slot)
        if at is None:
            return None
        start, size = at + 4, _uint32(self._data, at)
        if start + size > len(self._data):
            raise UnreadableArrowSchema("a text ends behind its end")
        self._buffer.take(size)
        try:
            return self._data[start : start + size].decode()
        except UnicodeDecodeError as error:
            raise UnreadableArrowSchema("a text is not UTF-8") from error

    def tables(self, slot: int) -> "list[Table]":
        """The vector of tables that a slot refers to; an absent one is empty."""
        at = self._target(slot)
        if at is None:
            return []
        places = range(at + 4, at + 4 + 4 * _uint32(self._data, at), 4)
        return [Table(self._buffer, place + _uint32(self._data, place)) for place in places]


def _unpack(form: str, data: bytes, at: int) -> int:
    if at < 0:
        raise UnreadableArrowSchema("an offset points before its beginning")
    try:
        return struct.unpack_from("<" + form, data, at)[0]  # type: ignore[no-any-return]
    except struct.error as error:
        raise UnreadableArrowSchema("an offset points behind its end") from error


def _uint32(data: bytes, at: int) -> int:
    return _unpack("I", data, at)


def _int32(data: bytes, at: int) -> int:
    return _unpack("i", data, at)


def _uint16(data: bytes, at: int) -> int:
    return _unpack("H", data, at)
