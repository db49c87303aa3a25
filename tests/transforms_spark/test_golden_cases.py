"""The golden case of the deployed Spark engine (vectors/transform), as far as our semantics admit it.

Where a step gives no rows the deployed engine leaves no file and ours an empty one, for its schema.
"""

import json

import pyarrow as pa

from tests.transforms_spark.stepping import INSTANT, Derived, Input, minute
from tests.vectors import require_vectors

COLUMNS = pa.schema([pa.field("symbol", pa.string()), pa.field("value", pa.int64())])


def case() -> dict:
    found = json.loads(require_vectors("transform/transform_cases.json").read_text())["cases"]
    return next(item for item in found if item["id"] == "spark_map_basic")


def number(mark: str) -> int:
    return int(mark.removeprefix("t"))


def records_of(rows: list[list]) -> list[tuple]:
    """Offset, operation, system time, event time, symbol, value."""
    return [(op, number(event_time), symbol, value) for _, op, _, event_time, symbol, value in rows]


def told(step) -> list[list]:
    names = ("offset", "op", "event_time", "symbol", "value")
    return [[row[name] for name in names] for row in step.records]


def expected(rows: list[list]) -> list[list]:
    return [
        [offset, op, minute(number(event_time)), symbol, value]
        for offset, op, _, event_time, symbol, value in rows
    ]


def test_a_map_query_hands_operations_on(transforms, tmp_path):
    rounds = case()["rounds"]
    source = Input("in", COLUMNS, tmp_path)
    made = Derived(transforms, [source], case()["query"], tmp_path)
    for place, content in enumerate(rounds):
        assert made.next_offset == content["next_offset"]
        given = content["in"]
        if isinstance(given, str):  # two files, of which the case says no more than the offsets
            slices = [source.slice([(0, 3, "A", 1), (0, 3, "B", 2)]) for _ in range(2)]
        else:
            slices = source.slice(records_of(given))
        step = made.step([slices], [number(content["wm"])])
        if "out" in content:
            assert told(step) == expected(content["out"]), place
        if "new_offset_interval" in content:
            interval = content["new_offset_interval"]
            assert (None if step.interval is None else [step.interval.start, step.interval.end]) == interval
        if "new_watermark" in content:
            assert step.watermark.to_datetime() == minute(number(content["new_watermark"]))
        assert step.table.schema.names == ["offset", "op", "system_time", "event_time", "symbol", "value"]
    assert step.table.schema.field("event_time").type == INSTANT
    assert step.table.schema.types[-2:] == [pa.string(), pa.int64()]
