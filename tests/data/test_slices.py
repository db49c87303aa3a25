"""Slices held against their blocks: the true one passes, and each kind of lie has its error."""

import dataclasses
import io
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.chain import Vocabulary
from odf_core.data import (
    DataFileLimitExceeded,
    DataFileNotFound,
    InvalidRawArrowSchema,
    InvalidSliceInput,
    LogicalHashMismatch,
    SliceOffsetsMismatch,
    SliceRowsMismatch,
    SliceSchemaMismatch,
    SliceSizeMismatch,
    SliceUnreadable,
    arrow_schema_to_odf,
    as_records,
    check_logical_hash,
    check_slice,
    inspect_slice,
    logical_hash_file,
    physical_hash_file,
    write_raw_arrow_schema,
    write_slice,
)
from odf_core.errors import IntegrityError
from odf_core.identity import Multihash
from odf_core.limits import Limits
from odf_core.metadata import DataSchema, DataSlice, OffsetInterval, SetDataSchema
from tests.builders.dataset_builder import SLICE_SCHEMA, describe, parquet, records

_SCHEMA = arrow_schema_to_odf(SLICE_SCHEMA)
_TIME = pa.timestamp("ms", "UTC")


def _check(content: bytes, described: DataSlice, schema: Any = _SCHEMA, vocab: Any = None) -> None:
    file = io.BytesIO(content)
    check_slice(inspect_slice(file, vocab=vocab), described, schema, vocab)
    facts = inspect_slice(file, vocab=vocab, hash_rows=len(content))
    check_slice(facts, described, schema, vocab)
    check_logical_hash(facts, described.logical_hash)


def _columns(offsets: list[int]) -> dict[str, list[Any]]:
    return records(0, len(offsets)) | {"offset": offsets}


# Truth


def test_true_slices() -> None:
    for start, count in ((0, 1), (10, 100), (10_000_000, 3)):
        content = parquet(records(start, count))
        _check(content, describe(content, start, count))
        _check(content, describe(content, start, count), None)
        _check(content, describe(content, start, count), SetDataSchema(schema=_SCHEMA))
        raw = write_raw_arrow_schema(SLICE_SCHEMA)
        _check(content, describe(content, start, count), SetDataSchema(raw_arrow_schema=raw))


def test_many_row_groups_and_batches() -> None:
    table = pa.table(records(5, 300_000), schema=SLICE_SCHEMA)
    out = io.BytesIO()
    pq.write_table(table, out, row_group_size=70_000)
    facts = inspect_slice(out)
    assert (facts.num_rows, facts.first_offset, facts.last_offset) == (300_000, 5, 300_004)
    assert facts.offset_fault is None
    assert facts.null_counts["population"] == table["population"].null_count


def test_other_names_of_system_columns() -> None:
    names = Vocabulary(
        offset_column="o", operation_type_column="k", system_time_column="st", event_time_column="et"
    )
    schema = pa.schema(
        [
            field.with_name(name)
            for field, name in zip(SLICE_SCHEMA, ["o", "k", "st", "et", "c", "p"], strict=True)
        ]
    )
    content = parquet(dict(zip(schema.names, records(0, 3).values(), strict=True)), schema)
    described = describe(content, 0, 3)
    _check(content, described, arrow_schema_to_odf(schema), names)
    with pytest.raises(SliceSchemaMismatch):
        _check(content, described, arrow_schema_to_odf(schema))


# Lies about records and offsets


@pytest.mark.parametrize(
    ("offsets", "start", "end", "error"),
    [
        ([0, 1, 2], 0, 3, SliceRowsMismatch),
        ([0, 1, 2], 0, 1, SliceRowsMismatch),
        ([0, 1, 2], 1, 3, SliceOffsetsMismatch),
        ([0, 1, 3], 0, 2, SliceOffsetsMismatch),
        ([0, 2, 1, 3], 0, 3, SliceOffsetsMismatch),
        ([0, 1, 1, 3], 0, 3, SliceOffsetsMismatch),
        ([3, 2, 1, 0], 0, 3, SliceOffsetsMismatch),
        ([0, 0, 0, 3], 0, 3, SliceOffsetsMismatch),
        ([-1, 0, 1], 0, 2, SliceOffsetsMismatch),
    ],
)
def test_offsets_are_the_interval(
    offsets: list[int], start: int, end: int, error: type[IntegrityError]
) -> None:
    content = parquet(_columns(offsets))
    described = dataclasses.replace(
        describe(content, 0, 1), offset_interval=OffsetInterval(start=start, end=end)
    )
    with pytest.raises(error) as caught:
        _check(content, described)
    assert str(described.physical_hash) in caught.value.objects


