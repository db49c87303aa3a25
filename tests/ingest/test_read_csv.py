"""The Csv read step: every option, and the habits of CSV files."""

from datetime import UTC, date, datetime
from decimal import Decimal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odf_core.errors import OdfError
from odf_core.ingest.read import (
    DuplicateInputColumn,
    InputLimitExceeded,
    InvalidReadOption,
    MalformedInput,
    ValueDoesNotFit,
    WrongInputEncoding,
    csv_escapes,
)
from odf_core.limits import Limits
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataTypeInt64,
    DataTypeList,
    DataTypeOption,
    DataTypeString,
    DataTypeTimestamp,
    ReadStepCsv,
)
from tests.ingest.read_helpers import rows, stage, types

CITIES = "date,city,population\n2020-01-01,A,1000\n2020-01-01,B,2000\n"
DDL = ("date TIMESTAMP", "city STRING", "population BIGINT")


def values(staged):
    return [tuple(row.values()) for row in rows(staged)]


def test_without_a_schema_all_columns_are_strings(tmp_path):
    staged = stage(ReadStepCsv(header=True), CITIES, tmp_path)
    assert types(staged) == {"date": "string", "city": "string", "population": "string"}
    assert values(staged)[1] == ("2020-01-01", "B", "2000")
    assert not staged.has_read_schema


def test_without_a_header_columns_have_numbers(tmp_path):
    staged = stage(ReadStepCsv(), "1,x\n2,y\n", tmp_path)
    assert list(types(staged)) == ["column_1", "column_2"]
    assert values(staged) == [("1", "x"), ("2", "y")]


def test_a_schema_is_matched_by_position(tmp_path):
    staged = stage(ReadStepCsv(header=True, ddl_schema=("d DATE", "c STRING", "p INT")), CITIES, tmp_path)
    assert types(staged) == {"d": "date32[day]!", "c": "string", "p": "int32"}
    assert values(staged)[0] == (date(2020, 1, 1), "A", 1000)
    assert staged.has_read_schema


def test_odf_fields_are_required_unless_optional_and_nulls_are_staged_all_the_same(tmp_path):
    schema = DataSchema(
        fields=(
            DataField(name="t", type=DataTypeTimestamp()),
            DataField(name="n", type=DataTypeInt64()),
            DataField(name="s", type=DataTypeOption(inner=DataTypeString())),
            DataField(name="l", type=DataTypeList(item_type=DataTypeInt64())),
        )
    )
    staged = stage(ReadStepCsv(schema=schema), '2020-01-01,,x,"[1, null]"\n', tmp_path)
    assert types(staged)["n"] == "int64!"
    assert types(staged)["s"] == "string"
    assert values(staged) == [(datetime(2020, 1, 1, tzinfo=UTC), None, "x", [1, None])]


def test_types_can_be_inferred(tmp_path):
    text = (
        "i,f,b,d,t,fine,mixed,big,none,zero\n"
        "1,1.5,true,2020-01-01,2020-01-01T00:00:00Z,2020-01-01 00:00:00.000001,1,99999999999999999999,,007\n"
        "-2,3,FALSE,2020-01-02,2020-01-02,2020-01-01T00:00:00Z,x,1,,1\n"
    )
    staged = stage(ReadStepCsv(header=True, infer_schema=True), text, tmp_path)
    assert types(staged) == {
        "i": "int64", "f": "double", "b": "bool", "d": "date32[day]", "t": "timestamp[ms, tz=UTC]",
        "fine": "timestamp[us, tz=UTC]", "mixed": "string", "big": "string", "none": "string",
        "zero": "int64",
    }  # fmt: skip
    assert not staged.has_read_schema


def test_inference_looks_at_the_first_rows_and_later_ones_must_fit(tmp_path):
    text = "n\n" + "1\n" * 1000 + "x\n"
    with pytest.raises(ValueDoesNotFit) as caught:
        stage(ReadStepCsv(header=True, infer_schema=True), text, tmp_path)
    assert caught.value.extras == {"file": "input.dat", "row": 1001, "column": "n"}
    assert list((tmp_path / "staged").iterdir()) == []


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ({"separator": ";"}, "a;b,c\n"),
        ({"separator": "\t"}, "a\tb,c\n"),
        ({"quote": "'"}, "a,'b,c'\n"),
        ({"quote": "'", "separator": "|"}, "a|'b,c'\n"),
        ({}, 'a,"b,c"\n'),
        ({"encoding": "utf8"}, '"a","b,c"\n'),
    ],
)
def test_separator_and_quote(tmp_path, option, text):
    assert values(stage(ReadStepCsv(**option), text, tmp_path)) == [("a", "b,c")]


