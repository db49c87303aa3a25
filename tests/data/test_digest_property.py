"""The vectorised digest against the naive one, over random types, nulls, slices and splits."""

import hashlib
import io
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from odf_core.data import logical_hash_batches, logical_hash_file
from odf_core.data.digest.bits import own_validity
from odf_core.data.digest.items import encode
from tests.data.arrow_strategies import columns, tables
from tests.data.naive_digest import item, naive_hash

_SLOW = settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))


@_SLOW
@given(tables())
def test_equal_to_the_naive_digest(table: tuple[Any, list[Any]]) -> None:
    schema, batches = table
    assert logical_hash_batches(schema, batches, threads=1).digest.hex() == naive_hash(schema, batches)


@_SLOW
@given(st.integers(1, 30).flatmap(columns))
def test_items_and_their_bounds(array: Any) -> None:
    found = encode(array, own_validity(array), with_bounds=True)
    stream = b"".join(bytes(part) for part in found.parts)
    assert found.bounds is not None
    parts = [stream[a:b] for a, b in zip(found.bounds, found.bounds[1:], strict=False)]
    assert parts == [item(scalar) for scalar in array]


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(tables())
def test_ipc_stream_and_file_in_threads(table: tuple[Any, list[Any]]) -> None:
    schema, batches = table
    expected = logical_hash_batches(schema, batches, threads=1)
    for start in (pa.ipc.new_stream, pa.ipc.new_file):
        out = io.BytesIO()
        with start(out, schema) as writer:
            for batch in batches:
                writer.write_batch(batch)
        assert logical_hash_file(out, threads=2) == expected


_ROWS = 70_001
_LONG = {
    "bool": lambda random: pa.array(random.random(_ROWS) < 0.5),
    "int8": lambda random: pa.array(random.integers(-128, 127, _ROWS), pa.int8()),
    "int16": lambda random: pa.array(random.integers(-999, 999, _ROWS), pa.int16()),
    "int32": lambda random: pa.array(random.integers(-999, 999, _ROWS), pa.int32()),
    "float64": lambda random: pa.array(random.normal(size=_ROWS)),
    "decimal128": lambda random: pa.array(random.integers(-999, 999, _ROWS)).cast(pa.decimal128(38, 2)),
    "decimal256": lambda random: pa.array(random.integers(-999, 999, _ROWS)).cast(pa.decimal256(60, 2)),
    "string": lambda random: pa.array(["x" * n for n in random.integers(0, 20, _ROWS)]),
    "string_view": lambda random: pa.array(
        ["x" * n for n in random.integers(0, 20, _ROWS)], pa.string_view()
    ),
    "list": lambda random: pa.ListArray.from_arrays(
        pa.array(np.arange(_ROWS + 1) * 2, pa.int32()), pa.array(random.integers(0, 9, 2 * _ROWS))
    ),
}


@pytest.mark.parametrize("nulls", [0.0, 0.3])
@pytest.mark.parametrize("kind", _LONG)
def test_columns_longer_than_any_block(kind: str, nulls: float) -> None:
    """Across the bounds of blocks and pieces, with what nulls leave in their slots, and from an odd row."""
    random = np.random.default_rng(3)
    whole = _LONG[kind](random)
    bitmap = pa.py_buffer(np.packbits(random.random(_ROWS) >= nulls, bitorder="little"))
    children = [whole.values] if kind == "list" else None
    buffers = [bitmap, *whole.buffers()[1 : 2 if kind == "list" else None]]
    array = pa.Array.from_buffers(whole.type, _ROWS, buffers, children=children).slice(5)
    schema = pa.schema([pa.field("c", array.type)])
    batch = pa.record_batch([array], schema=schema)
    expected = naive_hash(schema, [batch])
    for threads in (1, 2, 3):
        assert logical_hash_batches(schema, [batch], threads=threads).digest.hex() == expected


def test_long_items_are_hashed_where_they_lie() -> None:
    values = [None, b"a" * 9_000_000, b"", b"b" * 9_000_000, None, b"c"]
    schema = pa.schema([pa.field("c", pa.binary())])
    batch = pa.record_batch([pa.array(values, pa.binary())], schema=schema)
    assert logical_hash_batches(schema, [batch]).digest.hex() == naive_hash(schema, [batch])


def test_nan_payloads_and_minus_zero_are_kept() -> None:
    bits = np.array([0x7FF8000000000001, 0xFFF8000000000002, 0x8000000000000000], np.uint64)
    schema = pa.schema([pa.field("c", pa.float64())])
    batch = pa.record_batch([pa.array(bits.view(np.float64))], schema=schema)
    stream = hashlib.sha3_256(bytes.fromhex("0200") + (64).to_bytes(8, "little") + bits.tobytes())
    header = (1).to_bytes(8, "little") + b"c" + bytes(8)
    assert logical_hash_batches(schema, [batch]).digest == hashlib.sha3_256(header + stream.digest()).digest()
