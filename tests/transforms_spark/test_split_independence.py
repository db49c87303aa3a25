"""The result of a query after any steps is the query over what its inputs came to, told as a changelog.

Oracles: the same engine in one step over the folded inputs, in another order of rows (exactly equal), and
Spark's own evaluation of the text, which our rewriting never sees (equal up to rounding of sums).
"""

import os
import random
from itertools import count

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odf_core.workspace.adding import new_dataset_id
from tests.transforms_spark.histories import (
    HISTORIES,
    assert_well_formed,
    folded,
    last_rows,
    records_of,
)
from tests.transforms_spark.stepping import Derived, Input

A = pa.schema(
    [
        pa.field("k", pa.string()),
        pa.field("v", pa.float64()),
        pa.field("n", pa.int32()),
        pa.field("tags", pa.list_(pa.string())),
    ]
)
B = pa.schema([pa.field("k", pa.string()), pa.field("w", pa.int64())])

SHAPES = {
    "filter": "select event_time, k, v from a where n > 0",
    "project": "select event_time, upper(k) as k, v * 2 as v, n + 1 as n, tags from a",
    "explode": "select event_time, k, explode(tags) as tag from a",
    "union": "select event_time, k, n from a union all select event_time, k, cast(w as int) from b",
    "group": "select k, max(event_time) as event_time, sum(v) as s, avg(v) as m, count(*) as c, "
    "first(n) as f, max_by(n, v) as b, collect_list(n) as l from a group by k",
    "tumbling": "select window.start as event_time, k, sum(v) as s, count(*) as c from "
    "(select window(event_time, '10 minutes') as window, k, v from a) group by window, k",
    "sliding": "select window.start as event_time, sum(n) as s from "
    "(select window(event_time, '10 minutes', '5 minutes') as window, n from a) group by window",
    "distinct": "select distinct event_time, k, v from a",
    "interval_join": "select a.event_time, a.k, a.v, b.w from a join b on a.k = b.k and b.event_time "
    "between a.event_time and a.event_time + interval 10 minutes",
    "state_join": "select a.event_time, a.k, a.n, s.total from a left join "
    "(select k, sum(w) as total from b group by k) s on a.k = s.k",
    "top_n": "select event_time, k, v, n from (select event_time, k, v, n, row_number() over "
    "(partition by k order by v desc, n) as place from a) where place <= 2",
    "two_steps": [
        ("per_key", "select window(event_time, '10 minutes') as window, k, n from a where n >= 0"),
        ("counted", "select window, k, count(*) as c from per_key group by window, k"),
        (None, "select window.start as event_time, max(c) as most from counted group by window"),
    ],
    "global": "select max(event_time) as event_time, count(*) as c, sum(v) as s from a having count(*) > 0",
    "anti_join": "select a.event_time, a.k, a.n from a where not exists (select 1 from b where b.k = a.k)",
    "full_join": "select coalesce(x.event_time, y.event_time) as event_time, coalesce(x.k, y.k) as k, c, d "
    "from (select k, max(event_time) as event_time, count(*) as c from a group by k) x full join "
    "(select k, max(event_time) as event_time, count(*) as d from b group by k) y on x.k = y.k",
    "rollup": "select k, n, max(event_time) as event_time, count(*) as c from a group by rollup(k, n) "
    "having count(*) > 0",
    "session": "select window.start as event_time, k, count(*) as c, sum(v) as s from "
    "(select session_window(event_time, '5 minutes') as window, k, v from a) group by window, k",
    "nulls": "select k, max(event_time) as event_time, max(v) as m, min(v) as l, "
    "count(distinct n) as d from a group by k having max(n) > 0 or k is null",
    "running": "select event_time, k, sum(v) over (partition by k order by event_time, n) as s, n from a",
    "chain": "select event_time, k, n from a where n > -2",
}
pytestmark = [pytest.mark.long, pytest.mark.timeout(3600 if os.environ.get("ODF_TEST_FULL") else 900)]
SECOND = "select k, max(event_time) as event_time, sum(n) as s from middle group by k"
EXAMPLES, MOST_CUTS = (300, 3) if os.environ.get("ODF_TEST_FULL") else (30, 2)
CONFS = (
    {"spark.sql.shuffle.partitions": "1", "spark.sql.adaptive.enabled": "false"},
    {"spark.sql.shuffle.partitions": "2", "spark.sql.adaptive.enabled": "true"},
    {"spark.sql.shuffle.partitions": "7", "spark.sql.adaptive.enabled": "false"},
)
_numbers = count()
IDS = {name: new_dataset_id() for name in ("a", "b", "middle")}
"""One for all runs: a checkpoint names the inputs of its watermarks."""


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    return tmp_path_factory.mktemp("steps")