def test_a_fault_behind_the_first_batch_is_named() -> None:
    count = 200_000
    offsets = list(range(count))
    offsets[150_000], offsets[150_001] = 150_001, 150_000
    table = pa.table({"offset": pa.array(offsets)})
    out = io.BytesIO()
    pq.write_table(table, out)
    fault = inspect_slice(out).offset_fault
    assert fault is not None
    assert (fault.row, fault.found, fault.expected) == (150_000, 150_001, 150_000)


def test_null_offsets() -> None:
    schema = pa.schema([pa.field("offset", pa.int64()), *list(SLICE_SCHEMA)[1:]])
    for offsets in ([None, 1, 2], [0, None, 2], [0, 1, None]):
        content = parquet(_columns(offsets), schema)  # type: ignore[arg-type]
        with pytest.raises(SliceOffsetsMismatch):
            _check(content, describe(content, 0, 3))


def test_largest_offsets_do_not_overflow() -> None:
    schema = pa.schema([pa.field("offset", pa.uint64()), *list(SLICE_SCHEMA)[1:]])
    for offsets in ([(1 << 64) - 1, 0], [(1 << 63) - 1, 1 << 63]):
        out = io.BytesIO(parquet(_columns(offsets), schema))
        assert inspect_slice(out).num_rows == 2


# Lies about bytes and hashes


def test_size_and_hash_codes() -> None:
    content = parquet(records(0, 3))
    true = describe(content, 0, 3)
    with pytest.raises(SliceSizeMismatch):
        _check(content, dataclasses.replace(true, size=true.size + 1))
    with pytest.raises(LogicalHashMismatch):
        _check(content, dataclasses.replace(true, logical_hash=true.physical_hash))
    other = Multihash(true.logical_hash.code, bytes(32))
    with pytest.raises(LogicalHashMismatch) as caught:
        _check(content, dataclasses.replace(true, logical_hash=other))
    assert caught.value.extras["found"] == str(true.logical_hash)


# Lies about the schema


def _with_field(
    name: str, data_type: Any, values: list[Any] | None = None, *, nullable: bool = True
) -> bytes:
    """A true slice but for one column."""
    fields = [pa.field(name, data_type, nullable) if f.name == name else f for f in SLICE_SCHEMA]
    columns = records(0, 3)
    if values is not None:
        columns[name] = values
    return parquet(columns, pa.schema(fields))


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(lambda: _with_field("offset", pa.int32()), id="offset of 32 bits"),
        pytest.param(lambda: _with_field("offset", pa.string(), ["0", "1", "2"]), id="offset of text"),
        pytest.param(lambda: _with_field("op", pa.int64()), id="op of 64 bits"),
        pytest.param(lambda: _with_field("system_time", pa.int64(), [0, 0, 0]), id="system time a number"),
        pytest.param(lambda: _with_field("event_time", pa.string(), ["", "", ""]), id="event time of text"),
        pytest.param(lambda: _with_field("event_time", pa.timestamp("us", "UTC")), id="unit"),
        pytest.param(lambda: _with_field("event_time", pa.timestamp("ms", "Europe/Berlin")), id="zone"),
        pytest.param(lambda: _with_field("event_time", pa.date32()), id="date for a timestamp"),
        pytest.param(lambda: _with_field("population", pa.int32()), id="width"),
        pytest.param(lambda: _with_field("population", pa.uint64()), id="sign"),
        pytest.param(lambda: _with_field("population", pa.float64()), id="float"),
        pytest.param(lambda: _with_field("city", pa.binary()), id="bytes for text"),
        pytest.param(
            lambda: _with_field("city", pa.string(), ["a", None, "b"]), id="null in a required column"
        ),
        pytest.param(
            lambda: _with_field("city", pa.dictionary(pa.int32(), pa.string())), id="dictionary in the schema"
        ),
        pytest.param(lambda: _without("city"), id="missing column"),
        pytest.param(lambda: _without("event_time"), id="no event time"),
        pytest.param(lambda: _without("offset"), id="no offset"),
        pytest.param(lambda: _with_more(), id="additional column"),
        pytest.param(lambda: _with_twin(), id="two columns of one name"),
    ],
)
def test_columns_are_those_of_the_dataset(content: Callable[[], bytes]) -> None:
    data = content()
    described = dataclasses.replace(describe_any(data), offset_interval=OffsetInterval(start=0, end=2))
    with pytest.raises(SliceSchemaMismatch) as caught:
        check_slice(inspect_slice(io.BytesIO(data)), described, _SCHEMA)
    assert caught.value.message.endswith(".")


