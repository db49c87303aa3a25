"""Rules 35 and 36: which schema may follow which."""

import json
import struct as struct_module

import pytest

from odf_core.chain.arrow_schema import arrow_schema_to_odf
from odf_core.chain.arrow_tables import UnreadableArrowSchema
from odf_core.chain.errors import InvalidEvent, NoOpEvent
from odf_core.chain.likeness import alike
from odf_core.chain.schema_rules import check_schema_event
from odf_core.identity import Multihash
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataTypeBinary,
    DataTypeDuration,
    DataTypeInt32,
    DataTypeInt64,
    DataTypeList,
    DataTypeMap,
    DataTypeOption,
    DataTypeString,
    DataTypeStruct,
    DataTypeTime,
    DataTypeTimestamp,
    ExtraAttributes,
    SetDataSchema,
    TimeUnit,
)
from tests.vectors import require_vectors

BLOCK = Multihash.sha3_256(b"block")
INT, BIG, TEXT = DataTypeInt32(), DataTypeInt64(), DataTypeString()


def opt(data_type):
    return DataTypeOption(inner=data_type)


def field(name, data_type=TEXT, **extra):
    return DataField(name=name, type=data_type, extra=ExtraAttributes.from_object(extra) if extra else None)


def struct(*fields):
    return DataTypeStruct(fields=fields)


def items(data_type, length=None):
    return DataTypeList(item_type=data_type, fixed_length=length)


def event(*fields, extra=None):
    return SetDataSchema(schema=DataSchema(fields=fields, extra=extra))


A, B, C = field("a"), field("b", INT), field("c", opt(TEXT))
ATTRIBUTES = ExtraAttributes.from_object({"example.org/x": 1})

ALLOWED = {
    "first schema": (None, event(A)),
    "field attributes": (event(A, B), event(field("a", x=1), B)),
    "attributes taken away": (event(field("a", x=1)), event(A)),
    "schema attributes": (event(A), event(A, extra=ATTRIBUTES)),
    "reordered": (event(A, B), event(B, A)),
    "optional field added": (event(A), event(A, C)),
    "optional field added in front": (event(A), event(C, A)),
    "optional field added in a struct": (event(field("s", struct(A))), event(field("s", struct(A, C)))),
    "reordered in a struct": (event(field("s", struct(A, B))), event(field("s", struct(B, A)))),
    "attributes in a struct": (event(field("s", struct(A))), event(field("s", struct(field("a", x=1))))),
    "optional field added in items": (
        event(field("l", items(struct(A)))),
        event(field("l", items(struct(A, C)))),
    ),
    "optional field added in an optional struct": (
        event(field("s", opt(struct(A)))),
        event(field("s", opt(struct(A, C)))),
    ),
    "no fields, then an optional one": (event(), event(C)),
    "type changed while a field is added, as the deployed implementation has it": (
        event(A),
        event(field("a", INT), C),
    ),
    "type changed while fields move, likewise": (event(A, B), event(B, field("a", INT))),
    "type changed in a struct while a field is added, likewise": (
        event(field("s", struct(A))),
        event(field("s", struct(field("a", INT), C))),
    ),
}

REFUSED = {
    "removed": (event(A, B), event(A), "b is gone"),
    "renamed": (event(A), event(B), "a is gone"),
    "required field added": (event(A), event(A, B), "b is not optional"),
    "type": (event(A), event(field("a", INT)), "from String to Int32"),
    "became optional": (event(A), event(field("a", opt(TEXT))), "a becomes optional"),
    "became required": (event(C), event(field("c", TEXT)), "c becomes required"),
    "unit": (
        event(field("t", DataTypeTimestamp())),
        event(field("t", DataTypeTimestamp(unit=TimeUnit.SECOND))),
        "t changes its type",
    ),
    "time zone": (
        event(field("t", DataTypeTimestamp())),
        event(field("t", DataTypeTimestamp(timezone="Europe/Berlin"))),
        "t changes",
    ),
    "in a struct": (
        event(field("s", struct(A))),
        event(field("s", struct(field("a", INT)))),
        "s.a changes its type",
    ),
    "removed in a struct": (event(field("s", struct(A, B))), event(field("s", struct(A))), "s.b is gone"),
    "required in a struct": (event(field("s", struct(A))), event(field("s", struct(A, B))), "s.b is not"),
    "items": (event(field("l", items(INT))), event(field("l", items(BIG))), "l[] changes its type"),
    "items became optional": (
        event(field("l", items(INT))),
        event(field("l", items(opt(INT)))),
        "l[] becomes",
    ),
    "length": (event(field("l", items(INT))), event(field("l", items(INT, 3))), "length of l"),
    "bytes": (event(field("x", DataTypeBinary())), event(field("x", DataTypeBinary(fixed_length=4))), "x"),
    "struct to list": (event(field("s", struct(A))), event(field("s", items(TEXT))), "from Struct to List"),
    "map": (
        event(field("m", DataTypeMap(key_type=TEXT, value_type=INT))),
        event(field("m", DataTypeMap(key_type=TEXT, value_type=opt(INT)))),
        "m changes its type",
    ),
}


