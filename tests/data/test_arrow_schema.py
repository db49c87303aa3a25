"""Arrow schemas, ODF schemas, and the raw bytes of older SetDataSchema events."""

import json
import random
from typing import Any

import pyarrow as pa
import pytest

from odf_core.chain.arrow_schema import arrow_schema_to_odf as odf_schema_of_bytes
from odf_core.data import (
    InvalidRawArrowSchema,
    UnsupportedArrowType,
    arrow_schema_to_odf,
    odf_schema_to_arrow,
    read_raw_arrow_schema,
    write_raw_arrow_schema,
)
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataTypeBinary,
    DataTypeDecimal,
    DataTypeDuration,
    DataTypeInt64,
    DataTypeList,
    DataTypeOption,
    DataTypeString,
    DataTypeTime,
    DataTypeTimestamp,
    TimeUnit,
)
from tests.vectors import require_vectors

_TYPES = [
    pa.null(),
    pa.bool_(),
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
    pa.float16(),
    pa.float32(),
    pa.float64(),
    pa.string(),
    pa.large_string(),
    pa.string_view(),
    pa.binary(),
    pa.large_binary(),
    pa.binary_view(),
    pa.binary(5),
    pa.date32(),
    pa.date64(),
    pa.time32("s"),
    pa.time32("ms"),
    pa.time64("us"),
    pa.time64("ns"),
    pa.timestamp("s"),
    pa.timestamp("ns", "Europe/Berlin"),
    pa.timestamp("ms", "UTC"),
    pa.duration("s"),
    pa.duration("ms"),
    pa.decimal32(3, 1),
    pa.decimal64(12, -3),
    pa.decimal128(20, 2),
    pa.decimal256(60, 2),
    pa.list_(pa.int8()),
    pa.large_list(pa.field("item", pa.string(), nullable=False)),
    pa.list_(pa.int8(), 3),
    pa.struct(
        [pa.field("a", pa.int8()), pa.field("b", pa.struct([pa.field("c", pa.string())]), nullable=False)]
    ),
    pa.map_(pa.string(), pa.int32()),
]
_SCHEMA = pa.schema([pa.field(f"c{i}", t, nullable=i % 2 == 0) for i, t in enumerate(_TYPES)])

_OF_VECTORS = {
    "int": lambda bits, signed: getattr(pa, f"{'' if signed else 'u'}int{bits}")(),
    "bool": pa.bool_,
    "ts": pa.timestamp,
    "utf8": pa.string,
}


def test_golden_bytes() -> None:
    for case in json.loads(require_vectors("metadata/raw_arrow_schema.json").read_text())["cases"]:
        fields = [
            pa.field(name, _OF_VECTORS[kind](*rest), null) for name, (kind, *rest), null in case["fields"]
        ]
        data = bytes.fromhex(case["hex"])
        assert write_raw_arrow_schema(pa.schema(fields)) == data
        assert read_raw_arrow_schema(data).equals(pa.schema(fields))


def test_bytes_of_every_type_are_read_again() -> None:
    for schema in (_SCHEMA, _SCHEMA.with_metadata({"a": "b", "c": ""}), pa.schema([])):
        assert read_raw_arrow_schema(write_raw_arrow_schema(schema)).equals(schema, check_metadata=True)
    field = pa.field("x", pa.int8(), metadata={"k": "v"})
    again = read_raw_arrow_schema(write_raw_arrow_schema(pa.schema([field])))
    assert again.field(0).metadata == {b"k": b"v"}


def test_pyarrows_own_bytes_are_read() -> None:
    """A schema that sits in a buffer as another writer lays it out."""
    message = _SCHEMA.serialize().to_pybytes()
    flatbuffer = message[8:]
    message_at = int.from_bytes(flatbuffer[:4], "little")
    vtable = message_at - int.from_bytes(flatbuffer[message_at : message_at + 4], "little", signed=True)
    slot = message_at + int.from_bytes(flatbuffer[vtable + 8 : vtable + 10], "little")
    header = slot + int.from_bytes(flatbuffer[slot : slot + 4], "little")
    bare = header.to_bytes(4, "little") + flatbuffer[4:]
    assert read_raw_arrow_schema(bare).equals(_SCHEMA)


