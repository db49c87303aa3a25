"""The read steps Json, NdJson, GeoJson and NdGeoJson."""

import json
from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odf_core.errors import OdfError
from odf_core.ingest.read import (
    DuplicateInputColumn,
    InputLimitExceeded,
    MalformedInput,
    UnexpectedInputShape,
    UnsupportedInputType,
    ValueDoesNotFit,
    WrongInputEncoding,
)
from odf_core.limits import Limits
from odf_core.metadata import ReadStepGeoJson, ReadStepJson, ReadStepNdGeoJson, ReadStepNdJson
from tests.ingest.read_helpers import rows, stage, types

DDL = ("date TIMESTAMP", "city STRING", "population BIGINT")
POINT = {"type": "Point", "coordinates": [125.6, 10, -0.5]}
FEATURES = [
    {"type": "Feature", "properties": {"name": "A", "zip": 1}, "geometry": POINT, "id": 7},
    {"type": "Feature", "properties": {"name": "B", "area": 1.5}, "geometry": None},
]


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


def both(step, records, tmp_path, **options):
    """The same records as NdJson and as Json."""
    first = stage(ReadStepNdJson(**step), lines(*records), tmp_path / "lines", **options)
    second = stage(ReadStepJson(**step), json.dumps(records), tmp_path / "array", **options)
    assert types(first) == types(second)
    assert rows(first) == rows(second)
    return second


def test_columns_are_matched_by_name(tmp_path):
    records = [
        {"population": 1, "unknown": [1], "city": "A", "date": "2020-01-01"},
        {"date": "2020-01-01T00:00:00-01:00"},
        {"population": "3", "city": None},
    ]
    staged = both({"ddl_schema": DDL}, records, tmp_path)
    assert types(staged) == {"date": "timestamp[ms, tz=UTC]", "city": "string", "population": "int64"}
    assert [tuple(row.values()) for row in rows(staged)] == [
        (datetime(2020, 1, 1, tzinfo=UTC), "A", 1),
        (datetime(2020, 1, 1, 1, tzinfo=UTC), None, None),
        (None, None, 3),
    ]
    assert staged.has_read_schema


def test_inferred_columns_are_alphabetical_and_later_ones_follow(tmp_path):
    staged = both({}, [{"op": 1, "foo": "bar"}, {"zz": True, "aa": 2.5, "foo": None}], tmp_path)
    assert types(staged) == {"foo": "string", "op": "int64", "aa": "double", "zz": "bool"}
    assert not staged.has_read_schema


def test_types_are_inferred_from_all_of_the_sample(tmp_path):
    records = [
        {"n": 1, "m": 1, "big": 1 << 70, "o": {"y": 1}, "l": [], "none": None, "e": [None]},
        {"n": 2.5, "m": "x", "big": 1, "o": {"x": [1, 2]}, "l": [{"a": 1}, {"b": 2}], "none": None, "e": []},
    ]
    staged = both({}, records, tmp_path)
    assert types(staged) == {
        "big": "string",
        "e": "list<item: string>",
        "l": "list<item: struct<a: int64, b: int64>>",
        "m": "string",
        "n": "double",
        "none": "string",
        "o": "struct<y: int64, x: list<item: int64>>",
    }
    assert rows(staged)[0]["big"] == str(1 << 70)
    assert rows(staged)[1]["o"] == {"y": None, "x": [1, 2]}


def test_all_kinds_of_values(tmp_path):
    ddl = (
        "i TINYINT", "f FLOAT", "m DECIMAL(6,2)", "d DATE", "t TIME", "x BINARY", "l ARRAY<STRING>",
        "s STRUCT<a: INT, b: ARRAY<DATE>>", "k MAP<STRING, INT>", "b BOOLEAN",
    )  # fmt: skip
    record = {
        "i": 5.0, "f": 1, "m": 12.5, "d": "2020-1-5", "t": "12:30", "x": "00ff", "b": "true",
        "l": [1, True, None, "x", 2.5], "s": {"a": 1, "b": ["2020-01-01"]}, "k": {"a": 1, "b": None},
    }  # fmt: skip
    staged = both({"ddl_schema": ddl}, [record, {}], tmp_path)
    first, second = rows(staged)
    assert (first["i"], first["f"], first["m"], first["d"]) == (5, 1.0, Decimal("12.50"), date(2020, 1, 5))
    assert first["l"] == ["1", "true", None, "x", "2.5"]
    assert first["s"] == {"a": 1, "b": [date(2020, 1, 1)]}
    assert first["k"] == [("a", 1), ("b", None)]
    assert first["x"] == b"\x00\xff"
    assert first["b"] is True
    assert set(second.values()) == {None}


