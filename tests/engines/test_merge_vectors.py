"""Every merge strategy against the golden cases, operations and order included."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from odf_core.ingest.merge_errors import MergeKeyMissing
from odf_core.ingest.merge_job import MergeEngine
from tests.engines.merge_cases import merge_rows, strategy_of
from tests.vectors import vectors_dir


def _cases(name: str) -> list[Any]:
    folder = vectors_dir()
    if folder is None or not (folder / "merge" / name).exists():
        skip = pytest.mark.skip(reason=f"golden vectors are not beside this checkout (merge/{name})")
        return [pytest.param({}, marks=skip, id=name)]
    listed = json.loads((folder / "merge" / name).read_text())["cases"]
    return [pytest.param(case, id=case["id"]) for case in listed if case.get("kind", "merge") == "merge"]


PIECES = [1, 3] if os.environ.get("ODF_TEST_FULL") else [3]
"""Over how many files input and history are spread."""


@pytest.mark.parametrize("pieces", PIECES)
@pytest.mark.parametrize("case", _cases("strategy_unit_tests.json") + _cases("edge_cases_datafusion54.json"))
def test_a_golden_merge(merge_engine: MergeEngine, tmp_path: Path, case: dict[str, Any], pieces: int) -> None:
    """Where the deployed engine has a bug, the intended result counts."""

    def run() -> list[dict[str, Any]]:
        return merge_rows(
            merge_engine,
            tmp_path,
            strategy=strategy_of(case["strategy"], case["params"]),
            columns=case["new_columns"] or ["year", "city", "population"],
            new=case["new"] or [],
            history=case["prev"],
            pieces=pieces,
        )

    if case.get("expected_error"):
        with pytest.raises(MergeKeyMissing):
            run()
        return
    expected = case.get("intended_expected") or case["expected"]
    got = run()
    assert [
        {name: row[name] for name in wanted} for row, wanted in zip(got, expected, strict=False)
    ] == expected
    assert len(got) == len(expected)
