"""Reading structs of Thrift's compact protocol, as Parquet has them in footers and page headers.

Every read is checked against the end of the bytes; nothing is taken for true that a length claims. Only
the fields that a caller asks for are kept, the others are passed over.
"""

from collections.abc import Mapping
from typing import Any

from odf_core.data.errors import InvalidDataFile

_TRUE, _FALSE, _BYTE, _I16, _I32, _I64, _DOUBLE, _BINARY, _LIST, _SET, _MAP, _STRUCT = range(1, 13)
_NUMBERS = frozenset((_I16, _I32, _I64))
_MOST_DEPTH = 32
_MOST_VARINT_BYTES = 10

Wanted = Mapping[int, Any]
"""Fields to keep by number: a mapping for a struct or for a list of structs, None for a number or bytes."""


class ThriftReader:
    """Reads from `position` on; raises `InvalidDataFile` for what is no Thrift or ends too early."""

    def __init__(self, data: bytes, position: int = 0) -> None:
        self._data = data
        self.position = position

    def struct(self, wanted: Wanted, depth: int = 0) -> dict[int, Any]:
        """The wanted fields that are there, by number."""
        if depth > _MOST_DEPTH:
            raise InvalidDataFile("Its Thrift structs are nested too deep.")
        found: dict[int, Any] = {}
        number = 0
        while (header := self._byte()) != 0:
            step, kind = header >> 4, header & 15
            number = number + step if step else self._zigzag()
            if number in wanted:
                if kind in _NUMBERS and wanted[number] is None:  # what most fields are
                    value = self._varint()
                    found[number] = (value >> 1) ^ -(value & 1)
                else:
                    found[number] = self._value(kind, wanted[number], depth + 1, in_list=False)
            elif kind in _NUMBERS:
                self._varint()
            elif kind == _BINARY:
                self._advance(self._varint())
            else:
                self._skip(kind, depth + 1)
        return found

    def _byte(self) -> int:
        position = self.position
        self.position = position + 1
        try:
            return self._data[position]
        except IndexError as error:
            raise InvalidDataFile("It ends within a Thrift struct.") from error

    def _varint(self) -> int:
        data, position = self._data, self.position
        try:
            value = data[position]
            if value >= 0x80:
                value &= 0x7F
                for shift in range(7, 7 * _MOST_VARINT_BYTES, 7):
                    position += 1
                    byte = data[position]
                    value |= (byte & 0x7F) << shift
                    if byte < 0x80:
                        break
                else:
                    raise InvalidDataFile("A number in a Thrift struct is too long.")
        except IndexError as error:
            raise InvalidDataFile("It ends within a Thrift struct.") from error
        self.position = position + 1
        return value

    def _zigzag(self) -> int:
        value = self._varint()
        return (value >> 1) ^ -(value & 1)

    def _advance(self, size: int) -> int:
        start = self.position
        if size > len(self._data) - start:
            raise InvalidDataFile("It ends within a Thrift struct.")
        self.position = start + size
        return start

    def _value(self, kind: int, wanted: Any, depth: int, *, in_list: bool) -> Any:
        if (wanted is None) == (kind in (_LIST, _SET, _MAP, _STRUCT)):
            raise InvalidDataFile("A Thrift struct has a field of another type than it should have.")
        if kind in (_TRUE, _FALSE):
            return self._byte() == _TRUE if in_list else kind == _TRUE
        if kind in _NUMBERS:
            return self._zigzag()
        if kind == _BYTE:
            return self._byte()
        if kind == _BINARY:
            size = self._varint()
            start = self._advance(size)
            return self._data[start : start + size]
        if kind in (_LIST, _SET):
            count, item = self._list_header()
            return [self._value(item, wanted, depth + 1, in_list=True) for _ in range(count)]
        if kind == _STRUCT:
            return self.struct(wanted, depth)
        self._skip(kind, depth, in_list=in_list)
        return None

    def _list_header(self) -> tuple[int, int]:
        header = self._byte()
        count = header >> 4
        if count == 15:
            count = self._varint()
        if count > len(self._data) - self.position:
            raise InvalidDataFile("A Thrift list claims more items than there are bytes.")
        return count, header & 15

    def _skip(self, kind: int, depth: int, *, in_list: bool = False) -> None:
        if depth > _MOST_DEPTH:
            raise InvalidDataFile("Its Thrift structs are nested too deep.")
        if kind in (_TRUE, _FALSE):
            self._advance(1 if in_list else 0)
        elif kind in _NUMBERS:
            self._varint()
        elif kind in (_BYTE, _DOUBLE):
            self._advance(1 if kind == _BYTE else 8)
        elif kind == _BINARY:
            self._advance(self._varint())
        elif kind in (_LIST, _SET):
            count, item = self._list_header()
            for _ in range(count):
                self._skip(item, depth + 1, in_list=True)
        elif kind == _MAP:
            self._skip_map(depth)
        elif kind == _STRUCT:
            self.struct({}, depth)
        else:
            raise InvalidDataFile(f"A Thrift struct has a field of unknown type {kind}.")

    def _skip_map(self, depth: int) -> None:
        count = self._varint()
        if count == 0:
            return
        kinds = self._byte()
        if count > len(self._data) - self.position:
            raise InvalidDataFile("A Thrift map claims more items than there are bytes.")
        for _ in range(count):
            self._skip(kinds >> 4, depth + 1, in_list=True)
            self._skip(kinds & 15, depth + 1, in_list=True)
