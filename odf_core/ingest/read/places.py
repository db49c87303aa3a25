"""Where a value came from: what a message about it needs."""

from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Place:
    """The input's name, the column's path, and the row of each value.

    `rows` is the number of the first value's row, or one number for each value (items of lists).
    """

    file: str
    column: str
    rows: int | Sequence[int]

    def row(self, index: int) -> int:
        """The row of the value at an index, from 1."""
        return self.rows + index if isinstance(self.rows, int) else self.rows[index]

    def below(self, step: str, rows: Sequence[int] | None = None) -> "Place":
        """The place of a part of this column: `step` is appended to its path."""
        return replace(self, column=self.column + step, rows=self.rows if rows is None else rows)