def test_decimals_keep_their_digits(tmp_path):
    text = '{"x": 12345678901234567890.123456789}'
    step = {"ddl_schema": ("x DECIMAL(38,9)",)}
    for staged in (
        stage(ReadStepNdJson(**step), text, tmp_path),
        stage(ReadStepJson(**step), f"[{text}]", tmp_path),
    ):
        assert rows(staged) == [{"x": Decimal("12345678901234567890.123456789")}]


@pytest.mark.parametrize(
    ("ddl", "value", "column"),
    [
        ("INT", 3000000000, "x"),
        ("INT", 1.5, "x"),
        ("INT", True, "x"),
        ("INT", "one", "x"),
        ("BIGINT", 1 << 63, "x"),
        ("BIGINT", 1e300, "x"),
        ("FLOAT", 1e39, "x"),
        ("DECIMAL(4,1)", 1.55, "x"),
        ("BOOLEAN", 2, "x"),
        ("TIMESTAMP", 1577926923, "x"),
        ("TIMESTAMP", "yesterday", "x"),
        ("DATE", "2020-02-30", "x"),
        ("ARRAY<INT>", [1, "a"], "x[]"),
        ("ARRAY<STRUCT<y: INT>>", [{"y": 1}, {"y": 1.5}], "x[].y"),
        ("MAP<STRING,INT>", {"k": "v"}, "x{}"),
    ],
)
def test_values_that_do_not_fit_are_refused_with_their_row(tmp_path, ddl, value, column):
    step = {"ddl_schema": (f"x {ddl}",)}
    for kind, text in (
        (ReadStepNdJson, lines({}, {"x": value})),
        (ReadStepJson, json.dumps([{}, {"x": value}])),
    ):
        with pytest.raises(ValueDoesNotFit) as caught:
            stage(kind(**step), text, tmp_path)
        assert caught.value.extras == {"file": "input.dat", "row": 2, "column": column}
        assert list((tmp_path / "staged").iterdir()) == []


@pytest.mark.parametrize(
    ("ddl", "value", "told"),
    [
        ("INT", {"a": 1}, "an object stands where a single value is due"),
        ("STRING", [1], "an array stands where a single value is due"),
        ("ARRAY<INT>", {"a": 1}, "an object stands where an array is due"),
        ("ARRAY<INT>", 1, "a number stands where an array is due"),
        ("STRUCT<a: INT>", [1], "an array stands where an object is due"),
        ("MAP<STRING,INT>", "x", "a string stands where an object is due"),
    ],
)
def test_other_shapes_than_declared_are_refused(tmp_path, ddl, value, told):
    with pytest.raises(UnexpectedInputShape, match=told) as caught:
        stage(ReadStepNdJson(ddl_schema=(f"x {ddl}",)), lines({}, {"x": value}), tmp_path)
    assert caught.value.extras == {"file": "input.dat", "row": 2, "column": "x"}


def test_shapes_that_differ_within_the_sample_are_refused(tmp_path):
    for first, second in (({"a": 1}, 1), ([1], {"a": 1}), (1, [1])):
        with pytest.raises(UnexpectedInputShape) as caught:
            stage(ReadStepNdJson(), lines({"x": first}, {"x": second}), tmp_path)
        assert caught.value.extras["row"] == 2
    with pytest.raises(UnsupportedInputType):
        stage(ReadStepNdJson(), lines({"x": {}, "y": 1}), tmp_path)
    with pytest.raises(UnexpectedInputShape):
        stage(ReadStepNdJson(), lines({}), tmp_path)


def test_what_comes_behind_the_sample_must_fit_it(tmp_path):
    head = [{"a": 1}] * 1000
    with pytest.raises(ValueDoesNotFit) as fits:
        stage(ReadStepNdJson(), lines(*head, {"a": "x"}), tmp_path)
    assert fits.value.extras == {"file": "input.dat", "row": 1001, "column": "a"}
    with pytest.raises(UnexpectedInputShape) as shape:
        stage(ReadStepNdJson(), lines(*head, {"a": 1}, {"a": 1, "b": 2}), tmp_path)
    assert shape.value.extras == {"file": "input.dat", "row": 1002, "column": "b"}