def test_quotes_can_be_turned_off(tmp_path):
    assert values(stage(ReadStepCsv(quote=""), '"a,b"\n', tmp_path)) == [('"a', 'b"')]


@pytest.mark.parametrize(
    ("escape", "text", "value"),
    [
        (None, r'"a\"b"', 'a"b'),
        (None, r'"a\\"', "a\\"),
        (None, '"a""b"', 'a"b'),
        (None, r"C:\temp", r"C:\temp"),
        ("^", '"a^"b"', 'a"b'),
        ("", r'"a\b"', r"a\b"),
        ('"', r'"a\""b"', r"a\"b"),
    ],
)
def test_escapes_are_read_within_quotes_only(tmp_path, escape, text, value):
    assert values(stage(ReadStepCsv(escape=escape), f"{text},x\n", tmp_path)) == [(value, "x")]


def test_empty_values_are_null_quoted_or_not(tmp_path):
    staged = stage(ReadStepCsv(ddl_schema=("a STRING", "b INT", "c STRING")), ',,""\n"",1,x\n', tmp_path)
    assert values(staged) == [(None, None, None), (None, 1, "x")]


def test_a_null_value_comes_beside_the_empty_one_and_leaves_the_header_alone(tmp_path):
    staged = stage(ReadStepCsv(header=True, null_value="NA"), "NA,b\nNA,\nna,x\n", tmp_path)
    assert rows(staged) == [{"NA": None, "b": None}, {"NA": "na", "b": "x"}]


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "windows-1251", "koi8-r"])
def test_other_encodings_are_transcoded(tmp_path, encoding):
    data = ("имя,x\n" + "Ж,1\n" * 1000).encode(encoding)
    staged = stage(ReadStepCsv(header=True, encoding=encoding), data, tmp_path)
    assert staged.schema.names == ["имя", "x"]
    assert set(values(staged)) == {("Ж", "1")}


def test_a_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    staged = stage(ReadStepCsv(header=True), b"\xef\xbb\xbfa,b\n1,2\n", tmp_path)
    assert rows(staged) == [{"a": "1", "b": "2"}]


@pytest.mark.parametrize(
    ("date_format", "timestamp_format", "text", "expected"),
    [
        (None, None, "2020-01-01,2020-01-01T10:00:00+01:00", (date(2020, 1, 1), "09:00:00")),
        ("rfc3339", "rfc3339", "2020-01-01,2020-01-01T09:00", (date(2020, 1, 1), "09:00:00")),
        (None, None, "2020-01-01,2020-01-01t09:00:00.123456789z", (date(2020, 1, 1), "09:00:00.123000")),
        ("yyyy-MM-dd", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "2020-01-01,2020-01-01T10:00:00.500+01:00",
         (date(2020, 1, 1), "09:00:00.500000")),
        ("dd/MM/yyyy", "M/d/yyyy h:mm a", "31/12/2020,1/1/2020 9:00 PM", (date(2020, 12, 31), "21:00:00")),
        ("d-MMM-yy", "EEE, dd MMM yyyy HH:mm:ss Z", "\"1-Feb-20\",\"Wed, 01 Jan 2020 09:00:00 -0100\"",
         (date(2020, 2, 1), "10:00:00")),
        ("%Y%m%d", "%Y-%m-%d %H:%M:%S%.f %z", "20200101,2020-01-01 09:00:00.25 +0000",
         (date(2020, 1, 1), "09:00:00.250000")),
    ],
)  # fmt: skip
def test_formats_of_dates_and_timestamps(tmp_path, date_format, timestamp_format, text, expected):
    step = ReadStepCsv(
        ddl_schema=("d DATE", "t TIMESTAMP"), date_format=date_format, timestamp_format=timestamp_format
    )
    ((day, moment),) = values(stage(step, text + "\n", tmp_path))
    assert day == expected[0]
    assert str(moment.timetz()) == f"{expected[1]}+00:00"


def test_the_date_of_a_moment_is_its_day_in_utc(tmp_path):
    text = '2020-1-5\n1969-12-31T23:30:00Z\n2020-01-01T00:30:00+01:00\n""\n2020-01-01\n'
    days = [day for (day,) in values(stage(ReadStepCsv(ddl_schema=("d DATE",)), text, tmp_path))]
    assert days == [date(2020, 1, 5), date(1969, 12, 31), date(2019, 12, 31), None, date(2020, 1, 1)]


