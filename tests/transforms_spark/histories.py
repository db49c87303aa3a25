"""Random histories of inputs, and what holds at their end."""

import math
from collections import Counter
from dataclasses import dataclass

from hypothesis import strategies as st

A_VALUES = st.sampled_from([0.0, -0.0, 1.5, -2.25, 0.1, 0.2, 1e16, -1e16, float("nan"), None])
KEYS = st.sampled_from(["x", "y", "z", None])
MINUTES = st.integers(0, 45)
TAGS = st.sampled_from([None, [], ["p"], ["p", "q"], ["q", "q", "r"]])
ROWS_A = st.tuples(MINUTES, KEYS, A_VALUES, st.integers(-3, 3), TAGS)
ROWS_B = st.tuples(MINUTES, KEYS, st.integers(0, 4))


@dataclass(frozen=True)
class Change:
    """What happens to one input: a row comes, goes, or becomes another; `pick` chooses among those there."""

    source: int
    kind: str
    row: tuple
    pick: int


@st.composite
def changes(draw):
    source = draw(st.integers(0, 1))
    kind = draw(st.sampled_from(["append", "append", "append", "retract", "correct"]))
    return Change(source, kind, draw(ROWS_B if source else ROWS_A), draw(st.integers(0, 50)))


HISTORIES = st.lists(changes(), min_size=1, max_size=24)


def records_of(history) -> list[tuple[int, list[tuple]]]:
    """For each change its input and the records that tell it: `(op, minute, *values)`."""
    there: dict[int, list[tuple]] = {0: [], 1: []}
    told = []
    for change in history:
        rows = there[change.source]
        if change.kind == "append" or not rows:
            rows.append(change.row)
            told.append((change.source, [(0, *change.row)]))
            continue
        place = change.pick % len(rows)
        if change.kind == "retract":
            told.append((change.source, [(1, *rows.pop(place))]))
        else:
            old, rows[place] = rows[place], change.row
            told.append((change.source, [(2, *old), (3, *change.row)]))
    return told


def last_rows(history, source: int) -> list[tuple]:
    """The rows of an input at the end."""
    there: list[tuple] = []
    for number, records in records_of(history):
        if number != source:
            continue
        for record in records:
            if record[0] in (0, 3):
                there.append(record[1:])
            else:
                there.remove(next(row for row in there if plain(row) == plain(record[1:])))
    return there


def plain(value):
    """A value that equals itself: NaN, and -0.0 as 0.0, nested or not."""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else value + 0.0
    if isinstance(value, dict):
        return tuple((name, plain(item)) for name, item in value.items())
    if isinstance(value, list | tuple):
        return tuple(plain(item) for item in value)
    return value


def row_of(record: dict) -> tuple:
    return tuple((name, plain(value)) for name, value in record.items() if name not in SYSTEM)


SYSTEM = ("offset", "op", "system_time")


def folded(records) -> Counter:
    """What a changelog comes to; every row that goes has to be there."""
    rows: Counter = Counter()
    for record in records:
        row = row_of(record)
        if record["op"] in (0, 3):
            rows[row] += 1
        else:
            assert rows[row] > 0, f"{row} goes, but is not there"
            rows[row] -= 1
    return +rows


def assert_well_formed(records) -> None:
    """Corrections stand side by side, and the offsets go up by one."""
    for number, record in enumerate(records):
        if record["op"] == 2:
            assert records[number + 1]["op"] == 3
        if record["op"] == 3:
            assert records[number - 1]["op"] == 2
        if number:
            assert record["offset"] == records[number - 1]["offset"] + 1
