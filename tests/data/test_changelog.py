"""The state that a changelog comes to."""

import json
from collections import Counter
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.chain import Projection, Vocabulary
from odf_core.chain.keys import primary_key_of
from odf_core.data.changelog import ChangelogColumnMissing, fold
from odf_core.metadata import MergeStrategyLedger, MergeStrategySnapshot
from tests.builders.chain_builder import chain
from tests.vectors import require_vectors

APPEND, RETRACT, FROM, TO = range(4)


def log(*rows: tuple[int, Any, Any]) -> Any:
    """Records of (operation, key, value), their offsets from 0 on."""
    ops, keys, values = zip(*rows, strict=True) if rows else ((), (), ())
    return pa.table(
        {
            "offset": pa.array(range(len(rows)), pa.int64()),
            "op": pa.array(ops, pa.int32()),
            "system_time": pa.array([0] * len(rows), pa.timestamp("ms", "UTC")),
            "key": pa.array(keys, pa.int64()),
            "value": pa.array(values, pa.string()),
        }
    )


def state(table: Any, **options: Any) -> dict[Any, Any]:
    found = fold(table, None, ["key"], **options)
    return dict(zip(found.column("key").to_pylist(), found.column("value").to_pylist(), strict=True))


HISTORY = log(
    (APPEND, 1, "a"),
    (APPEND, 2, "b"),
    (FROM, 1, "a"),
    (TO, 1, "c"),
    (RETRACT, 2, "b"),
    (APPEND, 3, None),
    (APPEND, 2, "d"),
)


def test_the_state_by_key_at_any_offset() -> None:
    states = [state(HISTORY, as_of=offset) for offset in range(-1, 7)]
    assert states == [
        {},
        {1: "a"},
        {1: "a", 2: "b"},
        {1: "a", 2: "b"},
        {1: "c", 2: "b"},
        {1: "c"},
        {1: "c", 3: None},
        {1: "c", 3: None, 2: "d"},
    ]
    assert state(HISTORY) == states[-1]


def test_rows_keep_their_columns_and_stand_by_offset() -> None:
    found = fold(HISTORY.take([6, 5, 4, 3, 2, 1, 0]), None, ["key"])
    assert found.schema == HISTORY.schema
    assert found.column("offset").to_pylist() == [3, 5, 6]


def test_nulls_in_keys_are_alike() -> None:
    assert state(log((APPEND, None, "a"), (APPEND, None, "b"))) == {None: "b"}


def test_without_a_key_rows_cancel_each_other() -> None:
    table = log((APPEND, 1, "a"), (APPEND, 1, "a"), (RETRACT, 1, "a"), (FROM, 2, "x"), (APPEND, 2, "x"))
    assert fold(table).column("offset").to_pylist() == [1]
    assert fold(table, as_of=1).column("offset").to_pylist() == [0, 1]
    assert fold(HISTORY).column("offset").to_pylist() == [3, 5, 6]
    assert fold(log()).num_rows == 0


def test_keys_and_values_of_any_type() -> None:
    nested = [[{"a": 1}], [{"a": 1}], None, [{"a": 2}]]
    table = pa.table({"offset": range(4), "op": [0, 1, 0, 0], "key": nested})
    assert fold(table, None, ["key"]).column("offset").to_pylist() == [2, 3]
    assert fold(table).column("offset").to_pylist() == [2, 3]
    floats = pa.table({"offset": range(3), "op": [0, 1, 0], "x": [float("nan"), float("nan"), 1.0]})
    assert fold(floats).column("offset").to_pylist() == [2]
    chunked = pa.concat_tables([HISTORY.slice(0, 3), HISTORY.slice(3)])
    assert fold(chunked, None, ["key", "value"]).num_rows == 3 + 1  # (1, a) ends with a -C, not with a -R