def describe_any(content: bytes) -> DataSlice:
    """As `describe`, without a logical hash of its own."""
    return dataclasses.replace(
        describe(parquet(records(0, 3)), 0, 3),
        physical_hash=Multihash.sha3_256(content),
        size=len(content),
    )


def _without(name: str) -> bytes:
    schema = pa.schema([field for field in SLICE_SCHEMA if field.name != name])
    return parquet({n: v for n, v in records(0, 3).items() if n != name}, schema)


def _with_more() -> bytes:
    return parquet(records(0, 3) | {"more": [1, 2, 3]}, SLICE_SCHEMA.append(pa.field("more", pa.int64())))


def _with_twin() -> bytes:
    table = pa.table(records(0, 3), schema=SLICE_SCHEMA).append_column("city", pa.array(["x", "y", "z"]))
    out = io.BytesIO()
    pq.write_table(table, out)
    return out.getvalue()


# What deployed writers do differently


@pytest.mark.parametrize(
    "schema",
    [
        pytest.param([("city", pa.large_string())], id="large text"),
        pytest.param([("city", pa.string_view())], id="text view"),
        pytest.param([("event_time", pa.timestamp("ms", "+00:00"))], id="zero offset"),
        pytest.param([("event_time", pa.timestamp("ms"))], id="naive"),
    ],
)
def test_encodings_do_not_matter(schema: list[tuple[str, Any]]) -> None:
    types = dict(schema)
    fields = [pa.field(f.name, types.get(f.name, f.type), f.nullable) for f in SLICE_SCHEMA]
    content = parquet(records(0, 3), pa.schema(fields))
    _check(content, describe(content, 0, 3))


def test_order_and_optionality_do_not_matter() -> None:
    """As the Spark engine writes: everything optional but three, the event time where the query put it."""
    order = ["offset", "op", "system_time", "population", "city", "event_time"]
    fields = [SLICE_SCHEMA.field(name).with_nullable(name not in order[:3]) for name in order]
    columns = records(0, 3)
    out = io.BytesIO()
    table = pa.table({name: columns[name] for name in order}, schema=pa.schema(fields))
    pq.write_table(table, out, store_schema=False)
    content = out.getvalue()
    _check(content, describe(content, 0, 3))


def test_nulls_that_no_statistics_tell() -> None:
    """They are met where all columns are read: statistics say what their writer likes."""
    schema = pa.schema([f.with_nullable(True) if f.name == "city" else f for f in SLICE_SCHEMA])
    out = io.BytesIO()
    table = pa.table(records(0, 3) | {"city": ["a", None, "b"]}, schema=schema)
    pq.write_table(table, out, write_statistics=False)
    described = describe(out.getvalue(), 0, 3)
    check_slice(inspect_slice(out), described, _SCHEMA)
    with pytest.raises(SliceSchemaMismatch, match="city has 1 nulls"):
        check_slice(inspect_slice(out, hash_rows=10), described, _SCHEMA)


def test_required_column_for_an_optional_one() -> None:
    content = _with_field("population", pa.int64(), [1, 2, 3], nullable=False)
    _check(content, describe(content, 0, 3))


def test_nested_columns_by_name_and_type() -> None:
    declared = pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.list_(pa.string()))])
    stored = pa.struct([pa.field("b", pa.large_list(pa.large_string())), pa.field("a", pa.int32())])
    schema = arrow_schema_to_odf(SLICE_SCHEMA.append(pa.field("n", declared)))
    values: list[Any] = [{"a": 1, "b": ["x"]}, None, {"a": None, "b": []}]
    content = parquet(records(0, 3) | {"n": values}, SLICE_SCHEMA.append(pa.field("n", stored)))
    described = dataclasses.replace(describe(content, 0, 3))
    _check(content, described, schema)
    for wrong in (
        pa.struct([pa.field("a", pa.int32())]),
        pa.struct([pa.field("a", pa.int64()), declared[1]]),
    ):
        bad = arrow_schema_to_odf(SLICE_SCHEMA.append(pa.field("n", wrong)))
        with pytest.raises(SliceSchemaMismatch):
            _check(content, described, bad)


