"""The logical hash once more, item by item from the words of the specification of it, slow and plain.

Shares nothing with `odf_core.data` and looks at values, not at buffers, so that both are wrong in the
same way only if the words are.
"""

import hashlib
import struct
from decimal import Decimal, localcontext
from typing import Any

import pyarrow as pa

UNITS = {"s": 0, "ms": 1, "us": 2, "ns": 3}


def u64(number: int) -> bytes:
    return struct.pack("<Q", number)


def u16(number: int) -> bytes:
    return struct.pack("<H", number)


def text(value: str) -> bytes:
    return u64(len(value.encode())) + value.encode()


def prefix(t: pa.DataType) -> bytes:
    name = str(t)
    if name.startswith(("list", "large_list", "fixed_size_list")):
        return u16(11) + prefix(t.value_type)
    if pa.types.is_boolean(t):
        return u16(5)
    if pa.types.is_integer(t):
        return u16(1) + bytes([not name.startswith("u")]) + u64(t.bit_width)
    if pa.types.is_floating(t):
        return u16(2) + u64(t.bit_width)
    if "binary" in name:
        return u16(3)
    if "string" in name:
        return u16(4)
    if name.startswith("decimal"):
        return u16(6) + u64(t.bit_width) + u64(t.precision) + struct.pack("<q", t.scale)
    if name.startswith("date32"):
        return u16(7) + u64(32) + u16(0)
    if name.startswith("date64"):
        return u16(7) + u64(64) + u16(1)
    if name.startswith(("time32", "time64")):
        return u16(8) + u64(t.bit_width) + u16(UNITS[t.unit])
    assert name.startswith("timestamp"), name
    return u16(9) + u16(UNITS[t.unit]) + (b"\0" if t.tz is None else text(t.tz))


def item(scalar: Any) -> bytes:
    """The bytes of one item."""
    if not scalar.is_valid:
        return b"\0"
    t = scalar.type
    if pa.types.is_boolean(t):
        return b"\2" if scalar.as_py() else b"\1"
    if pa.types.is_integer(t):
        signed = pa.types.is_signed_integer(t)
        return int(scalar.as_py()).to_bytes(t.bit_width // 8, "little", signed=signed)
    if pa.types.is_floating(t):
        return struct.pack({16: "<e", 32: "<f", 64: "<d"}[t.bit_width], scalar.as_py())
    if pa.types.is_decimal(t):
        with localcontext(prec=100):
            unscaled = int(scalar.as_py().scaleb(t.scale, context=None) if t.scale else scalar.as_py())
            assert Decimal(unscaled).scaleb(-t.scale) == scalar.as_py()
        return unscaled.to_bytes(t.bit_width // 8, "little", signed=True)
    if pa.types.is_temporal(t):
        return int(scalar.value).to_bytes(t.bit_width // 8, "little", signed=True)
    if "list" in str(t):
        return u64(len(scalar.values)) + b"".join(map(item, scalar.values))
    value = scalar.as_py()
    data = value.encode() if isinstance(value, str) else bytes(value)
    return u64(len(data)) + data


class NaiveDigest:
    """Flat columns and structs whose nulls do not meet: what the safe part of the hash is."""

    def __init__(self, schema: pa.Schema) -> None:
        self.header = b""
        self.columns: list[Any] = []
        for field in schema:
            self._add(field, 0)

    def _add(self, field: pa.Field, level: int) -> None:
        self.header += text(field.name) + u64(level)
        if pa.types.is_struct(field.type):
            for child in field.type:
                self._add(child, level + 1)
        else:
            self.columns.append(hashlib.sha3_256(prefix(field.type)))

    def update(self, batch: pa.RecordBatch) -> None:
        hashers = iter(self.columns)
        for column in batch.columns:
            self._feed(column, None, hashers)

    def _feed(self, array: pa.Array, parent: list[bool] | None, hashers: Any) -> None:
        """Nulls of a parent and of its child meet as a bitwise OR of validity, and only where both sides
        have nulls in this batch (data.md 1.6)."""
        own = None if array.null_count == 0 else [value.is_valid for value in array]
        valid = parent if own is None else own
        if parent is not None and own is not None:
            valid = [one or other for one, other in zip(parent, own, strict=True)]
        if pa.types.is_struct(array.type):
            for position in range(array.type.num_fields):
                self._feed(array.field(position), valid, hashers)
            return
        raw = raw_slots(array) if parent is not None and own is not None else array
        assert valid is None or len(valid) == len(array)
        stream = [item(raw[row]) if valid is None or valid[row] else b"\0" for row in range(len(array))]
        next(hashers).update(b"".join(stream))

    def hex(self) -> str:
        return hashlib.sha3_256(self.header + b"".join(c.digest() for c in self.columns)).hexdigest()


def raw_slots(array: pa.Array) -> pa.Array:
    """The array without its bitmap: what lies in the slots of nulls shows."""
    buffers = array.buffers()
    return pa.Array.from_buffers(array.type, len(array), [None, *buffers[1:]], offset=array.offset)


def naive_hash(schema: pa.Schema, batches: list[pa.RecordBatch]) -> str:
    digest = NaiveDigest(schema)
    for batch in batches:
        digest.update(batch)
    return digest.hex()
