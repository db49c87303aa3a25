"""Data files made to do harm: a typed error each, never a crash, a hang, or memory without bound.

Damage is done by rule, so that every run sees the same files.
"""

import io
import random
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.data import (
    DataFileLimitExceeded,
    DataFileUnavailable,
    InvalidDataFile,
    SliceUnreadable,
    inspect_slice,
    logical_hash_file,
)
from odf_core.data.files.batches import read_batches
from odf_core.data.files.footer import read_footer
from odf_core.data.files.parquet import open_parquet
from odf_core.data.files.source import open_source
from odf_core.data.files.thrift import ThriftReader
from odf_core.errors import OdfError, Unavailable
from odf_core.limits import Limits
from tests.builders.dataset_builder import parquet, records


def _nested() -> bytes:
    rows = [{"a": 1, "b": ["x", None]}, None, {"a": None, "b": None}] * 20
    struct = pa.struct([pa.field("a", pa.int32()), pa.field("b", pa.list_(pa.string()))])
    out = io.BytesIO()
    pq.write_table(pa.table({"offset": pa.array(range(60)), "s": pa.array(rows, struct)}), out)
    return out.getvalue()


def _ipc() -> bytes:
    table = pa.table({"offset": [1, 2, None], "s": ["a", None, "c"], "l": [[1], None, [2, 3]]})
    out = io.BytesIO()
    with pa.ipc.new_stream(out, table.schema) as writer:
        writer.write_table(table)
    return out.getvalue()


def _survives(content: bytes, threads: int = 1) -> None:
    for read in (
        lambda: inspect_slice(io.BytesIO(content)),
        lambda: logical_hash_file(io.BytesIO(content), threads=threads),
    ):
        try:
            read()
        except OdfError as error:
            assert not isinstance(error, Unavailable)