def test_all_kinds_of_values(tmp_path):
    ddl = (
        "i TINYINT", "f FLOAT", "b BOOLEAN", "m DECIMAL(6,2)", "t TIME", "x BINARY", "l ARRAY<INT>",
        "s STRUCT<a: INT>",
    )  # fmt: skip
    text = '+5,inf,TRUE,12.5,12:30:01.5,00ff,"[1,2]","{""a"": 1}"\n'
    ((i, f, b, m, t, x, items, s),) = values(stage(ReadStepCsv(ddl_schema=ddl), text, tmp_path))
    assert (i, f, b, m, x, items, s) == (
        5,
        float("inf"),
        True,
        Decimal("12.50"),
        b"\x00\xff",
        [1, 2],
        {"a": 1},
    )
    assert str(t) == "12:30:01.500000"


def test_line_ends_of_all_kinds_and_within_quotes(tmp_path):
    assert values(stage(ReadStepCsv(), b'a,b\r\n\r\n"c\nd",e\rf,g', tmp_path)) == [
        ("a", "b"), ("c\nd", "e"), ("f", "g"),
    ]  # fmt: skip


@pytest.mark.parametrize("data", ["", "\n\n", "\r\n"])
def test_nothing_is_no_data_frame_without_a_schema_and_no_records_with_one(tmp_path, data):
    assert stage(ReadStepCsv(header=True), data, tmp_path) is None
    staged = stage(ReadStepCsv(header=True, ddl_schema=DDL), data, tmp_path)
    assert (staged.files, staged.num_records, staged.schema.names) == ((), 0, ["date", "city", "population"])


def test_a_header_alone_is_no_records(tmp_path):
    staged = stage(ReadStepCsv(header=True), "a,b\n", tmp_path)
    assert (staged.files, staged.num_records, staged.schema.names) == ((), 0, ["a", "b"])


def test_files_are_cut_in_the_order_of_the_source(tmp_path):
    text = "".join(f"{n},{'x' * 20}\n" for n in range(20_000))
    step = ReadStepCsv(ddl_schema=("n BIGINT", "s STRING"))
    staged = stage(step, text, tmp_path, split_bytes=100_000, block_bytes=20_000)
    assert len(staged.files) > 4
    assert [row["n"] for row in rows(staged)] == list(range(20_000))


def test_the_row_of_a_fault_is_told_beyond_the_first_block(tmp_path):
    lines = [f"{n},{n}" for n in range(5000)]
    lines[4321] = "4321"
    with pytest.raises(MalformedInput) as caught:
        stage(ReadStepCsv(header=True), "a,b\n" + "\n".join(lines), tmp_path, block_bytes=4096)
    assert caught.value.extras["row"] == 4322
    lines[4321] = "4321,x"
    with pytest.raises(ValueDoesNotFit) as fits:
        step = ReadStepCsv(header=True, ddl_schema=("a INT", "b INT"))
        stage(step, "a,b\n" + "\n".join(lines), tmp_path, block_bytes=4096)
    assert fits.value.extras == {"file": "input.dat", "row": 4322, "column": "b"}
    assert list((tmp_path / "staged").iterdir()) == []


def test_progress_is_told(tmp_path):
    from odf_core.ingest.read import ReadOptions, read

    path = tmp_path / "c.csv"
    path.write_text("a,b\n" * 5000)
    told = []
    read(ReadStepCsv(), path, tmp_path / "w", ReadOptions(block_bytes=4096), lambda *at: told.append(at))
    assert told == sorted(told)
    assert told[-1] == (20_000, 5000)


@pytest.mark.parametrize(
    "options",
    [
        {"separator": ""}, {"separator": ",,"}, {"separator": "é"}, {"separator": "\n"}, {"separator": '"'},
        {"quote": "''"}, {"escape": "\\\\"}, {"encoding": "klingon"}, {"encoding": "base64"},
        {"date_format": "QQ"}, {"timestamp_format": "HH:mm"}, {"timestamp_format": "yyyy-MM-dd["},
        {"date_format": "%Y-%q-%d"}, {"date_format": "yyyy" * 100},
        {"ddl_schema": ("a INT",), "schema": DataSchema(fields=())},
    ],
)  # fmt: skip
def test_options_that_say_nothing_are_refused(tmp_path, options):
    with pytest.raises(InvalidReadOption):
        stage(ReadStepCsv(**options), "a,b\n1,2\n", tmp_path)