def test_a_schema_of_the_dataset_that_cannot_be_read() -> None:
    content = parquet(records(0, 3))
    with pytest.raises(InvalidRawArrowSchema):
        _check(content, describe(content, 0, 3), SetDataSchema(raw_arrow_schema=b"no schema"))


# Files that are none


@pytest.mark.parametrize("content", [b"", b"PAR1", b"PAR1PAR1PAR1", b"\0" * 100, b"offset,op\n0,0\n" * 20])
def test_no_parquet(content: bytes) -> None:
    with pytest.raises(SliceUnreadable):
        inspect_slice(io.BytesIO(content))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataFileNotFound):
        inspect_slice(tmp_path / "none")


@pytest.mark.parametrize(
    "limit",
    ["slice_footer_bytes", "slice_columns", "slice_row_groups", "slice_rows", "slice_column_chunks"],
)
def test_limits(limit: str) -> None:
    out = io.BytesIO()
    pq.write_table(pa.table(records(0, 30), schema=SLICE_SCHEMA), out, row_group_size=3)
    assert inspect_slice(out).num_rows == 30
    with pytest.raises(DataFileLimitExceeded):
        inspect_slice(out, limits=Limits(**{limit: 5}))


# Writing


def test_written_slice(tmp_path: Path) -> None:
    rows = pa.table(
        {
            "city": pa.array(["a", "b"]).dictionary_encode(),
            "event_time": pa.array([datetime(2024, 1, 1), None], pa.timestamp("us")),
        }
    )
    table = as_records(rows, first_offset=7, system_time=datetime(2026, 1, 1, tzinfo=UTC))
    assert table.schema.names == ["offset", "op", "system_time", "event_time", "city"]
    assert table.schema.field("event_time").type == _TIME
    written = write_slice(table, tmp_path / "slice")
    assert written.num_rows == 2
    assert written.data_slice.offset_interval == OffsetInterval(start=7, end=8)
    assert written.data_slice.size == written.path.stat().st_size
    assert written.data_slice.logical_hash == logical_hash_file(written.path)
    assert written.data_slice.physical_hash == physical_hash_file(written.path)
    schema = pq.read_schema(written.path)
    assert schema.field("city").type == pa.string()
    _check(written.path.read_bytes(), written.data_slice, arrow_schema_to_odf(schema))


def test_settings_of_the_deployed_writer(tmp_path: Path) -> None:
    rows = pa.table({"n": pa.array(range(100_000), pa.int32())})
    written = write_slice(as_records(rows, first_offset=0, system_time=datetime.now(UTC)), tmp_path / "slice")
    metadata = pq.read_metadata(written.path)
    assert metadata.num_row_groups == 1
    for index in range(metadata.num_columns):
        chunk = metadata.row_group(0).column(index)
        assert chunk.compression == "SNAPPY"
        assert chunk.has_dictionary_page
        assert chunk.statistics.has_null_count
    assert b"ARROW:schema" in metadata.metadata


def test_streamed_batches_fill_row_groups(tmp_path: Path) -> None:
    rows = 3_000_000
    schema = pa.schema([pa.field("offset", pa.int64(), nullable=False)])
    batches = (
        pa.record_batch([pa.array(range(start, start + 100_000))], schema=schema)
        for start in range(0, rows, 100_000)
    )
    written = write_slice(batches, tmp_path / "slice", schema=schema)
    metadata = pq.read_metadata(written.path)
    sizes = [metadata.row_group(index).num_rows for index in range(metadata.num_row_groups)]
    assert sizes == [1 << 20, 1 << 20, rows - (1 << 21)]


def test_rows_that_are_no_slice(tmp_path: Path) -> None:
    records_table = pa.table(records(0, 3), schema=SLICE_SCHEMA)
    bad: list[Any] = [
        records_table.slice(0, 0),
        records_table.drop_columns(["offset"]),
        records_table.take([0, 2, 1]),
        records_table.take([0, 0]),
    ]
    for table in bad:
        with pytest.raises(InvalidSliceInput):
            write_slice(table, tmp_path / "slice")
        assert not (tmp_path / "slice").exists()
    with pytest.raises(InvalidSliceInput):
        as_records(records_table, first_offset=0, system_time=datetime.now(UTC))


def test_data_schema_alone_is_accepted() -> None:
    content = parquet(records(0, 3))
    with pytest.raises(SliceSchemaMismatch):
        _check(content, describe(content, 0, 3), DataSchema(fields=_SCHEMA.fields[:-1]))
