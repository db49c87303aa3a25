"""Random histories: what holds of every strategy, whatever is put in."""

import json
import os
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odf_core.engines.handle import SparkEngine
from odf_core.engines.merging import SparkMerges
from odf_core.metadata import (
    MergeStrategy,
    MergeStrategyAppend,
    MergeStrategyChangelogStream,
    MergeStrategyLedger,
    MergeStrategySnapshot,
    MergeStrategyUpsertStream,
    ReadStepNdJson,
)
from odf_core.workspace import Workspace
from tests.ingest_spark.making import Maker

pytestmark = pytest.mark.timeout(3600 if os.environ.get("ODF_TEST_FULL") else 300)
EXAMPLES = 100 if os.environ.get("ODF_TEST_FULL") else 2
DDL = ("op INT", "city STRING", "kind STRING", "population BIGINT")
KEY = ("city", "kind")

_values = st.integers(min_value=-3, max_value=3)
_keys = st.tuples(st.sampled_from("abc"), st.sampled_from("xy"))
_states = st.dictionaries(_keys, _values, max_size=5)

thorough = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture
def new_maker(spark_engine: SparkEngine) -> Any:
    def make(merge: MergeStrategy, ddl: tuple[str, ...]) -> Maker:
        folder = Path(tempfile.mkdtemp(prefix="odf-h-"))
        maker = Maker(Workspace.init(folder), SparkMerges(spark_engine, 120.0), folder)
        maker.with_push(ReadStepNdJson(ddl_schema=ddl), merge)
        return maker

    return make


def _lines(rows: list[dict[str, Any]]) -> str:
    return "".join(json.dumps(row) + "\n" for row in rows)


def _row(key: tuple[str, str], value: int) -> dict[str, Any]:
    return {"city": key[0], "kind": key[1], "population": value}


def _folded(maker: Maker) -> dict[tuple[str, str], int]:
    """The state that the slices tell, by applying one record after the other."""
    state: dict[tuple[str, str], int] = {}
    offset = 0
    for number in range(len(maker.history().slices)):
        for row in maker.table(number).to_pylist():
            assert row["offset"] == offset
            offset += 1
            key = (row["city"], row["kind"])
            if row["op"] in (1, 2):
                assert state.pop(key) == row["population"]
            else:
                assert key not in state
                state[key] = row["population"]
    return state


@thorough
@given(history=st.lists(_states, min_size=1, max_size=3))
def test_folding_snapshots_gives_the_last_one(new_maker: Any, history: list[Any]) -> None:
    maker = new_maker(MergeStrategySnapshot(primary_key=KEY), DDL[1:])
    for state in history:
        text = _lines([_row(key, value) for key, value in state.items()])
        old = maker.history().slices
        maker.push(text)
        assert maker.history().slices[: len(old)] == old
        assert _folded(maker) == state
        assert not maker.push(text).is_updated


@thorough
@given(history=st.lists(st.lists(st.tuples(_keys, st.none() | _values), max_size=6), min_size=1, max_size=3))
def test_folding_upserts_gives_the_last_state(new_maker: Any, history: list[Any]) -> None:
    """A value of None is a deletion."""
    maker = new_maker(MergeStrategyUpsertStream(primary_key=KEY), DDL)
    state: dict[tuple[str, str], int] = {}
    for batch in history:
        rows = []
        for key, value in batch:
            rows.append(_row(key, 0 if value is None else value) | {"op": 1 if value is None else 0})
            if value is None:
                state.pop(key, None)
            else:
                state[key] = value
        old = maker.history().slices
        maker.push(_lines(rows))
        assert maker.history().slices[: len(old)] == old
        assert _folded(maker) == state
        assert not maker.push(_lines(rows)).is_updated


@thorough
@given(history=st.lists(st.lists(st.tuples(_keys, _values), max_size=4), min_size=1, max_size=3))
@pytest.mark.parametrize("kind", ["Append", "Ledger", "ChangelogStream"])
def test_other_strategies_only_add(new_maker: Any, kind: str, history: list[Any]) -> None:
    """Ingesting the same again adds nothing to a ledger, and all of it to the others."""
    merge: MergeStrategy = MergeStrategyAppend()
    if kind == "Ledger":
        merge = MergeStrategyLedger(primary_key=KEY)
    if kind == "ChangelogStream":
        merge = MergeStrategyChangelogStream(primary_key=KEY)
    maker = new_maker(merge, DDL if kind == "ChangelogStream" else DDL[1:])
    for batch in history:
        rows = [_row(key, value) | ({"op": 0} if kind == "ChangelogStream" else {}) for key, value in batch]
        old = maker.history().slices
        maker.push(_lines(rows))
        again = maker.push(_lines(rows))
        assert maker.history().slices[: len(old)] == old
        assert again.num_records == (0 if kind == "Ledger" else len(rows))
