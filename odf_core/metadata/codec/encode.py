"""Encoder of block contents in canonical form: for every table of the model a function, composed once.

The order is that of metadata.md 2.2: first everything out of line, in schema order, then the slots.
A field has up to two steps: `create` writes its out-of-line part and gives its position, `store`
writes its slot.
"""

import struct
from collections.abc import Callable
from typing import Any, NoReturn, TypeAlias

from odf_core.metadata.codec.builder import Builder
from odf_core.metadata.errors import InvalidTimestamp, ValueNotEncodable
from odf_core.metadata.events import MetadataBlock
from odf_core.metadata.shapes import (
    BoolShape,
    BytesShape,
    EnumShape,
    FieldSpec,
    IdentityShape,
    IntShape,
    StringShape,
    TableShape,
    TextShape,
    TimestampShape,
    UnionShape,
    VectorShape,
    table_spec,
)
from odf_core.metadata.timestamp import Timestamp
from odf_core.metadata.versions import TIMESTAMP_ALIGNMENT

Create: TypeAlias = Callable[[Builder, Any, int], int]
Store: TypeAlias = Callable[[Builder, Any, int, int], None]
TableWriter: TypeAlias = Callable[[Builder, Any, int], int]

_TIMESTAMP = struct.Struct("<iHxxII")
_table_writers: dict[type, TableWriter] = {}


def encode_content(block: MetadataBlock, version: int) -> bytes:
    """The content of a block file of this manifest version; raises `ValueNotEncodable`."""
    builder = Builder()
    return builder.finish(_table_writer(MetadataBlock)(builder, block, TIMESTAMP_ALIGNMENT[version]))


def encode_table(value: Any, version: int) -> bytes:
    """A buffer with any declared table as its root, as engines are sent; raises `ValueNotEncodable`."""
    builder = Builder()
    return builder.finish(_table_writer(type(value))(builder, value, TIMESTAMP_ALIGNMENT[version]))


def _table_writer(table: type) -> TableWriter:
    known = _table_writers.get(table)
    if known is None:
        known = _table_writers[table] = _compose(table)
    return known


def _compose(table: type) -> TableWriter:
    spec = table_spec(table)
    steps = [(field.name, field.required, *_steps(spec.name, field)) for field in spec.fields]

    def write(builder: Builder, value: Any, alignment: int) -> int:
        stores = []
        for name, required, create, store in steps:
            part = getattr(value, name)
            if part is None:
                if required:
                    _refuse(f"{spec.name}.{name}", part)
                continue
            stores.append((store, part, create(builder, part, alignment) if create else 0))
        builder.start_table()
        for store, part, target in stores:
            store(builder, part, target, alignment)
        return builder.end_table()

    return write


def _steps(table: str, field: FieldSpec) -> tuple[Create | None, Store]:
    where, slot = f"{table}.{field.name}", field.slot
    match field.shape:
        case IntShape():
            return None, _store_number(field, where, field.shape, lambda value: value)
        case BoolShape():
            return None, lambda builder, value, target, alignment: builder.scalar(slot, bytes([bool(value)]))
        case EnumShape(enum=enum, base=base):
            return None, _store_number(
                field, where, base, lambda value: value.value if isinstance(value, enum) else value
            )
        case TimestampShape():
            return None, _store_timestamp(slot, where)
        case UnionShape():
            return _create_member(field.shape, where), _store_union(field.shape, slot)
        case shape:
            return _create(shape, where), lambda builder, value, target, alignment: builder.offset(
                slot, target
            )


def _store_number(field: FieldSpec, where: str, shape: IntShape, number_of: Callable[[Any], Any]) -> Store:
    """Required numbers are left out when they are 0, optional ones never (metadata.md 0.4)."""
    pack, slot, elided = struct.Struct(shape.format).pack, field.slot, field.required

    def store(builder: Builder, value: Any, target: int, alignment: int) -> None:
        number = number_of(value)
        if not isinstance(number, int) or not shape.low <= number <= shape.high:
            _refuse(where, value)
        if number or not elided:
            builder.scalar(slot, pack(number))

    return store


def _store_timestamp(slot: int, where: str) -> Store:
    def store(builder: Builder, value: Any, target: int, alignment: int) -> None:
        try:
            data = _TIMESTAMP.pack(*Timestamp.checked(*value))
        except (InvalidTimestamp, struct.error, TypeError):
            _refuse(where, value)
        builder.struct(slot, data, alignment)

    return store


def _store_union(shape: UnionShape, slot: int) -> Store:
    numbers = {member: bytes([number]) for number, member in enumerate(shape.members, start=1)}

    def store(builder: Builder, value: Any, target: int, alignment: int) -> None:
        builder.scalar(slot - 1, numbers[type(value)])
        builder.offset(slot, target)

    return store


def _create_member(shape: UnionShape, where: str) -> Create:
    members = frozenset(shape.members)

    def create(builder: Builder, value: Any, alignment: int) -> int:
        if type(value) not in members:
            _refuse(where, value)
        return _table_writer(type(value))(builder, value, alignment)

    return create


def _create(shape: Any, where: str) -> Create:
    match shape:
        case StringShape() | TextShape():
            return lambda builder, value, alignment: builder.string(_utf8(value, where))
        case BytesShape():
            return lambda builder, value, alignment: builder.byte_vector(value)
        case IdentityShape():
            return lambda builder, value, alignment: builder.byte_vector(value.to_bytes())
        case TableShape(table=table):
            return lambda builder, value, alignment: _table_writer(table)(builder, value, alignment)
        case VectorShape(item=UnionShape() as item):
            return _create_vector(_create_wrapped(item, where))
        case VectorShape(item=item):
            return _create_vector(_create(item, where))
    raise TypeError(f"{shape!r} is not stored out of line.")


def _create_vector(create: Create) -> Create:
    return lambda builder, value, alignment: builder.offset_vector(
        [create(builder, item, alignment) for item in value]
    )


def _create_wrapped(shape: UnionShape, where: str) -> Create:
    """A union member within a vector: the member's table, then its wrapper."""
    create, store = _create_member(shape, where), _store_union(shape, 1)

    def create_wrapped(builder: Builder, value: Any, alignment: int) -> int:
        target = create(builder, value, alignment)
        builder.start_table()
        store(builder, value, target, alignment)
        return builder.end_table()

    return create_wrapped


def _utf8(value: Any, where: str) -> bytes:
    try:
        return str(value).encode()
    except UnicodeEncodeError:
        _refuse(where, value)


def _refuse(where: str, value: Any) -> NoReturn:
    raise ValueNotEncodable(f"{where} cannot be {ascii(value)[:100]}.", objects=[where])