def test_arrow_to_odf_and_from_bytes_are_the_same() -> None:
    assert odf_schema_of_bytes(write_raw_arrow_schema(_SCHEMA)) == arrow_schema_to_odf(_SCHEMA)


def test_odf_and_back_keeps_what_odf_knows() -> None:
    odf = arrow_schema_to_odf(_SCHEMA)
    again = odf_schema_to_arrow(odf)
    changed = {
        name: str(again.field(name).type) for name in again.names if again.field(name) != _SCHEMA.field(name)
    }
    assert set(changed.values()) == {
        "string",
        "binary",
        "date32[day]",
        "timestamp[s, tz=UTC]",
        "decimal128(3, 1)",
        "decimal128(12, -3)",
        "list<item: string not null>",
    }
    twice = arrow_schema_to_odf(again)
    assert odf_schema_to_arrow(twice).equals(again)


def test_defaults() -> None:
    types: list[tuple[Any, Any]] = [
        (DataTypeTimestamp(), pa.timestamp("ms", "UTC")),
        (DataTypeTimestamp(unit=TimeUnit.NANOSECOND, timezone="+00:00"), pa.timestamp("ns", "+00:00")),
        (DataTypeTime(), pa.time32("ms")),
        (DataTypeTime(unit=TimeUnit.MICROSECOND), pa.time64("us")),
        (DataTypeDuration(), pa.duration("ms")),
        (DataTypeDecimal(precision=38, scale=0), pa.decimal128(38, 0)),
        (DataTypeDecimal(precision=39, scale=-2), pa.decimal256(39, -2)),
        (DataTypeBinary(fixed_length=3), pa.binary(3)),
        (
            DataTypeList(item_type=DataTypeOption(inner=DataTypeInt64()), fixed_length=2),
            pa.list_(pa.int64(), 2),
        ),
    ]
    for odf, arrow in types:
        schema = odf_schema_to_arrow(DataSchema(fields=(DataField(name="x", type=odf),)))
        assert schema.field("x") == pa.field("x", arrow, nullable=False)


@pytest.mark.parametrize(
    "arrow",
    [
        pa.dictionary(pa.int32(), pa.string()),
        pa.month_day_nano_interval(),
        pa.dense_union([pa.field("a", pa.int8())]),
        pa.run_end_encoded(pa.int32(), pa.int8()),
    ],
    ids=str,
)
def test_arrow_types_that_odf_has_not(arrow: pa.DataType) -> None:
    schema = pa.schema([pa.field("x", arrow)])
    for convert in (arrow_schema_to_odf, write_raw_arrow_schema):
        with pytest.raises(UnsupportedArrowType) as caught:
            convert(schema)
        assert caught.value.objects == ("x",)


@pytest.mark.parametrize(
    "odf",
    [
        DataTypeDecimal(precision=77, scale=0),
        DataTypeDecimal(precision=0, scale=0),
        DataTypeBinary(fixed_length=1 << 40),
        DataTypeList(item_type=DataTypeString(), fixed_length=1 << 40),
        DataTypeOption(inner=DataTypeOption(inner=DataTypeInt64())),
    ],
    ids=str,
)
def test_odf_types_that_arrow_has_not(odf: Any) -> None:
    with pytest.raises(UnsupportedArrowType):
        odf_schema_to_arrow(DataSchema(fields=(DataField(name="x", type=odf),)))


def test_bytes_that_are_no_schema() -> None:
    whole = write_raw_arrow_schema(_SCHEMA)
    for data in (b"", b"\0", b"\xff" * 64, whole[:10], whole[:100], bytes(64)):
        with pytest.raises(InvalidRawArrowSchema):
            read_raw_arrow_schema(data)
    chosen = random.Random(3)
    for _ in range(2_000):
        damaged = bytearray(whole)
        for _ in range(chosen.randint(1, 3)):
            damaged[chosen.randrange(len(whole))] = chosen.randrange(256)
        try:
            read_raw_arrow_schema(bytes(damaged[: chosen.randint(1, len(whole))]))
        except InvalidRawArrowSchema:
            continue