@pytest.mark.parametrize(
    ("ddl", "text", "row", "shown"),
    [
        ("x INT", "1\n3000000000\n", 2, "3000000000"),
        ("x INT", "1.5\n", 1, "1.5"),
        ("x INT", "0x10\n", 1, "0x10"),
        ("x BIGINT UNSIGNED", "-1\n", 1, "-1"),
        ("x FLOAT", "1e39\n", 1, "1e39"),
        ("x DOUBLE", "1,5\n", 1, None),
        ("x BOOLEAN", "yes\n", 1, "yes"),
        ("x DECIMAL(4,1)", "1.5\n1.55\n", 2, "1.55"),
        ("x DECIMAL(4,1)", "1234.5\n", 1, "1234.5"),
        ("x DATE", "2020-02-30\n", 1, "2020-02-30"),
        ("x TIMESTAMP", "2020-01-01\nyesterday\n", 2, "yesterday"),
        ("x TIMESTAMP", "1577926923\n", 1, "1577926923"),
        ("x TIME", "25:00\n", 1, "25:00"),
        ("x BINARY", "0g\n", 1, "0g"),
        ("x ARRAY<INT>", "[1\n", 1, "[1"),
    ],
)
def test_values_that_do_not_fit_are_refused_with_their_row(tmp_path, ddl, text, row, shown):
    with pytest.raises((ValueDoesNotFit, MalformedInput)) as caught:
        stage(ReadStepCsv(ddl_schema=(ddl,)), text, tmp_path)
    if shown is not None:
        assert isinstance(caught.value, ValueDoesNotFit)
        assert caught.value.extras == {"file": "input.dat", "row": row, "column": "x"}
        assert shown in caught.value.message


def test_a_wrong_encoding_is_told_with_its_byte(tmp_path):
    for data in (b"a,b\n1,\xff\n", b"a,b\n" * 400_000 + b"1,\xff\n"):
        with pytest.raises(WrongInputEncoding) as caught:
            stage(ReadStepCsv(), data, tmp_path)
        assert caught.value.extras["byte"] == data.index(b"\xff")
    with pytest.raises(WrongInputEncoding) as caught:
        stage(ReadStepCsv(encoding="utf-16-le"), "a,b\n".encode("utf-16-le") + b"\x00\xd8x", tmp_path)
    assert caught.value.extras["byte"] == 8
    with pytest.raises(WrongInputEncoding, match="encoding: utf-16"):
        stage(ReadStepCsv(), "a,b\n".encode("utf-16"), tmp_path)


def test_bounds_hold(tmp_path):
    with pytest.raises(InputLimitExceeded):
        stage(ReadStepCsv(), "a,b,c\n", tmp_path, limits=Limits(slice_columns=2))
    for quoted in ('"' + "x" * 10_000, r'"\a' + "x" * 10_000):
        with pytest.raises(MalformedInput, match="quote"):
            stage(ReadStepCsv(), quoted, tmp_path, block_bytes=4096)
    with pytest.raises(DuplicateInputColumn):
        stage(ReadStepCsv(header=True), "a,b,a\n", tmp_path)


def _read_by_hand(text):
    """Records of a CSV with default signs, a letter at a time."""
    records, record, value, state = [], [], "", "start"
    position = 0
    while position < len(text):
        sign, after = text[position], text[position + 1 : position + 2]
        position += 1
        if state == "start" and sign == '"':
            state = "quoted"
        elif state == "quoted" and (sign == "\\" or (sign == '"' and after == '"')):
            value += after
            position += 1
        elif state == "quoted":
            value, state = (value, "bare") if sign == '"' else (value + sign, state)
        elif sign in ",\n":
            record.append(value or None)
            value, state = "", "start"
            if sign == "\n":
                records.append(tuple(record))
                record = []
        else:
            value, state = value + sign, "bare"
    return records


@st.composite
def _fields(draw):
    text = draw(st.text(alphabet='ab\\"é,\n ', max_size=6))
    if draw(st.booleans()):
        escapes = {'"': draw(st.sampled_from(['""', '\\"'])), "\\": "\\\\"}
        return '"' + "".join(escapes.get(sign, sign) for sign in text) + '"'
    return text.replace(",", "").replace("\n", "").lstrip('"')


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(_fields(), _fields(), _fields()), min_size=1, max_size=5),
    st.sampled_from([5, 1 << 20]),
)
def test_what_is_read_is_what_a_slow_reader_reads(tmp_path, table, piece):
    csv_escapes._PIECE, before = piece, csv_escapes._PIECE
    text = "".join(",".join(record) + "\n" for record in table)
    try:
        assert values(stage(ReadStepCsv(), text, tmp_path)) == _read_by_hand(text)
    finally:
        csv_escapes._PIECE = before


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=60), st.booleans(), st.booleans())
def test_any_bytes_are_read_or_refused_in_a_sentence(tmp_path, data, header, infer):
    try:
        stage(ReadStepCsv(header=header, infer_schema=infer), data, tmp_path)
    except OdfError as error:
        assert "input.dat" in error.message
