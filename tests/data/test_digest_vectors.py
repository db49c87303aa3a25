"""The golden cases of the logical hash (data.md 1.7)."""

import base64
import hashlib
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from odf_core.data import logical_hash_batches, logical_hash_file
from odf_core.data.digest.bits import own_validity
from odf_core.data.digest.items import encode
from odf_core.data.digest.types import type_prefix
from tests.vectors import require_vectors


def _cases(name: str) -> list[dict[str, Any]]:
    cases: list[dict[str, Any]] = json.loads(require_vectors(f"arrow_digest/{name}").read_text())["cases"]
    return cases


def _read_stream(case: dict[str, Any]) -> tuple[Any, list[Any]]:
    reader = pa.ipc.open_stream(base64.b64decode(case["ipc_stream_base64"]))
    return reader.schema, list(reader)


def _items(array: Any) -> bytes:
    return b"".join(bytes(part) for part in encode(array, own_validity(array)).parts)


def test_types() -> None:
    for case in _cases("types_self_computed.json"):
        _, [batch] = _read_stream(case)
        array = batch.column(0)
        prefix = type_prefix(array.type, "x")
        assert prefix.hex() == case["type_prefix_hex"], case["id"]
        assert _items(array).hex() == case["item_stream_hex"], case["id"]
        valid = pa.array([value for value in array if value.is_valid], array.type)
        assert _items(valid).hex() == case["no_null_item_stream_hex"], case["id"]
        assert hashlib.sha3_256(prefix + _items(array)).hexdigest() == case["array_digest"]
        assert hashlib.sha3_256(prefix).hexdigest() == case["empty_array_digest"]
        schema = pa.schema([pa.field("x", array.type)])
        found = logical_hash_batches(schema, [pa.record_batch([array], schema=schema)])
        assert found.digest.hex() == case["record_digest_single_col_named_x"], case["id"]


def _digest_of(side: dict[str, Any]) -> str:
    schema, batches = _read_stream(side)
    if "record_digest_sha3_256" in side:
        found = logical_hash_batches(schema, batches).digest.hex()
        assert found == side["record_digest_sha3_256"]
        return found
    hasher = hashlib.sha3_256(type_prefix(schema.field(0).type, "x"))
    for batch in batches:
        hasher.update(_items(batch.column(0)))
    assert hasher.hexdigest() == side["array_digest_sha3_256"]
    return hasher.hexdigest()


def test_relations() -> None:
    for case in _cases("relations.json"):
        same = _digest_of(case["left"]) == _digest_of(case["right"])
        assert same == (case["relation"] == "eq"), case["source"]


@pytest.mark.parametrize("threads", [1, 2])
def test_literals(threads: int) -> None:
    for case in _cases("literals.json"):
        expected = case.get("expected_multihash") or case["logicalHash"]
        stream = io.BytesIO(base64.b64decode(case["ipc_stream_base64"]))
        assert str(logical_hash_file(stream, threads=threads)) == expected
        if "parquet_base64" in case:
            parquet = io.BytesIO(base64.b64decode(case["parquet_base64"]))
            assert str(logical_hash_file(parquet, threads=threads)) == expected


def test_reference_file() -> None:
    [case] = [case for case in _cases("literals.json") if "logicalHash" in case]
    path = require_vectors("arrow_digest/reference_add_data.parquet")
    assert str(logical_hash_file(path)) == case["logicalHash"]


def _struct_batch(struct_valid: list[int], v_valid: list[int], slots: list[int]) -> Any:
    """One struct column `s` of one nullable int32 `v` with just these bitmaps and slots."""

    def bitmap(bits: list[int]) -> Any:
        return pa.array(list(map(bool, bits))).buffers()[1]

    values = pa.array(slots, pa.int32()).buffers()[1]
    v = pa.Array.from_buffers(pa.int32(), len(slots), [bitmap(v_valid), values])
    s = pa.Array.from_buffers(
        pa.struct([pa.field("v", pa.int32())]), len(slots), [bitmap(struct_valid)], children=[v]
    )
    return pa.record_batch([s], ["s"])


def test_null_of_struct_and_child_in_one_batch_and_in_three() -> None:
    case = _cases("nested_null_quirk.json")[0]
    batch = _struct_batch(case["struct_validity"], case["v_validity"], case["v_slots"])
    whole = logical_hash_batches(batch.schema, [batch])
    single = logical_hash_batches(batch.schema, [batch.slice(row, 1) for row in range(3)])
    assert whole.digest.hex() == case["record_digest_one_batch"]
    assert single.digest.hex() == case["record_digest_three_1row_batches"]


def test_null_slots_of_the_reference_parquet_reader() -> None:
    case = _cases("nested_null_quirk.json")[1]
    table = pq.read_table(io.BytesIO(base64.b64decode(case["parquet_base64"]))).select(["s"])
    plain = logical_hash_batches(table.schema, table.to_batches())
    assert str(plain) == case["digest_with_pyarrow_slots"]
    only_s = io.BytesIO()
    pq.write_table(table, only_s)
    assert str(logical_hash_file(only_s)) == case["digest_with_parquet_rs_slots (what kamu would store)"]