@pytest.mark.parametrize("name", ALLOWED)
def test_allows(name):
    current, new = ALLOWED[name]
    check_schema_event(new, current, BLOCK)


@pytest.mark.parametrize("name", REFUSED)
def test_refuses(name):
    current, new, words = REFUSED[name]
    with pytest.raises(InvalidEvent) as caught:
        check_schema_event(new, current, BLOCK)
    assert caught.value.rule == 36
    assert words in caught.value.message


@pytest.mark.parametrize(
    "new",
    [
        event(field("t", DataTypeTimestamp())),
        event(field("t", DataTypeTimestamp(unit=TimeUnit.MILLISECOND))),
        event(field("t", DataTypeTimestamp(timezone="UTC"))),
    ],
)
def test_spelling_a_default_out_is_no_new_schema(new):
    with pytest.raises(NoOpEvent):
        check_schema_event(new, event(field("t", DataTypeTimestamp())), BLOCK)


def test_alike():
    assert alike(DataTypeTime(), DataTypeTime(unit=TimeUnit.MILLISECOND))
    assert alike(DataTypeDuration(unit=TimeUnit.MILLISECOND), DataTypeDuration())
    assert not alike(DataTypeTime(), DataTypeTime(unit=TimeUnit.SECOND))
    assert not alike(DataTypeTime(), DataTypeDuration())
    assert not alike((INT,), (INT, INT)) and not alike(None, INT) and alike(None, None)


def test_a_long_list_of_faults_is_cut():
    many = event(*(field(f"f{number}") for number in range(1000)))
    with pytest.raises(InvalidEvent) as caught:
        check_schema_event(event(), many, BLOCK)
    assert len(caught.value.message) < 500


# -- raw Arrow schemas


def arrow_bytes(schema):
    """The bare schema: what stands after the IPC message's header."""
    import pyarrow as pa

    message = schema.serialize().to_pybytes()
    assert message[:4] == b"\xff\xff\xff\xff"
    # Message { version, header_type, header -> Schema, bodyLength }: follow the header's offset.
    body = message[8:]
    at = int.from_bytes(body[:4], "little")
    vtable = at - int.from_bytes(body[at : at + 4], "little", signed=True)
    slot = int.from_bytes(body[vtable + 8 : vtable + 10], "little")
    header = at + slot
    target = header + int.from_bytes(body[header : header + 4], "little")
    assert pa.ipc.read_schema(pa.py_buffer(message)) == schema
    # Offsets in tables are relative, so the same bytes with another root are the bare schema.
    return target.to_bytes(4, "little") + body[4:]


def test_arrow_types():
    import pyarrow as pa

    schema = pa.schema(
        [
            pa.field("i", pa.int64(), nullable=False),
            pa.field("u", pa.uint8()),
            pa.field("f", pa.float16()),
            pa.field("d", pa.float64()),
            pa.field("b", pa.bool_()),
            pa.field("s", pa.large_string()),
            pa.field("v", pa.string_view()),
            pa.field("x", pa.binary(7)),
            pa.field("day", pa.date64()),
            pa.field("t", pa.time32("s")),
            pa.field("ts", pa.timestamp("us", "UTC")),
            pa.field("naive", pa.timestamp("s")),
            pa.field("dec", pa.decimal128(10, 2)),
            pa.field("dur", pa.duration("ns")),
            pa.field("n", pa.null()),
            pa.field("l", pa.list_(pa.field("item", pa.int32(), nullable=False))),
            pa.field("fl", pa.list_(pa.int32(), 3)),
            pa.field("st", pa.struct([pa.field("a", pa.string())])),
            pa.field("m", pa.map_(pa.string(), pa.int8())),
        ]
    )
    types = {item.name: item.type for item in arrow_schema_to_odf(arrow_bytes(schema)).fields}
    assert types["i"] == DataTypeInt64()
    assert types["ts"] == opt(DataTypeTimestamp(unit=TimeUnit.MICROSECOND, timezone="UTC"))
    assert types["naive"] == opt(DataTypeTimestamp(unit=TimeUnit.SECOND))
    assert types["l"] == opt(items(INT)) and types["fl"] == opt(items(opt(INT), 3))
    assert types["st"] == opt(struct(field("a", opt(TEXT))))
    assert types["x"] == opt(DataTypeBinary(fixed_length=7))
    assert types["s"] == types["v"] == opt(TEXT)
    names = {name: type(value.inner).__name__[8:] for name, value in types.items() if name != "i"}
    assert names == {
        "u": "UInt8",
        "f": "Float16",
        "d": "Float64",
        "b": "Bool",
        "s": "String",
        "v": "String",
        "x": "Binary",
        "day": "Date",
        "t": "Time",
        "ts": "Timestamp",
        "naive": "Timestamp",
        "dec": "Decimal",
        "dur": "Duration",
        "n": "Null",
        "l": "List",
        "fl": "List",
        "st": "Struct",
        "m": "Map",
    }