def test_a_sub_path_leads_to_the_array(tmp_path):
    document = {"note": [1], "a": {"b": {"c": [{"x": 1}, {"x": 2}]}}, "z": {"c": [5]}}
    staged = stage(ReadStepJson(sub_path="a.b.c"), json.dumps(document), tmp_path)
    assert rows(staged) == [{"x": 1}, {"x": 2}]
    for sub_path, told in (
        ("a.b", "an object stands at 'a.b'"),
        ("a.c", "nothing at 'a.c'"),
        (None, "subPath"),
    ):
        with pytest.raises(UnexpectedInputShape, match=told):
            stage(ReadStepJson(sub_path=sub_path), json.dumps(document), tmp_path)


@pytest.mark.parametrize("encoding", ["utf-16", "windows-1251"])
def test_other_encodings_and_marks(tmp_path, encoding):
    data = '[{"a": "Ж"}]'
    assert rows(stage(ReadStepJson(encoding=encoding), data.encode(encoding), tmp_path)) == [{"a": "Ж"}]
    assert rows(stage(ReadStepJson(), data.encode("utf-8-sig"), tmp_path)) == [{"a": "Ж"}]
    step = ReadStepNdJson(encoding=encoding)
    assert rows(stage(step, data[1:-1].encode(encoding), tmp_path)) == [{"a": "Ж"}]
    assert rows(stage(ReadStepNdJson(), data[1:-1].encode("utf-8-sig"), tmp_path)) == [{"a": "Ж"}]


@pytest.mark.parametrize("kind", [ReadStepJson, ReadStepNdJson])
def test_formats_of_dates_and_timestamps(tmp_path, kind):
    step = kind(
        ddl_schema=("d DATE", "t TIMESTAMP"), date_format="dd.MM.yyyy", timestamp_format="yyyy-MM-dd HH:mm"
    )
    record = '{"d": "31.12.2020", "t": "2020-12-31 23:59"}'
    staged = stage(step, f"[{record}]" if kind is ReadStepJson else record, tmp_path)
    assert rows(staged) == [{"d": date(2020, 12, 31), "t": datetime(2020, 12, 31, 23, 59, tzinfo=UTC)}]


@pytest.mark.parametrize(
    ("kind", "empty"),
    [
        (ReadStepJson, ""), (ReadStepJson, "[]"), (ReadStepNdJson, ""), (ReadStepNdJson, "\n \n"),
        (ReadStepGeoJson, ""), (ReadStepGeoJson, '{"type": "FeatureCollection", "features": []}'),
        (ReadStepNdGeoJson, ""),
    ],
)  # fmt: skip
def test_nothing_is_no_data_frame_without_a_schema_and_no_records_with_one(tmp_path, kind, empty):
    assert stage(kind(), empty, tmp_path) is None
    staged = stage(kind(ddl_schema=("a INT",)), empty, tmp_path)
    assert (staged.files, staged.num_records, staged.schema.names) == ((), 0, ["a"])


def test_blank_lines_and_line_ends_do_no_harm(tmp_path):
    text = '\r\n{"a": 1}\r\n\n  \n{"a": 2}'
    assert rows(stage(ReadStepNdJson(), text, tmp_path)) == [{"a": 1}, {"a": 2}]


def test_many_records_are_cut_into_files_in_order(tmp_path):
    records = [{"n": n, "s": "x" * 40} for n in range(50_000)]
    staged = both({}, records, tmp_path, split_bytes=500_000)
    assert len(staged.files) > 3
    assert [row["n"] for row in rows(staged)] == list(range(50_000))


def test_the_row_of_a_faulty_line_is_told(tmp_path):
    text = lines(*[{"n": n, "s": "x" * 40} for n in range(50_000)])
    with pytest.raises(MalformedInput) as caught:
        stage(ReadStepNdJson(), text + '{"n": 1', tmp_path)
    assert caught.value.extras == {"file": "input.dat", "row": 50_001}
    with pytest.raises(WrongInputEncoding) as encoding:
        stage(ReadStepNdJson(), text.encode() + b'{"s": "\xff"}', tmp_path)
    assert encoding.value.extras["byte"] == len(text) + 7
    with pytest.raises(UnexpectedInputShape) as shape:
        stage(ReadStepNdJson(), text + "[]\n", tmp_path)
    assert shape.value.extras == {"file": "input.dat", "row": 50_001}