@pytest.mark.parametrize(
    "make", [lambda: parquet(records(0, 20)), _nested, _ipc], ids=["flat", "nested", "ipc"]
)
def test_any_file_cut_short(make: Any) -> None:
    content = make()
    for size in range(0, len(content), max(1, len(content) // 60)):
        _survives(content[:size])


@pytest.mark.parametrize("make", [lambda: parquet(records(0, 20)), _nested], ids=["flat", "nested"])
def test_every_byte_of_a_footer(make: Any) -> None:
    """Among them are those on which pyarrow alone ends the process (chunks of another type)."""
    content = make()
    footer = int.from_bytes(content[-8:-4], "little")
    chosen = random.Random(1)
    for position in range(len(content) - 8 - footer, len(content)):
        damaged = bytearray(content)
        damaged[position] = chosen.choice([0, 1, 0x15, 0x7F, 0x80, 0xFF])
        _survives(bytes(damaged))


@pytest.mark.parametrize(
    "make", [lambda: parquet(records(0, 20)), _nested, _ipc], ids=["flat", "nested", "ipc"]
)
def test_bytes_anywhere(make: Any) -> None:
    content = make()
    chosen = random.Random(2)
    for _ in range(150):
        damaged = bytearray(content)
        for _ in range(chosen.randint(1, 5)):
            damaged[chosen.randrange(len(content))] = chosen.randrange(256)
        _survives(bytes(damaged), threads=2)


def test_chunk_of_another_physical_type() -> None:
    """The same footer with the type of one column chunk changed, which pyarrow answers by aborting."""
    content = parquet(records(0, 20))
    footer = int.from_bytes(content[-8:-4], "little")
    refused = 0
    for position in range(len(content) - 8 - footer, len(content) - 8):
        if content[position] in (2, 4):  # zigzag of INT32 and INT64
            damaged = bytearray(content)
            damaged[position] = 10  # DOUBLE
            try:
                inspect_slice(io.BytesIO(bytes(damaged)))
            except SliceUnreadable as error:
                refused += "another physical type" in error.message
            except OdfError:
                continue
    assert refused >= 5


# Bombs


def test_page_that_expands() -> None:
    out = io.BytesIO()
    table = pa.table({"offset": pa.array([0]), "x": pa.array([bytes(50_000_000)])})
    pq.write_table(table, out, compression="zstd", use_dictionary=False)
    assert len(out.getvalue()) < 100_000
    with pytest.raises(DataFileLimitExceeded):
        logical_hash_file(out, limits=Limits(slice_page_bytes=10_000_000))
    assert inspect_slice(out).num_rows == 1  # reads its offsets only


@pytest.mark.parametrize("compression", ["none", "snappy", "zstd", "gzip", "lz4"])
def test_long_value_repeated_by_a_dictionary(compression: str) -> None:
    rows = 5_000
    column = pa.DictionaryArray.from_arrays(
        pa.array(np.zeros(rows, np.int32)), pa.array(["x" * 1_000_000, "y"])
    )
    out = io.BytesIO()
    pq.write_table(
        pa.table({"x": column}),
        out,
        store_schema=False,
        dictionary_pagesize_limit=1 << 30,
        compression=compression,
    )
    with open_source(out) as file:
        batch = next(read_batches(open_parquet(file, Limits())))
        assert len(batch) == 33
        assert batch.nbytes < 40_000_000


def test_short_values_are_read_in_large_batches() -> None:
    values = [f"value {n}" for n in range(20_000)] * 5
    out = io.BytesIO()
    pq.write_table(pa.table({"x": values}), out)
    with open_source(out) as file:
        assert len(next(read_batches(open_parquet(file, Limits())))) == 100_000


def test_one_row_with_very_many_items() -> None:
    out = io.BytesIO()
    items = pa.ListArray.from_arrays(pa.array([0, 1_000_000], pa.int32()), pa.array(np.zeros(1_000_000)))
    pq.write_table(pa.table({"x": items}), out)
    with pytest.raises(DataFileLimitExceeded):
        logical_hash_file(out, limits=Limits(slice_list_items=999_999))


@pytest.mark.parametrize("limit", ["slice_pages", "slice_expanded_bytes"])
def test_pages_and_bytes_in_all(limit: str) -> None:
    out = io.BytesIO()
    pq.write_table(pa.table({"x": pa.array(range(1000))}), out, row_group_size=100)
    with pytest.raises(DataFileLimitExceeded):
        logical_hash_file(out, limits=Limits(**{limit: 5}))


# The medium, and what is no data file at all


class _Failing(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        raise OSError(5, "Input/output error")


class _StoreGone(Unavailable):
    code = "test_store_gone"


class _Gone(io.BytesIO):
    def read(self, size: int | None = -1) -> bytes:
        raise _StoreGone("The store does not answer.")


def test_the_medium_fails() -> None:
    content = parquet(records(0, 3))
    for read in (inspect_slice, logical_hash_file):
        with pytest.raises(DataFileUnavailable):
            read(_Failing(content))
        with pytest.raises(_StoreGone):
            read(_Gone(content))


@pytest.mark.parametrize(
    "content", [b"", b"{}", b"PAR1", b"ARROW1\0\0", b"\xff\xff\xff\xff\x10\0\0\0", bytes(100)]
)
def test_no_data_file(content: bytes) -> None:
    with pytest.raises(InvalidDataFile):
        logical_hash_file(io.BytesIO(content))


def test_names_that_are_no_text() -> None:
    stream = bytearray(_ipc())
    stream[stream.index(b"offset") : stream.index(b"offset") + 1] = b"\xff"
    with pytest.raises(InvalidDataFile):
        logical_hash_file(io.BytesIO(bytes(stream)))
    content = parquet(records(0, 3)).replace(b"city", b"\xffity")
    with pytest.raises(InvalidDataFile):
        logical_hash_file(io.BytesIO(content))


def test_offsets_in_an_ipc_message_are_checked() -> None:
    """A text that would end gigabytes behind its buffer."""
    batch = pa.record_batch([pa.array(["abc", "defgh"])], ["s"])
    out = io.BytesIO()
    with pa.ipc.new_stream(out, batch.schema) as writer:
        writer.write_batch(batch)
    honest, hostile = (np.array([0, 3, end], "<i4").tobytes() for end in (8, 1 << 30))
    assert out.getvalue().count(honest) == 1
    with pytest.raises(InvalidDataFile):
        logical_hash_file(io.BytesIO(out.getvalue().replace(honest, hostile)))


# Thrift


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x15",
        b"\x15\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80",
        b"\x18\xff\xff\xff\xff\x0f",
        b"\x19\xf5\xff\xff\xff\xff\x0f",
        b"\x1b\xff\xff\xff\x7f\x55",
        b"\x1d\x00",
        b"\x1c" * 200,
        b"\x19\x19" * 200,
    ],
)
def test_thrift_that_lies_about_sizes(data: bytes) -> None:
    kinds: list[dict[int, Any]] = [{}, {1: None}, {1: {}}]
    for wanted in kinds:
        with pytest.raises(InvalidDataFile):
            ThriftReader(data).struct(wanted)


def test_footer_is_what_pyarrow_reads() -> None:
    content = _nested()
    with open_source(io.BytesIO(content)) as file:
        footer = read_footer(file, Limits())
    metadata = pq.read_metadata(io.BytesIO(content))
    assert footer.num_rows == metadata.num_rows
    assert [leaf.name for leaf in footer.leaves] == [
        metadata.schema.column(index).path for index in range(metadata.num_columns)
    ]
    for index, chunk in enumerate(footer.row_groups[0].chunks):
        expected = metadata.row_group(0).column(index)
        assert chunk.num_values == expected.num_values
        assert chunk.compressed_size == expected.total_compressed_size
        assert chunk.null_count == expected.statistics.null_count
