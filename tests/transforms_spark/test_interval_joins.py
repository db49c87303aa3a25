"""Joins within an interval of event time: what the watermark has closed leaves the state, no more."""

import os
import random

import pyarrow as pa
import pytest

from tests.transforms_spark.histories import assert_well_formed, folded
from tests.transforms_spark.stepping import Derived, Input
from tests.transforms_spark.test_windows import held

A = pa.schema([pa.field("k", pa.string()), pa.field("n", pa.int64())])
B = pa.schema([pa.field("k", pa.string()), pa.field("m", pa.int64())])
FULL = bool(os.environ.get("ODF_TEST_FULL"))
EXAMPLES = 100 if FULL else 1
KINDS = ("inner", "left", "right", "left semi", "left anti") if FULL else ("inner", "left")
WITHIN = "b.event_time between a.event_time and a.event_time + interval 10 minutes"
BOUNDS = (
    WITHIN,
    "a.event_time - b.event_time < interval 3 minutes and b.event_time < a.event_time + interval 5 minutes",
    "b.event_time >= a.event_time + interval 2 minutes and b.event_time <= a.event_time + interval 4 minutes",
    "b.event_time > a.event_time - interval 6 minutes and b.event_time < a.event_time - interval 1 minute",
)
BOTH = "select a.event_time, a.k, n, m from a {kind} join b on a.k = b.k and {bound}"
ONE = "select a.event_time, a.k, n from a {kind} join b on a.k = b.k and {bound}"
RIGHT = "select b.event_time, b.k, n, m from a right join b on a.k = b.k and {bound}"


def query(kind: str, bound: str) -> str:
    if kind == "right":
        return RIGHT.format(bound=bound)
    return (ONE if "left " in kind else BOTH).format(kind=kind, bound=bound)


def joined(transforms, folder, kind="inner", bound=WITHIN):
    a, b = Input("a", A, folder), Input("b", B, folder)
    return a, b, Derived(transforms, [a, b], query(kind, bound), folder)


def values(step) -> list[tuple]:
    return [(row["op"], row["n"], row["m"]) for row in step.records]


def test_rows_leave_when_nothing_can_join_them_any_more(transforms, tmp_path):
    a, b, derived = joined(transforms, tmp_path)
    first = derived.step([a.slice([(0, 1, "x", 1), (0, 5, "x", 2)]), b.slice([(0, 1, "x", 10)])], [5, 5])
    assert values(first) == [(0, 1, 10)]
    assert len(held(first)) == 3  # b of minute 1 may find an a of minute -9 to 1, which are not yet late
    second = derived.step([None, b.slice([(0, 11, "x", 11)])], [11, 11])
    assert values(second) == [(0, 1, 11), (0, 2, 11)]
    assert len(held(second)) == 4  # a of minute 1 may find a b of minute 11, which is at the watermark
    third = derived.step([None, b.slice([(0, 12, "x", 12)])], [12, 12])
    assert values(third) == [(0, 2, 12)]
    assert sorted(row["c2"] for row in held(third)) == [2, 11, 12]
    last = derived.step([None, None], [60, 60])
    assert held(last) == []


def test_rows_that_come_later_are_counted_and_change_nothing(transforms, tmp_path):
    a, b, derived = joined(transforms, tmp_path)
    derived.step([a.slice([(0, 1, "x", 1), (0, 9, "x", 2)]), b.slice([(0, 1, "x", 10)])], [12, 12])
    late = derived.step([a.slice([(0, 1, "x", 3), (1, 1, "x", 1)]), b.slice([(0, 11, "x", 11)])], [12, 12])
    assert (late.interval, late.late_rows) == (None, 3)
    held_still = derived.step([a.slice([(1, 9, "x", 2)]), b.slice([(0, 13, "x", 13)])], [12, 12])
    assert (held_still.interval, held_still.late_rows) == (None, 0)


@pytest.mark.timeout(60 + 60 * EXAMPLES)
@pytest.mark.parametrize("kind", KINDS)
def test_rows_in_time_give_what_one_step_gives(transforms, tmp_path, kind):
    for seed in range(EXAMPLES):
        dice = random.Random(f"{kind}{seed}")
        bound = BOUNDS[seed % len(BOUNDS)] if EXAMPLES > 1 else dice.choice(BOUNDS)
        steps, marks = _steps_in_time(dice)
        folder = tmp_path / str(seed)
        folder.mkdir()
        a, b, derived = joined(transforms, folder, kind, bound)
        for (of_a, of_b), mark in zip(steps, marks, strict=True):
            step = derived.step([a.slice(of_a), b.slice(of_b)], [mark, mark])
            assert step.late_rows == 0
        assert_well_formed(derived.told())
        assert held(derived.step([None, None], [1000, 1000])) == []
        a, b, whole = joined(transforms, folder, kind, bound)
        batch = whole.step([a.slice(_last(steps, 0)), b.slice(_last(steps, 1))], [None, None])
        assert folded(derived.told()) == folded(batch.records), (kind, bound, seed)


def _steps_in_time(dice: random.Random):
    """Steps of both inputs with the latest watermarks that make none of their rows late, corrections and
    retractions of rows among them."""
    minutes = sorted(dice.choices(range(40), k=24))
    cuts = sorted(dice.sample(range(1, 24), 4))
    steps = []
    for first, last in zip((0, *cuts), (*cuts, 24), strict=True):
        told: tuple[list, list] = ([], [])
        for minute in dice.sample(minutes[first:last], last - first):
            side = told[dice.randrange(2)]
            row = (minute, dice.choice("xy"), dice.randrange(3))
            side.append((0, *row))
            fate = dice.randrange(4)
            if fate == 0:
                side.append((1, *row))
            elif fate == 1:
                side += [(2, *row), (3, *row[:2], row[2] + 5)]
        steps.append(told)
    marks = [min(row[1] for step in steps[number:] for side in step for row in side) for number in range(5)]
    return steps, [*marks[1:], None]


def _last(steps, source: int) -> list[tuple]:
    """The rows that remain of an input, as additions."""
    rows: list[tuple] = []
    for step in steps:
        for op, *row in step[source]:
            if op in (0, 3):
                rows.append(tuple(row))
            else:
                rows.remove(tuple(row))
    return [(0, *row) for row in rows]