def test_features_are_properties_and_a_text(tmp_path):
    expected = [
        {"geometry": '{"coordinates":[125.6,10,-0.5],"type":"Point"}', "name": "A", "zip": 1, "area": None},
        {"geometry": None, "name": "B", "zip": None, "area": 1.5},
    ]
    document = json.dumps({"type": "FeatureCollection", "features": FEATURES})
    for staged in (
        stage(ReadStepGeoJson(), document, tmp_path),
        stage(ReadStepNdGeoJson(), lines(*FEATURES), tmp_path),
    ):
        assert list(types(staged)) == ["geometry", "name", "zip", "area"]
        assert rows(staged) == expected
    ddl = ("zip INT", "geometry STRING")
    staged = stage(ReadStepGeoJson(ddl_schema=ddl), document, tmp_path)
    assert [list(row) for row in rows(staged)] == [["zip", "geometry"]] * 2


def test_the_type_of_a_collection_may_stand_behind_its_features(tmp_path):
    document = json.dumps({"features": FEATURES, "type": "FeatureCollection"})
    assert len(rows(stage(ReadStepGeoJson(), document, tmp_path))) == 2


@pytest.mark.parametrize(
    ("feature", "error"),
    [
        ({"type": "Point", "coordinates": [1, 2]}, UnexpectedInputShape),
        ({"type": "Feature", "properties": [1], "geometry": None}, UnexpectedInputShape),
        ({"type": "Feature", "properties": {"geometry": 1}, "geometry": None}, DuplicateInputColumn),
    ],
)
def test_what_is_no_feature_is_refused_with_its_row(tmp_path, feature, error):
    with pytest.raises(error) as caught:
        stage(ReadStepNdGeoJson(), lines(FEATURES[0], feature), tmp_path)
    assert caught.value.extras["row"] == 2


def test_bounds_hold(tmp_path):
    with pytest.raises(InputLimitExceeded):
        stage(ReadStepNdJson(), '{"a": "' + "x" * 3_000_000, tmp_path, record_bytes=1_000_000)
    long = '{"before": "' + "x" * 3_000_000 + '", "rows": [{"a": 1}, {"a": "'
    step = ReadStepJson(sub_path="rows")
    assert len(rows(stage(step, long + 'x"}]}', tmp_path, record_bytes=1_000_000))) == 2
    with pytest.raises(InputLimitExceeded) as caught:
        stage(step, long + "x" * 3_000_000 + '"}]}', tmp_path, record_bytes=1_000_000)
    assert caught.value.extras["row"] == 2
    with pytest.raises(InputLimitExceeded):
        stage(ReadStepNdJson(), lines({"a": 1, "b": {"c": 1}}), tmp_path, limits=Limits(slice_columns=2))
    deep = '{"a": ' + "[" * 100 + "]" * 100 + "}"
    with pytest.raises(InputLimitExceeded):
        stage(ReadStepNdJson(), deep, tmp_path)
    deeper = '{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"
    with pytest.raises(MalformedInput):
        stage(ReadStepNdJson(), deeper, tmp_path)


_json = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False)
    | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(_json, max_size=4))
def test_any_json_is_read_or_refused_in_a_sentence(tmp_path, values):
    for kind, text in ((ReadStepNdJson, lines(*values)), (ReadStepJson, json.dumps(values))):
        try:
            staged = stage(kind(), text, tmp_path)
        except OdfError as error:
            assert "input.dat" in error.message
            continue
        assert len(rows(staged) if staged else []) == len(values)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=40), st.sampled_from([ReadStepJson, ReadStepNdJson, ReadStepGeoJson]))
def test_any_bytes_are_read_or_refused_in_a_sentence(tmp_path, data, kind):
    try:
        stage(kind(), data, tmp_path)
    except OdfError as error:
        assert "input.dat" in error.message


def test_features_that_are_no_array_are_refused_without_talk_of_sub_paths(tmp_path):
    for features in ({"a": 1}, None, 5):
        with pytest.raises(UnexpectedInputShape) as caught:
            stage(
                ReadStepGeoJson(), json.dumps({"type": "FeatureCollection", "features": features}), tmp_path
            )
        assert "FeatureCollection has its features" in caught.value.message
    with pytest.raises(UnexpectedInputShape, match="nothing at 'features'"):
        stage(ReadStepGeoJson(), '{"type": "FeatureCollection"}', tmp_path)
