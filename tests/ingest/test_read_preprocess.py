"""What happens to records without a preprocess step and without a read schema (data.md 3.3)."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest

from odf_core.data import DefaultVocabulary
from odf_core.ingest.read import ReadOptions, ValueDoesNotFit, default_preprocess
from odf_core.metadata import ReadStepNdJson, ReadStepParquet
from tests.ingest.read_helpers import parquet_bytes, rows, stage, types

VOCAB = DefaultVocabulary()
LINES = ReadStepNdJson()
MOMENT = datetime(2020, 1, 2, 1, 2, 3, tzinfo=UTC)
ALL = ("Append", "Ledger", "Snapshot", "ChangelogStream", "UpsertStream")


def preprocessed(text, tmp_path, strategy="Append", vocab=VOCAB, step=LINES, **options):
    staged = stage(step, text, tmp_path, **options)
    return default_preprocess(staged, vocab, strategy, tmp_path / "staged", ReadOptions(**options))


@pytest.mark.parametrize("strategy", ALL)
def test_columns_named_like_system_columns_are_renamed(tmp_path, strategy):
    made = preprocessed('{"offset": 1, "op": 2, "system_time": 3, "foo": "bar"}', tmp_path, strategy)
    carries_operations = strategy in ("ChangelogStream", "UpsertStream")
    op = "op" if carries_operations else "_op"
    assert rows(made) == [{"foo": "bar", "_offset": 1, op: 2, "_system_time": 3}]
    assert len(list((tmp_path / "staged").iterdir())) == 1


def test_a_new_name_is_a_free_one(tmp_path):
    assert rows(preprocessed('{"op": 1, "_op": 2}', tmp_path)) == [{"_op": 2, "__op": 1}]


def test_names_are_those_of_the_vocabulary(tmp_path):
    vocab = DefaultVocabulary(offset_column="o", operation_type_column="t", event_time_column="when")
    made = preprocessed('{"o": 1, "t": 2, "op": 3, "when": "2020-01-02T01:02:03Z"}', tmp_path, vocab=vocab)
    assert rows(made) == [{"_o": 1, "op": 3, "_t": 2, "when": MOMENT}]


@pytest.mark.parametrize("value", ["1577926923", '"2020-01-02T01:02:03Z"', '"2020-01-02 02:02:03+01:00"'])
def test_event_times_are_read(tmp_path, value):
    made = preprocessed(f'{{"event_time": {value}}}\n{{"event_time": null}}\n', tmp_path)
    assert types(made) == {"event_time": "timestamp[ms, tz=UTC]"}
    assert rows(made) == [{"event_time": MOMENT}, {"event_time": None}]


def test_digits_beyond_milliseconds_are_cut_off(tmp_path):
    made = preprocessed('{"event_time": "2020-01-02T01:02:03.123956789Z"}', tmp_path)
    assert rows(made) == [{"event_time": MOMENT.replace(microsecond=123_000)}]


@pytest.mark.parametrize("type_name", ["int16", "int32", "int64", "uint16", "uint32", "uint64"])
def test_integers_of_all_widths_are_seconds(tmp_path, type_name):
    table = pa.table({"event_time": pa.array([60], getattr(pa, type_name)())})
    made = preprocessed(parquet_bytes(table), tmp_path, step=ReadStepParquet())
    assert rows(made) == [{"event_time": datetime(1970, 1, 1, 0, 1, tzinfo=UTC)}]


@pytest.mark.parametrize("type_name", ["int8", "float64", "date32"])
def test_other_types_are_left_for_the_writer_to_judge(tmp_path, type_name):
    table = pa.table({"event_time": pa.array([6], pa.int32()).cast(getattr(pa, type_name)())})
    staged = stage(ReadStepParquet(), parquet_bytes(table), tmp_path)
    assert default_preprocess(staged, VOCAB, "Append", tmp_path / "staged") is staged


@pytest.mark.parametrize("value", ['"yesterday"', str(1 << 62)])
def test_what_is_no_event_time_is_refused_with_its_row(tmp_path, value):
    text = '{"event_time": null}\n' * 2000 + f'{{"event_time": {value}}}\n'
    with pytest.raises(ValueDoesNotFit) as caught:
        preprocessed(text.replace("null", value.replace("yesterday", "2020-01-01") if '"' in value else "1"),
                     tmp_path, name="log.ndjson", split_bytes=2000)  # fmt: skip
    assert caught.value.extras == {"file": "log.ndjson", "row": 2001, "column": "event_time"}


def test_a_read_schema_leaves_all_as_it_is(tmp_path):
    step = ReadStepNdJson(ddl_schema=("op INT", "event_time STRING"))
    staged = stage(step, '{"op": 1, "event_time": "x"}', tmp_path)
    assert default_preprocess(staged, VOCAB, "Append", tmp_path / "staged") is staged


def test_files_stay_in_order(tmp_path):
    text = "".join(f'{{"op": {n}, "event_time": {n}}}\n' for n in range(20_000))
    made = preprocessed(text, tmp_path, split_bytes=50_000)
    assert len(made.files) > 3
    assert [row["_op"] for row in rows(made)] == list(range(20_000))
    assert not made.has_read_schema
