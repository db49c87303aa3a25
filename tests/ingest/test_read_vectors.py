"""The inputs of the golden ingest vectors, as far as reading and the default preprocess go."""

import json

import pytest

from odf_core.data import DefaultVocabulary
from odf_core.ingest.read import default_preprocess, read_step_for
from odf_core.metadata import ReadStepCsv, ReadStepNdJson
from tests.ingest.read_helpers import rows, stage, types
from tests.vectors import require_vectors

CITIES = ("date TIMESTAMP", "city STRING", "population BIGINT")


def cases(name):
    return {case["id"]: case for case in json.loads(require_vectors(f"ingest/{name}").read_text())["cases"]}


def test_writer_rounds_are_read_by_their_ddl(tmp_path):
    seen = 0
    for case in cases("writer_rounds.json").values():
        for round_ in case["rounds"]:
            if not round_.get("input_csv") or not round_.get("read_schema_ddl"):
                continue
            step = ReadStepCsv(header=True, ddl_schema=(round_["read_schema_ddl"],))
            staged = stage(step, round_["input_csv"], tmp_path)
            lines = round_["input_csv"].splitlines()
            assert staged.schema.names == lines[0].split(",")
            assert len(rows(staged)) == len(lines) - 1
            seen += 1
    assert seen >= 20


def test_the_ledger_scenario(tmp_path):
    step = ReadStepCsv(header=True, ddl_schema=CITIES)
    for round_ in cases("polling_push.json")["polling_ledger"]["rounds"]:
        staged = stage(step, round_["input"], tmp_path)
        found = [(str(row["date"].date()), row["city"], str(row["population"])) for row in rows(staged)]
        assert found == [tuple(line.split(",")) for line in round_["input"].splitlines()[1:]]
        assert staged.has_read_schema


def test_the_media_type_overrides_the_declared_step(tmp_path):
    declared = ReadStepNdJson(ddl_schema=CITIES)
    found = []
    for round_ in cases("polling_push.json")["push_media_type_override"]["rounds"]:
        step = read_step_for(round_["media_type"], declared)
        found += [(row["city"], row["population"]) for row in rows(stage(step, round_["input"], tmp_path))]
    assert found == [("A", 1000), ("B", 2000), ("C", 3000)]


@pytest.mark.parametrize(
    "name", ["inference_event_time_string", "inference_event_time_unix", "inference_rename_conflict"]
)
def test_default_preprocess(tmp_path, name):
    case = cases("polling_push.json")[name]
    staged = stage(ReadStepNdJson(), case["input"], tmp_path)
    made = default_preprocess(staged, DefaultVocabulary(), "Append", tmp_path / "staged")
    (row,) = rows(made)
    expected = {k: v for k, v in case["expected_rows"][0].items() if k not in ("offset", "op")}
    if "event_time" in expected:
        text = row.pop("event_time").isoformat(timespec="milliseconds").replace("+00:00", "Z")
        assert text.replace(".000Z", "Z") == expected.pop("event_time")
        assert types(made)["event_time"] == "timestamp[ms, tz=UTC]"
    assert row == expected
    if "expected_columns" in case:
        assert list(row) == case["expected_columns"][4:]


def test_a_null_in_a_required_column_is_left_to_the_writer(tmp_path):
    round_ = cases("polling_push.json")["predefined_schema_null_in_required"]["rounds"][1]
    step = ReadStepNdJson(ddl_schema=("date DATE", "city STRING NOT NULL", "population BIGINT NOT NULL"))
    staged = stage(step, round_["input"], tmp_path)
    assert [row["population"] for row in rows(staged)] == [None, 5000]
    assert types(staged)["population"] == "int64!"
