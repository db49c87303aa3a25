"""Where in the text of a query something stands."""

import re
from dataclasses import dataclass
from typing import Any

from pyspark.errors import PySparkException

_POSITION = re.compile(r"\(line (\d+), pos (\d+)\)")
_MOST_FRAGMENT_CHARS = 120


@dataclass(frozen=True, slots=True)
class Place:
    """Line and column (from 1), offset (from 0, in characters), and what stands there."""

    line: int
    column: int
    offset: int
    fragment: str

    def to_json(self) -> dict[str, Any]:
        """As a JSON object."""
        return {"line": self.line, "column": self.column, "offset": self.offset, "fragment": self.fragment}


def place_at(sql: str, start: int, end: int) -> Place:
    """The place of `sql[start:end]`."""
    before = sql[:start]
    line = before.count("\n") + 1
    column = start - (before.rfind("\n") + 1) + 1
    return Place(line, column, start, sql[start:end][:_MOST_FRAGMENT_CHARS])


def place_of_exception(error: PySparkException, sql: str | None) -> Place | None:
    """Where Spark says that the trouble is, if it does: from its query context, else from its text."""
    for context in error.getQueryContext() or ():
        start, stop = context.startIndex(), context.stopIndex()
        if start < 0:
            continue
        fragment = context.fragment()
        if sql is not None and sql[start : stop + 1] == fragment:
            return place_at(sql, start, stop + 1)
    told = _POSITION.search(str(error))
    if told is None:
        return None
    line, column = int(told[1]), int(told[2])
    lines = sql.split("\n") if sql is not None else []
    if line > len(lines):
        return Place(line, column + 1, -1, "") if sql is None else None
    rest = lines[line - 1][column:]
    offset = sum(len(text) + 1 for text in lines[: line - 1]) + column
    word = re.match(r"\w+|\S", rest)
    return Place(line, column + 1, offset, word[0] if word else "")