def divided(history, cuts) -> list[tuple[list, list]]:
    """The records of both inputs, step by step."""
    steps: list[tuple[list, list]] = [([], [])]
    for number, (source, records) in enumerate(records_of(history)):
        steps[-1][source].extend(records)
        if number in cuts:
            steps.append(([], []))
    return steps


def watermarks(steps) -> list[int | None]:
    """For each step one that no later record is late for, whatever its window."""
    found: list[int | None] = []
    for number in range(len(steps)):
        later = [record[1] for step in steps[number + 1 :] for records in step for record in records]
        found.append(min(later) - 15 if later else None)
    return found


def run(transforms, place, shape, steps, marks, conf, small):
    """Evaluates the shape step by step; a chain through its middle."""
    folder = place / f"run-{next(_numbers)}"
    folder.mkdir()
    inputs = [Input("a", A, folder, IDS["a"]), Input("b", B, folder, IDS["b"])]
    first = Derived(transforms, inputs, SHAPES[shape], folder, conf, small)
    second = None
    for (a, b), mark in zip(steps, marks, strict=True):
        done = first.step([inputs[0].slice(a), inputs[1].slice(b)], [mark, mark])
        if shape != "chain":
            continue
        if second is None:
            middle = Input("middle", pa.schema(list(done.table.schema)[4:]), folder, IDS["middle"])
            second = Derived(transforms, [middle], SECOND, folder, conf, small)
        made = None if done.interval is None else (folder / done.path, done.interval)
        second.step([made], [mark])
    return second or first


@given(data=st.data())
@settings(
    max_examples=EXAMPLES, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
def test_any_division_gives_the_same(transforms, place, data):
    shape = data.draw(st.sampled_from(sorted(SHAPES)))
    history = data.draw(HISTORIES)
    cuts = data.draw(st.sets(st.integers(0, len(history)), max_size=MOST_CUTS))
    steps = divided(history, cuts)
    marks = watermarks(steps)
    told = run(transforms, place, shape, steps, marks, CONFS[0], True)
    assert_well_formed(told.told())
    result = folded(told.told())

    # The same steps under other settings: the same records, hashes and states.
    other = data.draw(st.sampled_from(CONFS[1:]))
    again = run(transforms, place, shape, steps, marks, other, False)
    assert [step.logical_hash for step in again.steps] == [step.logical_hash for step in told.steps]
    states = [
        [step.checkpoint.read_bytes() if step.checkpoint else None for step in each.steps]
        for each in (told, again)
    ]
    assert states[0] == states[1]

    # One step over what the inputs came to, in another order.
    whole = [[(0, *row) for row in last_rows(history, source)] for source in (0, 1)]
    for rows in whole:
        random.Random(len(history)).shuffle(rows)
    batch = run(transforms, place, shape, [tuple(whole)], [None], CONFS[0], True)
    assert result == folded(batch.told())
    assert all(record["op"] == 0 for record in batch.told())


def test_every_shape_is_tried(transforms, place):
    """Each shape over one history that has everything, so that chance leaves none out."""
    rows = [
        (0, [(0, 1, "x", 0.1, 1, ["p", "q"]), (0, 2, "y", -0.0, 2, None)]),
        (1, [(0, 3, "x", 2), (0, 4, None, 3)]),
        (0, [(0, 12, "x", float("nan"), 0, []), (0, 2, "x", 0.2, 1, ["q"])]),
        (0, [(2, 1, "x", 0.1, 1, ["p", "q"]), (3, 1, "x", 1e16, -1, ["p"])]),
        (1, [(1, 3, "x", 2)]),
        (0, [(1, 2, "y", -0.0, 2, None)]),
    ]
    steps = []
    for first, second in ((0, 1), (2, 3), (4, 5)):
        told_of: tuple[list, list] = ([], [])
        for source, records in (rows[first], rows[second]):
            told_of[source].extend(records)
        steps.append(told_of)
    for shape in SHAPES:
        told = run(transforms, place, shape, steps, [None] * len(steps), CONFS[0], True)
        assert_well_formed(told.told())
        last_a = [(0, 12, "x", float("nan"), 0, []), (0, 2, "x", 0.2, 1, ["q"]), (0, 1, "x", 1e16, -1, ["p"])]
        batch = run(transforms, place, shape, [(last_a, [(0, 4, None, 3)])], [None], CONFS[0], True)
        assert folded(told.told()) == folded(batch.told()), shape