def test_other_names_of_system_columns() -> None:
    table = HISTORY.rename_columns(["n", "operation", "at", "key", "value"])
    names = Vocabulary(offset_column="n", operation_type_column="operation", system_time_column="at")
    assert fold(table, names, ["key"]).column("n").to_pylist() == [3, 5, 6]
    with pytest.raises(ChangelogColumnMissing, match="no column offset, op, nothing"):
        fold(table, None, ["nothing"])


@given(st.lists(st.tuples(st.integers(0, 4), st.sampled_from(["a", "b", None])), max_size=20))
def test_any_history_of_upserts_and_deletes(steps: list[tuple[int, str | None]]) -> None:
    """`None` deletes. The changelog is that of the strategies: corrections in pairs, no idle steps."""
    rows: list[tuple[int, int, str]] = []
    states: list[tuple[int, dict[int, str]]] = []
    now: dict[int, str] = {}
    for key, value in steps:
        if key in now and value is None:
            rows.append((RETRACT, key, now.pop(key)))
        elif key in now and value is not None and value != now[key]:
            rows += [(FROM, key, now[key]), (TO, key, value)]
            now[key] = value
        elif key not in now and value is not None:
            rows.append((APPEND, key, value))
            now[key] = value
        states.append((len(rows) - 1, dict(now)))
    for offset, expected in states:
        assert state(log(*rows), as_of=offset) == expected
        without_key = fold(log(*rows), as_of=offset).select(["key", "value"]).to_pylist()
        assert Counter((row["key"], row["value"]) for row in without_key) == Counter(expected.items())


def vector_cases(kind: str) -> list[Any]:
    cases = json.loads(require_vectors("merge/strategy_unit_tests.json").read_text())["cases"]
    found = [item for item in cases if (item["strategy"], item["kind"]) == ("Snapshot", kind)]
    return [item for item in found if item["expected"] is not None]


def vector_table(case: Any, rows: list[Any]) -> Any:
    schema = pa.schema([(name, _TYPES[kind]) for name, kind in case["types"].items()])
    return pa.Table.from_pylist([{"offset": number, **row} for number, row in enumerate(rows)], schema)


def test_the_projections_of_the_vectors() -> None:
    for case in vector_cases("project"):
        found = fold(vector_table(case, case["prev"]), None, case["params"]["primary_key"])
        expected = [
            {name: row[name] for name in found.column_names if name in row} for row in case["expected"]
        ]
        columns = list(expected[0]) if expected else []
        by_text = sorted(map(str, found.select(columns).to_pylist() if columns else []))
        assert by_text == sorted(map(str, expected)), case["id"]
        assert found.num_rows == len(expected)


def test_snapshots_of_the_vectors_fold_to_what_was_put_in() -> None:
    for case in vector_cases("merge"):
        table = vector_table(case, [*(case["prev"] or ()), *case["expected"]])
        columns = [name for name in case["new_columns"] if name != case["vocab"].get("event_time_column")]
        found = fold(table, None, case["params"]["primary_key"]).select(columns).to_pylist()
        wanted = [{name: row[name] for name in columns} for row in case["new"]]
        assert sorted(map(str, found)) == sorted(map(str, wanted)), case["id"]


_TYPES = {"Int64": pa.int64(), "Int32": pa.int32(), "Utf8": pa.string()}


def test_the_key_of_a_dataset() -> None:
    def key(builder: Any) -> tuple[str, ...] | None:
        return primary_key_of(Projection.of(builder.blocks))

    ledger, snapshot = (
        strategy(primary_key=names)
        for strategy, names in ((MergeStrategyLedger, ("a", "b")), (MergeStrategySnapshot, ("c",)))
    )
    assert key(chain().seed()) is None
    assert key(chain().seed().push_source()) is None
    assert key(chain().seed().polling_source(merge=ledger)) == ("a", "b")
    assert key(chain().seed().push_source("x", merge=snapshot).push_source("y", merge=snapshot)) == ("c",)
    assert key(chain().seed().push_source("x", merge=snapshot).push_source("y", merge=ledger)) is None
