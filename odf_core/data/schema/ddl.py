"""Column definitions in SQL as Arrow schemas (the specification's "Schema Format", data.md 3.2)."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odf_core.data.errors import InvalidDdlSchema

_TOKEN = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"]|"")*)"|`(?P<back>(?:[^`]|``)*)`|(?P<word>\w+)|(?P<sign>[<>(),:\[\]])|(?P<bad>\S))"""
)
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
    names = [field.name for field in fields]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise InvalidDdlSchema(f"The schema defines column {twice!r} twice.", objects=[twice])
    return pa.schema(fields)


@dataclass(frozen=True, slots=True)
class _Token:
    text: str
    quoted: bool = False

    @property
    def keyword(self) -> str:
        return "" if self.quoted else self.text.upper()


class _Parser:
    """One entry of the list; `_column` is what its errors name."""

    def __init__(self, text: str, number: int) -> None:
        self._text = text
        self._column = f"entry {number} of the schema ({text.strip()[:80]!r})"
        self._tokens = self._tokenize()
        self._at = 0

    def columns(self) -> list[Any]:
        fields = [self._definition()]
        while self._take(","):
            if self._end():  # a comma behind the last column does no harm
                break
            fields.append(self._definition())
        if not self._end():
            raise self._fault(f"{self._peek().text!r} is not understood here")
        return fields

    def _definition(self) -> Any:
        name = self._name()
        self._column = f"column {name!r}"
        always_required = self._peek().keyword in _ALWAYS_REQUIRED
        data_type = self._type(0)
        return pa.field(name, data_type, nullable=self._nullable() and not always_required)

    def _nullable(self) -> bool:
        if self._take("NOT"):
            if not self._take("NULL"):
                raise self._fault("NOT is followed by NULL or by nothing that is understood")
            return False
        self._take("NULL")
        return True

    def _type(self, depth: int) -> Any:
        if depth > _DEEPEST:
            raise self._fault(f"its type is nested deeper than {_DEEPEST}")
        if self._end():
            raise self._fault("its type is missing")
        token = self._next()
        word = token.keyword
        nested = {"ARRAY": self._array, "STRUCT": self._struct, "MAP": self._map}.get(word)
        data_type = nested(depth + 1) if nested is not None else self._scalar(word, token.text)
        while self._take("["):
            self._expect("]")
            data_type = pa.list_(data_type)
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
        if word in _UNSIGNED and self._take("UNSIGNED"):
            return _UNSIGNED[word]
        if word == "DOUBLE":
            self._take("PRECISION")
        if word not in _PLAIN:
            raise self._fault(
                f"its type {as_written!r} is not known; the types are BOOLEAN, INT, BIGINT, FLOAT, DOUBLE, "
                "DECIMAL(p,s), STRING, BINARY, DATE, TIME, TIMESTAMP, ARRAY<..>, STRUCT<..> and MAP<..>"
            )
        return _PLAIN[word]

    def _decimal(self) -> Any:
        numbers = self._numbers(most=2) or [_DECIMAL128_DIGITS, 10]
        precision, scale = numbers[0], numbers[1] if len(numbers) > 1 else 0
        if not 1 <= precision <= _DECIMAL256_DIGITS or scale > precision:
            raise self._fault(
                f"DECIMAL({precision},{scale}) has no digits, more than {_DECIMAL256_DIGITS}, or fewer "
                "than stand after its point"
            )
        make = pa.decimal128 if precision <= _DECIMAL128_DIGITS else pa.decimal256
        return make(precision, scale)

    def _text_type(self) -> Any:
        self._take("VARYING")
        self._numbers(most=1)
        return pa.string()

    def _timestamp(self) -> Any:
        unit = self._unit()
        if self._take("WITH") or self._take("WITHOUT"):
            for word in ("TIME", "ZONE"):
                self._expect(word)
        return pa.timestamp(unit, "UTC")

    def _time(self) -> Any:
        unit = self._unit()
        return pa.time64(unit) if unit == "us" else pa.time32(unit)

    def _unit(self) -> str:
        digits = self._numbers(most=1)
        if not digits:
            return "ms"
        if digits[0] > 9:
            raise self._fault("a time has at most 9 digits after its seconds")
        return _UNITS[-(-digits[0] // 3)]

    def _array(self, depth: int) -> Any:
        self._expect("<")
        item = pa.field("item", self._type(depth), nullable=self._nullable())
        self._expect(">")
        return pa.list_(item)

    def _map(self, depth: int) -> Any:
        self._expect("<")
        key = pa.field("key", self._type(depth), nullable=False)
        self._expect(",")
        value = pa.field("value", self._type(depth), nullable=self._nullable())
        self._expect(">")
        return pa.map_(key, value)

    def _struct(self, depth: int) -> Any:
        self._expect("<")
        fields = []
        while not self._take(">"):
            name = self._name()
            self._take(":")
            fields.append(pa.field(name, self._type(depth), nullable=self._nullable()))
            if not self._take(","):
                self._expect(">")
                break
        names = [field.name for field in fields]
        if not names or len(set(names)) < len(names):
            raise self._fault("a STRUCT has fields, each of another name")
        return pa.struct(fields)

    def _numbers(self, *, most: int) -> list[int]:
        """The numbers between round brackets; [] where there are none."""
        if not self._take("("):
            return []
        numbers = [self._number()]
        while self._take(","):
            numbers.append(self._number())
        self._expect(")")
        if len(numbers) > most:
            raise self._fault(f"its type takes at most {most} number{'s'[: most - 1]}")
        return numbers

    def _number(self) -> int:
        text = "" if self._end() else self._next().text
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise self._fault(f"{text!r} stands where a number is due")
        return int(text)

    def _name(self) -> str:
        if self._end():
            raise self._fault("a column has a name and a type")
        token = self._next()
        if not token.text or not (token.quoted or token.text[0].isalnum() or token.text[0] == "_"):
            raise self._fault(f"{token.text!r} stands where a name is due")
        return token.text

    def _tokenize(self) -> list[_Token]:
        tokens = []
        for match in _TOKEN.finditer(self._text.rstrip()):
            if match["bad"] is not None:
                raise self._fault(
                    f"{match['bad']!r} is not understood; names with signs stand in double quotes"
                )
            quoted = match["double"] is not None or match["back"] is not None
            text = match["word"] or match["sign"] or ""
            if quoted:
                text = (match["double"] or "").replace('""', '"') or (match["back"] or "").replace("``", "`")
            tokens.append(_Token(text, quoted))
        return tokens

    def _end(self) -> bool:
        return self._at >= len(self._tokens)

    def _peek(self) -> _Token:
        return _Token("", True) if self._end() else self._tokens[self._at]

    def _next(self) -> _Token:
        self._at += 1
        return self._tokens[self._at - 1]

    def _take(self, word: str) -> bool:
        found = self._peek().keyword == word
        self._at += found
        return found

    def _expect(self, word: str) -> None:
        if not self._take(word):
            found = "nothing" if self._end() else repr(self._peek().text)
            raise self._fault(f"{found} stands where {word!r} is due")

    def _fault(self, what: str) -> InvalidDdlSchema:
        return InvalidDdlSchema(f"In {self._column}, {what}.", objects=[self._column])
