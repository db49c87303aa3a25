"""Windows of event time: what a watermark closes, rows that come too late, telling only what is closed."""

import io
import tarfile

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.errors import QueryRefused
from tests.transforms_spark.histories import folded
from tests.transforms_spark.stepping import INSTANT, Derived, Input, minute

COLUMNS = pa.schema([pa.field("k", pa.string()), pa.field("n", pa.int64())])
TUMBLING = (
    "select window.start as event_time, k, sum(n) as s from "
    "(select window(event_time, '10 minutes') as window, k, n from a) group by window, k"
)


@pytest.fixture
def source(tmp_path):
    return Input("a", COLUMNS, tmp_path)


def held(step) -> list[dict]:
    """The rows in a checkpoint."""
    with tarfile.open(step.checkpoint) as tar:
        names = [name for name in tar.getnames() if name.startswith("rows-")]
        return [row for name in names for row in _rows(tar.extractfile(name).read())]


def _rows(content: bytes) -> list[dict]:
    return pq.read_table(io.BytesIO(content)).to_pylist()


def test_late_rows_are_corrections_while_their_window_is_held(transforms, source, tmp_path):
    derived = Derived(transforms, [source], TUMBLING, tmp_path)
    derived.step([source.slice([(0, 1, "x", 1), (0, 12, "x", 2)])], [9])
    late = derived.step([source.slice([(0, 2, "x", 10)])], [9])
    assert [(row["op"], row["s"]) for row in late.records] == [(2, 1), (3, 11)]
    assert late.late_rows == 0


def test_rows_after_their_window_was_closed_are_counted_and_change_nothing(transforms, source, tmp_path):
    derived = Derived(transforms, [source], TUMBLING, tmp_path)
    first = derived.step([source.slice([(0, 1, "x", 1), (0, 12, "x", 2)])], [10])
    assert len(held(first)) == 1  # the window that ends at the watermark has left the state
    late = derived.step([source.slice([(0, 2, "x", 10), (0, 13, "x", 5), (1, 1, "x", 1)])], [11])
    assert late.late_rows == 2
    assert [(row["op"], row["event_time"], row["s"]) for row in late.records] == [
        (2, minute(10), 2),
        (3, minute(10), 7),
    ]
    nothing = derived.step([source.slice([(0, 3, "x", 10)])], [11])
    assert (nothing.interval, nothing.late_rows) == (None, 1)


def test_a_watermark_never_goes_back(transforms, source, tmp_path):
    derived = Derived(transforms, [source], TUMBLING, tmp_path)
    first = derived.step([source.slice([(0, 1, "x", 1)])], [20])
    second = derived.step([None], [5])
    third = derived.step([None], [None])
    assert first.watermark == second.watermark == third.watermark


def test_the_watermark_is_the_least_and_remembered(transforms, tmp_path):
    a, b = Input("a", COLUMNS, tmp_path), Input("b", COLUMNS, tmp_path)
    query = "select event_time, k from a union all select event_time, k from b"
    derived = Derived(transforms, [a, b], query, tmp_path)
    marks = [(10, None), (None, 5), (None, 30), (40, None)]
    found = [derived.step([None, None], list(pair)).watermark for pair in marks]
    wanted = [None, minute(5), minute(10), minute(30)]
    assert [mark and mark.to_datetime() for mark in found] == wanted


def test_only_closed_windows_are_told_when_asked(transforms, source, tmp_path):
    derived = Derived(
        transforms, [source], TUMBLING.replace("select", "select /*+ EMIT_ON_CLOSE */", 1), tmp_path
    )
    assert derived.step([source.slice([(0, 1, "x", 1), (0, 12, "x", 2)])], [9]).interval is None
    assert derived.step([source.slice([(0, 2, "x", 10)])], [9]).interval is None
    closed = derived.step([None], [10])
    assert [(row["op"], row["event_time"], row["s"]) for row in closed.records] == [(0, minute(0), 11)]
    last = derived.step([None], [60])
    assert [(row["op"], row["s"]) for row in last.records] == [(0, 2)]
    assert held(last) == []
    assert sum(folded(derived.told()).values()) == 2


def test_on_close_needs_a_window(transforms, source, tmp_path):
    query = "select /*+ EMIT_ON_CLOSE */ max(event_time) as event_time, k, count(*) as c from a group by k"
    with pytest.raises(QueryRefused, match="EMIT_ON_CLOSE"):
        Derived(transforms, [source], query, tmp_path).step([None], [None])


def test_two_inputs_joined_by_their_windows_leave_together(transforms, tmp_path):
    a, b = Input("a", COLUMNS, tmp_path), Input("b", COLUMNS, tmp_path)
    query = [
        ("x", "select window(event_time, '10 minutes') as w, k, n from a"),
        ("y", "select window(event_time, '10 minutes') as w, k, n as m from b"),
        (None, "select x.w.start as event_time, x.k, n, m from x join y on x.w = y.w and x.k = y.k"),
    ]
    derived = Derived(transforms, [a, b], query, tmp_path)
    slices = [a.slice([(0, 1, "p", 1), (0, 21, "p", 2)]), b.slice([(0, 2, "p", 3)])]
    first = derived.step(slices, [5, 5])
    assert [(row["n"], row["m"]) for row in first.records] == [(1, 3)]
    pruned = derived.step([None, b.slice([(0, 22, "p", 4)])], [15, 12])
    assert [(row["n"], row["m"]) for row in pruned.records] == [(2, 4)]
    assert len(held(pruned)) == 2


@pytest.mark.parametrize("time", ["at", "event_time - interval 1 hour", "date_trunc('hour', event_time)"])
def test_a_window_of_another_time_is_not_closed_by_the_watermark(transforms, tmp_path, time):
    source = Input("a", pa.schema([pa.field("at", INSTANT), pa.field("n", pa.int64())]), tmp_path)
    query = (
        "select max(event_time) as event_time, window.start as since, sum(n) as s from "
        f"(select window({time}, '10 minutes') as window, event_time, n from a) group by window"
    )
    derived = Derived(transforms, [source], query, tmp_path)
    first = derived.step([source.slice([(0, 1, minute(-500), 1), (0, 12, minute(-500), 2)])], [12])
    assert len(held(first)) == 2
    second = derived.step([source.slice([(0, 12, minute(-500), 5)])], [30])
    assert second.late_rows == 0
    assert second.records[-1]["s"] in (7, 8)


def test_windows_made_in_steps_and_united_are_closed(transforms, tmp_path):
    a, b = Input("a", COLUMNS, tmp_path), Input("b", COLUMNS, tmp_path)
    query = [
        ("both", "select event_time as t, k, n from a union all select event_time, k, n from b where n > 0"),
        ("cut", "select window(t, '10 minutes', '5 minutes') as w, k, n from both"),
        (None, "select w.end as event_time, sum(n) as s from cut group by w"),
    ]
    derived = Derived(transforms, [a, b], query, tmp_path)
    first = derived.step([a.slice([(0, 1, "p", 1)]), b.slice([(0, 12, "p", 2)])], [10, 10])
    assert {row["c0.1"] for row in held(first)} == {minute(15), minute(20)}
