"""Column definitions in SQL."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odf_core.data import InvalidDdlSchema, ddl_schema_to_arrow

UTC_MS = pa.timestamp("ms", "UTC")


def one(text):
    return ddl_schema_to_arrow([text]).field(0)


@pytest.mark.parametrize(
    ("ddl", "arrow"),
    [
        ("BOOLEAN", pa.bool_()),
        ("TINYINT", pa.int8()),
        ("SMALLINT", pa.int16()),
        ("INT", pa.int32()),
        ("integer", pa.int32()),
        ("BIGINT", pa.int64()),
        ("INT UNSIGNED", pa.uint32()),
        ("BIGINT UNSIGNED", pa.uint64()),
        ("FLOAT", pa.float32()),
        ("DOUBLE", pa.float64()),
        ("DOUBLE PRECISION", pa.float64()),
        ("STRING", pa.string()),
        ("VARCHAR", pa.string()),
        ("VARCHAR(20)", pa.string()),
        ("TEXT", pa.string()),
        ("BINARY", pa.binary()),
        ("TIMESTAMP", UTC_MS),
        ("TIMESTAMP(0)", pa.timestamp("s", "UTC")),
        ("TIMESTAMP(3)", UTC_MS),
        ("TIMESTAMP(6)", pa.timestamp("us", "UTC")),
        ("TIMESTAMP WITH TIME ZONE", UTC_MS),
        ("TIME", pa.time32("ms")),
        ("TIME(6)", pa.time64("us")),
        ("ARRAY<STRING>", pa.list_(pa.string())),
        ("STRING[]", pa.list_(pa.string())),
        ("ARRAY<ARRAY<INT>>", pa.list_(pa.list_(pa.int32()))),
        ("ARRAY<INT NOT NULL>", pa.list_(pa.field("item", pa.int32(), nullable=False))),
        ("MAP<STRING, DOUBLE>", pa.map_(pa.string(), pa.float64())),
        ("STRUCT<a: INT, `b c` STRING>", pa.struct([("a", pa.int32()), ("b c", pa.string())])),
    ],
)
def test_types(ddl, arrow):
    assert one(f"x {ddl}") == pa.field("x", arrow)
    assert one(f"x {ddl} NOT NULL") == pa.field("x", arrow, nullable=False)


@pytest.mark.parametrize(
    ("ddl", "arrow"),
    [
        ("DATE", pa.date32()),
        ("DECIMAL(10,2)", pa.decimal128(10, 2)),
        ("NUMERIC(5)", pa.decimal128(5, 0)),
        ("DECIMAL(40,2)", pa.decimal256(40, 2)),
    ],
)
def test_dates_and_decimals_are_required_whatever_is_said(ddl, arrow):
    for text in (f"x {ddl}", f"x {ddl} NULL", f"x {ddl} NOT NULL"):
        assert one(text) == pa.field("x", arrow, nullable=False)


def test_an_entry_may_hold_several_columns_and_names_may_be_quoted():
    schema = ddl_schema_to_arrow(['"a ""b""" INT, c STRING NOT NULL,', "offset BIGINT"])
    assert schema.names == ['a "b"', "c", "offset"]
    assert [field.nullable for field in schema] == [True, False, True]


@pytest.mark.parametrize(
    ("entries", "named", "told"),
    [
        (["x"], "'x'", "type is missing"),
        (["x FOO"], "'x'", "'FOO' is not known"),
        (["x UUID"], "'x'", "'UUID' is not known"),
        (["ok INT", "x DECIMAL(5"], "'x'", "')' is due"),
        (["x DECIMAL(5,a)"], "'x'", "'a' stands where a number is due"),
        (["x DECIMAL(0,0)"], "'x'", "DECIMAL(0,0)"),
        (["x DECIMAL(77,0)"], "'x'", "more than 76"),
        (["x DECIMAL(2,3)"], "'x'", "fewer than stand"),
        (["x TIMESTAMP(12)"], "'x'", "at most 9 digits"),
        (["x VARCHAR(1,2)"], "'x'", "at most 1 number"),
        (["x INT", "x INT"], "'x'", "twice"),
        (["x INT NOT"], "'x'", "NOT is followed by NULL"),
        (["x INT y"], "'x'", "'y' is not understood"),
        (["x ARRAY<INT"], "'x'", "'>' is due"),
        (["x ARRAY<INT>>"], "'x'", "'>' is not understood"),
        (["x STRUCT<>"], "'x'", "STRUCT has fields"),
        (["x STRUCT<a INT, a INT>"], "'x'", "each of another name"),
        (["x " + "ARRAY<" * 50], "'x'", "nested deeper"),
        (["x INT" + "[]" * 50], "'x'", "nested deeper"),
        ([""], "entry 1", "a name and a type"),
        (["ok INT", "a-b INT"], "entry 2", "'-' is not understood"),
        (['"open INT'], "entry 1", "not understood"),
        (["< INT"], "entry 1", "stands where a name is due"),
    ],
)
def test_what_is_no_ddl_is_refused_with_the_column(entries, named, told):
    with pytest.raises(InvalidDdlSchema) as caught:
        ddl_schema_to_arrow(entries)
    assert named in caught.value.message
    assert told in caught.value.message


@given(st.lists(st.text(alphabet='aZ_ (),<>:"`0\n-', max_size=30), max_size=3))
def test_any_text_is_a_schema_or_refused(entries):
    try:
        schema = ddl_schema_to_arrow(entries)
    except InvalidDdlSchema:
        return
    assert len(schema) >= len(entries)
