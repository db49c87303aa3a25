"""Rounds of ingest against the golden ones: rows, order, watermarks, refusals."""

import json
from typing import Any

import pytest

from odf_core.ingest.merge_errors import IncompatibleSchema, UnexpectedNulls
from odf_core.metadata import (
    MergeStrategy,
    MergeStrategyAppend,
    MergeStrategyLedger,
    MergeStrategySnapshot,
    ReadStepCsv,
    Timestamp,
)
from tests.ingest_spark.making import Maker, texts
from tests.vectors import vectors_dir

REFUSALS = {
    "WriteDataError::IncompatibleSchema": IncompatibleSchema,
    "WriteDataError::ExecutionError": UnexpectedNulls,
}


def _cases() -> list[Any]:
    folder = vectors_dir()
    if folder is None:
        return [
            pytest.param({}, marks=pytest.mark.skip(reason="golden vectors are not beside this checkout"))
        ]
    listed = json.loads((folder / "ingest" / "writer_rounds.json").read_text())["cases"]
    return [pytest.param(case, id=case["id"]) for case in listed]


def _merge(case: dict[str, Any]) -> MergeStrategy:
    key = tuple(case["params"].get("primary_key", ()))
    match case["merge_strategy"]:
        case "Ledger":
            return MergeStrategyLedger(primary_key=key)
        case "Snapshot":
            return MergeStrategySnapshot(primary_key=key)
        case "Append":
            return MergeStrategyAppend()
    raise AssertionError(case["merge_strategy"])


@pytest.mark.parametrize("case", _cases())
def test_golden_rounds(maker: Maker, case: dict[str, Any]) -> None:
    maker.now = "2010-01-01T00:00:00Z"
    maker.make()
    rounds = case["rounds"]
    for number, step in enumerate(rounds):
        if step["action"].startswith("commit SetDataSchema"):
            maker.declare(_columns(rounds[number + 1]))
        elif step["action"] == "write":
            _write(maker, case, step)


def _write(maker: Maker, case: dict[str, Any], step: dict[str, Any]) -> None:
    maker.now = step["system_time"]
    maker.source(ReadStepCsv(header=True, ddl_schema=tuple(_columns(step))), _merge(case))
    if "expected_error" in step:
        head = maker.dataset.head
        with pytest.raises(REFUSALS[step["expected_error"]]):
            maker.push(step["input_csv"], event_time=step["source_event_time"])
        assert maker.dataset.head == head
        return
    maker.push(step["input_csv"], event_time=step["source_event_time"])
    if "expected_rows" in step:
        assert texts(maker.rows()) == step["expected_rows"]
    if "expected_new_watermark" in step:
        assert maker.last().new_watermark == Timestamp.parse(step["expected_new_watermark"])


def _columns(step: dict[str, Any]) -> list[str]:
    return [item.strip() for item in step["read_schema_ddl"].split(",")]