def test_vector_arrow_schemas():
    cases = json.loads(require_vectors("metadata/raw_arrow_schema.json").read_text())["cases"]
    for case in cases:
        schema = arrow_schema_to_odf(bytes.fromhex(case["hex"]))
        assert [item.name for item in schema.fields] == [name for name, _, _ in case["fields"]]
        for item, (_, _, nullable) in zip(schema.fields, case["fields"], strict=True):
            assert isinstance(item.type, DataTypeOption) is nullable


def test_from_arrow_optionality_may_change_once():
    import pyarrow as pa

    raw = SetDataSchema(
        raw_arrow_schema=arrow_bytes(
            pa.schema([("a", pa.string()), pa.field("b", pa.int32(), nullable=False)])
        )
    )
    check_schema_event(event(A, field("b", opt(INT))), raw, BLOCK)
    check_schema_event(event(A, B, C), raw, BLOCK)
    with pytest.raises(NoOpEvent):
        check_schema_event(event(field("a", opt(TEXT)), B), raw, BLOCK)
    with pytest.raises(InvalidEvent):
        check_schema_event(event(A, field("b", BIG)), raw, BLOCK)
    check_schema_event(raw, event(A), BLOCK)


@pytest.mark.parametrize(
    "data",
    [b"", b"\x00" * 4, b"\xff" * 64, b"\x04\x00\x00\x00\x00\x00\x00\x80", bytes(range(200))],
    ids=["nothing", "zeros", "ones", "vtable before the start", "garbage"],
)
def test_unreadable_arrow_schema(data):
    with pytest.raises(InvalidEvent) as caught:
        check_schema_event(event(A), SetDataSchema(raw_arrow_schema=data), BLOCK)
    assert "cannot be read" in caught.value.message


def test_every_cut_and_flip_of_an_arrow_schema_is_read_or_refused():
    import pyarrow as pa

    data = arrow_bytes(pa.schema([("a", pa.list_(pa.struct([("b", pa.string())]))), ("c", pa.int64())]))
    for at in range(len(data)):
        for changed in (data[:at], data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]):
            try:
                arrow_schema_to_odf(changed)
            except UnreadableArrowSchema:
                continue


def test_arrow_types_that_odf_has_not():
    import pyarrow as pa

    for data_type in (pa.month_day_nano_interval(), pa.dictionary(pa.int8(), pa.string())):
        with pytest.raises(UnreadableArrowSchema):
            arrow_schema_to_odf(arrow_bytes(pa.schema([("a", data_type)])))


def test_a_small_arrow_schema_cannot_describe_a_huge_one():
    """Forty structs, each with two children that are both the next struct: a million million fields."""
    levels = b"".join(_level(last=number == 39) for number in range(40))
    root = struct_module.pack("<I4HiIII", 12, 8, 8, 0, 4, 8, 4, 1, 4 + 16)
    assert len(root) == 28
    with pytest.raises(UnreadableArrowSchema, match="more than its bytes"):
        arrow_schema_to_odf(root + levels)
    assert len(arrow_schema_to_odf(root + _level(last=True)).fields) == 1


def _level(*, last):
    """52 bytes: a field's vtable and table, its type's vtable and table, its children."""
    number = 5 if last else 13  # Utf8, Struct
    to_next = 52 + 16
    table = struct_module.pack("<8HiB3xII", 16, 16, 0, 0, 4, 8, 0, 12, 16, number, 36 - 24, 40 - 28)
    children = (0, 0, 0) if last else (2, to_next - 44, to_next - 48)
    return table + struct_module.pack("<HHi3I", 4, 4, 4, *children)
