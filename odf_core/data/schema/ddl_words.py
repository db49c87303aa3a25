"""The words of a column definition in SQL, one after another."""

import re
from dataclasses import dataclass

from odf_core.data.errors import InvalidDdlSchema

_TOKEN = re.compile(
    r"""\s*(?:"(?P<double>(?:[^"]|"")*)"|`(?P<back>(?:[^`]|``)*)`|(?P<word>\w+)|(?P<sign>[<>(),:\[\]])|(?P<bad>\S))"""
)


@dataclass(frozen=True, slots=True)
class Token:
    """A name, keyword, number or sign; a quoted one is always a name."""

    text: str
    quoted: bool = False

    @property
    def keyword(self) -> str:
        return "" if self.quoted else self.text.upper()


class DdlWords:
    """The words of one entry of a schema, and the errors about it, which name `column`."""

    def __init__(self, text: str, number: int) -> None:
        self._text = text
        self.column = f"entry {number} of the schema ({text.strip()[:80]!r})"
        self._tokens = self._tokenize()
        self._at = 0

    def numbers(self, *, most: int) -> list[int]:
        """The numbers between round brackets; [] where there are none."""
        if not self.take("("):
            return []
        numbers = [self.number()]
        while self.take(","):
            numbers.append(self.number())
        self.expect(")")
        if len(numbers) > most:
            raise self.fault(f"its type takes at most {most} number{'s'[: most - 1]}")
        return numbers

    def number(self) -> int:
        """The next word, which is to be a whole number."""
        text = "" if self.end() else self.next().text
        if not (text.isascii() and text.isdigit() and len(text) < 10):
            raise self.fault(f"{text!r} stands where a number is due")
        return int(text)

    def name(self) -> str:
        """The next word, which is to be a name."""
        if self.end():
            raise self.fault("a column has a name and a type")
        token = self.next()
        if not token.text or not (token.quoted or token.text[0].isalnum() or token.text[0] == "_"):
            raise self.fault(f"{token.text!r} stands where a name is due")
        return token.text

    def _tokenize(self) -> list[Token]:
        tokens = []
        for match in _TOKEN.finditer(self._text.rstrip()):
            if match["bad"] is not None:
                raise self.fault(
                    f"{match['bad']!r} is not understood; names with signs stand in double quotes"
                )
            quoted = match["double"] is not None or match["back"] is not None
            text = match["word"] or match["sign"] or ""
            if quoted:
                text = (match["double"] or "").replace('""', '"') or (match["back"] or "").replace("``", "`")
            tokens.append(Token(text, quoted))
        return tokens

    def end(self) -> bool:
        """Whether there is no word any more."""
        return self._at >= len(self._tokens)

    def peek(self) -> Token:
        """The next word without taking it; a nameless one at the end."""
        return Token("", True) if self.end() else self._tokens[self._at]

    def next(self) -> Token:
        """Takes the next word."""
        self._at += 1
        return self._tokens[self._at - 1]

    def take(self, word: str) -> bool:
        """Takes the next word if it is this keyword or sign."""
        found = self.peek().keyword == word
        self._at += found
        return found

    def expect(self, word: str) -> None:
        """Takes the next word, which is to be this one."""
        if not self.take(word):
            found = "nothing" if self.end() else repr(self.peek().text)
            raise self.fault(f"{found} stands where {word!r} is due")

    def fault(self, what: str) -> InvalidDdlSchema:
        """The error with a sentence about the column."""
        return InvalidDdlSchema(f"In {self.column}, {what}.", objects=[self.column])
