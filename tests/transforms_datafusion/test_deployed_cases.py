"""The golden cases of the deployed DataFusion engine (vectors/transform), and its rules (data.md 4.5)."""

import json
from datetime import UTC, date, datetime

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.engines.datafusion.transform import DataFusionTransforms
from odf_core.engines.errors import QueryInvalid
from odf_core.metadata import OffsetInterval, SqlQueryStep, Timestamp, TransformSql
from odf_core.transform.errors import InvalidQueryResult
from odf_core.transform.request import TransformRequest, TransformRequestInput, Watermark
from odf_core.workspace.adding import new_dataset_id
from tests.transforms_spark.stepping import INSTANT, VOCAB
from tests.vectors import require_vectors

CITIES = pa.schema(
    [
        pa.field("offset", pa.int64(), nullable=False),
        pa.field("op", pa.int32(), nullable=False),
        pa.field("system_time", INSTANT, nullable=False),
        pa.field("event_time", INSTANT, nullable=False),
        pa.field("city", pa.string(), nullable=False),
        pa.field("population", pa.int64(), nullable=False),
    ]
)
ENGINE = DataFusionTransforms()


def cases() -> dict[str, dict]:
    found = json.loads(require_vectors("transform/transform_cases.json").read_text())["cases"]
    return {case["id"]: case for case in found}


def case_of(name: str) -> dict:
    """A case; what it leaves unsaid is as in the basic one."""
    found = cases()
    return {**found["df_basic"], "expected_rows": None, **found[name]} if name != "df_basic" else found[name]


def moment(text: str) -> datetime:
    return datetime.fromisoformat(text).astimezone(UTC)


def run(case: dict, folder):
    """What the engine leaves: the outcome and the table."""
    empty = isinstance(case["inputs"], str)
    inputs = {"foo": {"rows": []}} if empty else case["inputs"]
    asked = []
    for name, content in inputs.items():
        rows = [
            {key: moment(value) if key.endswith("_time") else value for key, value in row.items()}
            for row in content["rows"]
        ]
        pq.write_table(CITIES.empty_table(), folder / f"{name}-schema")
        pq.write_table(pa.Table.from_pylist(rows, schema=CITIES), folder / name)
        marks = case.get("explicit_watermarks") or content.get("explicit_watermarks") or ()
        asked.append(
            TransformRequestInput(
                dataset_id=new_dataset_id(),
                dataset_alias=name,
                query_alias=name,
                vocab=VOCAB,
                offset_interval=OffsetInterval(start=0, end=len(rows) - 1) if rows else None,
                data_paths=(str(folder / name),) if rows else (),
                schema_file=str(folder / f"{name}-schema"),
                explicit_watermarks=tuple(
                    Watermark(system_time=Timestamp.parse(mark), event_time=Timestamp.parse(mark))
                    for mark in marks
                ),
            )
        )
    queries = tuple(SqlQueryStep(query=step["query"], alias=step.get("alias")) for step in case["queries"])
    request = TransformRequest(
        dataset_id=new_dataset_id(),
        dataset_alias="bar",
        system_time=Timestamp.parse(case["system_time"]),
        vocab=VOCAB,
        transform=TransformSql(engine="datafusion", queries=queries),
        query_inputs=tuple(asked),
        next_offset=case["next_offset"],
        new_checkpoint_path=str(folder / "checkpoint"),
        new_data_path=str(folder / "data"),
    )
    done = ENGINE.execute(request, lambda word: None)
    assert not (folder / "checkpoint").exists()
    return done, pq.read_table(folder / "data")


@pytest.mark.parametrize(
    "name", ["df_basic", "df_watermark", "df_empty_result", "df_empty_input", "df_output_offset"]
)
def test_what_the_deployed_engine_leaves(name, tmp_path):
    case = case_of(name)
    done, table = run(case, tmp_path)
    response = case["expected_response"]
    if "newOffsetInterval" in response:
        interval = done.new_offset_interval
        told = None if interval is None else [interval.start, interval.end]
        assert told == response["newOffsetInterval"]
    if "newWatermark" in response:
        told = None if done.new_watermark is None else str(done.new_watermark)
        assert told == response["newWatermark"]
    assert table.schema.equals(CITIES)
    if case["expected_rows"] is not None:
        rows = [
            {key: moment(value) if key.endswith("_time") else value for key, value in row.items()}
            for row in case["expected_rows"]
        ]
        assert table.to_pylist() == rows


@pytest.mark.parametrize(
    ("name", "error"), [("df_bad_sql", QueryInvalid), ("df_event_time_bad", InvalidQueryResult)]
)
def test_what_the_deployed_engine_refuses(name, error, tmp_path):
    case = case_of(name)
    assert case["expected_error"] == "InvalidQuery"
    with pytest.raises(error):
        run(case, tmp_path)
    assert not (tmp_path / "data").exists()


def test_an_event_time_may_be_a_date(tmp_path):
    _, table = run(case_of("df_event_time_date"), tmp_path)
    assert table.schema.field("event_time").type == pa.date32()
    assert table.column("event_time").to_pylist() == [date(2023, 1, 1)] * 3


def test_a_time_without_a_zone_is_one_of_utc(tmp_path):
    _, table = run(case_of("df_naive_timestamp_coerced"), tmp_path)
    assert table.schema.field("event_time").type == INSTANT
    assert table.column("event_time").to_pylist() == [datetime(2023, 1, 1, tzinfo=UTC)] * 3
