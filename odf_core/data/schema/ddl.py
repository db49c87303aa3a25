"""Column definitions in SQL as Arrow schemas (the specification's "Schema Format", data.md 3.2)."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from odf_core.data.errors import InvalidDdlSchema
from odf_core.data.schema.ddl_words import DdlWords

_DEEPEST = 32
_MOST_LETTERS = 1 << 20
_DECIMAL128_DIGITS = 38
_DECIMAL256_DIGITS = 76
_UNITS = ("s", "ms", "us", "us")  # by digits of a second: 0, up to 3, 6, 9

_PLAIN: dict[str, Any] = {
    **dict.fromkeys(["BOOLEAN", "BOOL"], pa.bool_()),
    "TINYINT": pa.int8(),
    "SMALLINT": pa.int16(),
    **dict.fromkeys(["INT", "INTEGER"], pa.int32()),
    **dict.fromkeys(["BIGINT", "LONG"], pa.int64()),
    **dict.fromkeys(["FLOAT", "REAL"], pa.float32()),
    "DOUBLE": pa.float64(),
    **dict.fromkeys(["STRING", "TEXT"], pa.string()),
    **dict.fromkeys(["BINARY", "BYTEA", "VARBINARY"], pa.binary()),
    "DATE": pa.date32(),
}
_UNSIGNED = {"TINYINT": pa.uint8(), "SMALLINT": pa.uint16(), "INT": pa.uint32(), "BIGINT": pa.uint64()}
_UNSIGNED["INTEGER"] = _UNSIGNED["INT"]
# The deployed implementation takes these for required whatever is said (data.md 3.2).
_ALWAYS_REQUIRED = ("DATE", "DECIMAL", "NUMERIC")


def ddl_schema_to_arrow(columns: Sequence[str]) -> Any:
    """The `pa.Schema` of column definitions such as `"population BIGINT NOT NULL"`.

    Columns are nullable unless NOT NULL, but DATE and DECIMAL columns, which are required. TIMESTAMP is
    in milliseconds, TIMESTAMP(p) in the unit of p digits, both in UTC. An entry may hold several
    definitions between commas. Raises `InvalidDdlSchema`, which names the column.
    """
    fields: list[Any] = []
    for number, text in enumerate(columns, start=1):
        if len(text) > _MOST_LETTERS:
            raise InvalidDdlSchema(f"Entry {number} of the schema has more than {_MOST_LETTERS} letters.")
        fields.extend(_Parser(text, number).columns())
    seen: set[str] = set()
    for field in fields:
        if field.name in seen:
            raise InvalidDdlSchema(f"The schema defines column {field.name!r} twice.", objects=[field.name])
        seen.add(field.name)
    return pa.schema(fields)


class _Parser(DdlWords):
    """One entry of the list; its errors name the column that is being read."""

    def columns(self) -> list[Any]:
        fields = [self._definition()]
        while self.take(","):
            if self.end():  # a comma behind the last column does no harm
                break
            fields.append(self._definition())
        if not self.end():
            raise self.fault(f"{self.peek().text!r} is not understood here")
        return fields

    def _definition(self) -> Any:
        name = self.name()
        self.column = f"column {name!r}"
        always_required = self.peek().keyword in _ALWAYS_REQUIRED
        data_type = self._type(0)
        return pa.field(name, data_type, nullable=self._nullable() and not always_required)

    def _nullable(self) -> bool:
        if self.take("NOT"):
            if not self.take("NULL"):
                raise self.fault("NOT is followed by NULL or by nothing that is understood")
            return False
        self.take("NULL")
        return True

    def _type(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise self.fault(f"its type is nested deeper than {_DEEPEST}")
        if self.end():
            raise self.fault("its type is missing")
        token = self.next()
        word = token.keyword
        nested = {"ARRAY": self._array, "STRUCT": self._struct, "MAP": self._map}.get(word)
        data_type = nested(depth + 1) if nested is not None else self._scalar(word, token.text)
        while self.take("["):
            depth += 1
            self.expect("]")
            data_type = pa.list_(data_type)
        if depth > _DEEPEST:
            raise self.fault(f"its type is nested deeper than {_DEEPEST}")
        return data_type

    def _scalar(self, word: str, as_written: str) -> Any:
        with_digits: dict[str, Callable[[], Any]] = {
            **dict.fromkeys(["DECIMAL", "NUMERIC"], self._decimal),
            **dict.fromkeys(["VARCHAR", "CHAR", "CHARACTER"], self._text_type),
            "TIMESTAMP": self._timestamp,
            "TIME": self._time,
        }
        if word in with_digits:
            return with_digits[word]()
        if word in _UNSIGNED and self.take("UNSIGNED"):
            return _UNSIGNED[word]
        if word == "DOUBLE":
            self.take("PRECISION")
        if word not in _PLAIN:
            raise self.fault(
                f"its type {as_written!r} is not known; the types are BOOLEAN, INT, BIGINT, FLOAT, DOUBLE, "
                "DECIMAL(p,s), STRING, BINARY, DATE, TIME, TIMESTAMP, ARRAY<..>, STRUCT<..> and MAP<..>"
            )
        return _PLAIN[word]

    def _decimal(self) -> Any:
        numbers = self.numbers(most=2) or [_DECIMAL128_DIGITS, 10]
        precision, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
        if not 1 <= precision <= _DECIMAL256_DIGITS or scale > precision:
            raise self.fault(
                f"DECIMAL({precision},{scale}) has no digits, more than {_DECIMAL256_DIGITS}, or fewer "
                "than stand after its point"
            )
        make = pa.decimal128 if precision <= _DECIMAL128_DIGITS else pa.decimal256
        return make(precision, scale)

    def _text_type(self) -> Any:
        self.take("VARYING")
        self.numbers(most=1)
        return pa.string()

    def _timestamp(self) -> Any:
        unit = self._unit()
        if self.take("WITH") or self.take("WITHOUT"):
            for word in ("TIME", "ZONE"):
                self.expect(word)
        return pa.timestamp(unit, "UTC")

    def _time(self) -> Any:
        unit = self._unit()
        return pa.time64(unit) if unit == "us" else pa.time32(unit)

    def _unit(self) -> str:
        digits = self.numbers(most=1)
        if not digits:
            return "ms"
        if digits[0] > 9:
            raise self.fault("a time has at most 9 digits after its seconds")
        return _UNITS[-(-digits[0] // 3)]

    def _array(self, depth: int) -> Any:
        self.expect("<")
        item = pa.field("item", self._type(depth), nullable=self._nullable())
        self.expect(">")
        return pa.list_(item)

    def _map(self, depth: int) -> Any:
        self.expect("<")
        key = pa.field("key", self._type(depth), nullable=False)
        self.expect(",")
        value = pa.field("value", self._type(depth), nullable=self._nullable())
        self.expect(">")
        return pa.map_(key, value)

    def _struct(self, depth: int) -> Any:
        self.expect("<")
        fields = []
        while not self.take(">"):
            name = self.name()
            self.take(":")
            fields.append(pa.field(name, self._type(depth), nullable=self._nullable()))
            if not self.take(","):
                self.expect(">")
                break
        names = [field.name for field in fields]
        if not names or len(set(names)) < len(names):
            raise self.fault("a STRUCT has fields, each of another name")
        return pa.struct(fields)
