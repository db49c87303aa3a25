"""Decoder of block contents: for every table of the model a function, composed once (metadata.md 1).

The input is hostile until it has been decoded: see `reader`. A reader of a field is a function of
(reader, table position, offset of the slot's value, inline size, remaining depth, offsets of all slots)
that gives the field's value.
"""

import struct
import threading
from collections.abc import Callable
from typing import Any, TypeAlias

from odf_core.errors import OdfError
from odf_core.identity import DatasetId
from odf_core.metadata.codec.legacy import (
    LEGACY_VERSION,
    MAX_LEGACY_SEQUENCE_NUMBER,
    read_dataset_id,
    refuse_legacy_layout,
)
from odf_core.metadata.codec.reader import (
    Reader,
    byte_vector,
    follow,
    malformed,
    offset_vector,
    read_slots,
    string_at,
)
from odf_core.metadata.errors import NestingTooDeep, UnsupportedMember
from odf_core.metadata.events import MetadataBlock
from odf_core.metadata.shapes import (
    BoolShape,
    BytesShape,
    EnumShape,
    FieldSpec,
    IdentityShape,
    IntShape,
    Shape,
    StringShape,
    TableShape,
    TextShape,
    TimestampShape,
    UnionShape,
    VectorShape,
    table_spec,
)
from odf_core.metadata.timestamp import Timestamp

FieldReader: TypeAlias = Callable[[Reader, int, int, int, int, tuple[int, ...]], Any]
TableReader: TypeAlias = Callable[[Reader, int, int], Any]
ElementReader: TypeAlias = Callable[[Reader, int, int], Any]

_TIMESTAMP = struct.Struct("<iHxxII")
_MISSING = object()
_table_readers: dict[type, TableReader] = {}
_composing = threading.RLock()


def decode_content(content: bytes, version: int, max_depth: int) -> MetadataBlock:
    """The block of an unwrapped content; raises what `decode_block` names."""
    reader = Reader(content, max_depth)
    root = reader.root()
    try:
        block: MetadataBlock = table_reader(MetadataBlock)(reader, root, max_depth)
    except OdfError:
        if version == LEGACY_VERSION:
            refuse_legacy_layout(reader, root)
        raise
    if version == LEGACY_VERSION and block.sequence_number > MAX_LEGACY_SEQUENCE_NUMBER:
        refuse_legacy_layout(reader, root)
    return block


def decode_table(table: type, content: bytes, max_depth: int) -> Any:
    """The value of a buffer whose root is this declared table; raises as `decode_block` does."""
    reader = Reader(content, max_depth)
    return table_reader(table)(reader, reader.root(), max_depth)


def table_reader(table: type) -> TableReader:
    """The decoder of a table, composed on first use together with those of the tables within."""
    known = _table_readers.get(table)
    if known is not None and known is not _not_composed:
        return known
    with _composing:  # another thread may be at it; this one may be, in a table that contains itself
        if table not in _table_readers:
            _table_readers[table] = _not_composed
            _table_readers[table] = _compose(table)
        return _table_readers[table]


def _not_composed(reader: Reader, position: int, depth: int) -> Any:
    """Stands for a table that contains itself while its decoder is composed."""
    raise RecursionError("A decoder was used while it was composed.")


def _compose(table: type) -> TableReader:
    spec = table_spec(table)
    name, count, new = spec.name, spec.slots, object.__new__
    # Values are set through the slots of the class: the generated __init__ of a frozen dataclass does
    # the same three times slower, and there is nothing else that it would do.
    fields = tuple(
        (
            vars(table)[field.name].__set__,
            _first_slot(field),
            _field_reader(name, field),
            _value_of_absent(field),
        )
        for field in spec.fields
    )

    def read(reader: Reader, position: int, depth: int) -> Any:
        if depth <= 0:
            raise NestingTooDeep(f"The block nests tables deeper than {reader.max_depth} levels.")
        slots, size = read_slots(reader, position, count, name)
        value: Any = new(table)
        for set_field, slot, read_field, absent in fields:
            at = slots[slot]
            if at:
                set_field(value, read_field(reader, position, at, size, depth, slots))
            elif absent is _MISSING:
                malformed(f"{name}.{set_field.__self__.__name__}", "is missing")
            else:
                set_field(value, absent)
        return value

    return read


def _first_slot(field: FieldSpec) -> int:
    """The slot that tells whether the field is there: of a union, that of its type."""
    return field.slot - isinstance(field.shape, UnionShape)


def _value_of_absent(field: FieldSpec) -> Any:
    """What absence means: 0 for a required number, an error for other required fields (metadata.md 0.4)."""
    if not field.required:
        return field.default
    match field.shape:
        case EnumShape(enum=enum):
            return enum(0)
        case BoolShape():
            return False
        case IntShape():
            return 0
    return _MISSING


def _field_reader(table: str, field: FieldSpec) -> FieldReader:
    where = f"{table}.{field.name}"
    match field.shape:
        case IntShape(format=form):
            return _number_reader(where, struct.Struct(form))
        case BoolShape():
            return _number_reader(where, struct.Struct("<?"))
        case EnumShape():
            return _enum_reader(where, field.shape)
        case TimestampShape():
            return _timestamp_reader(where)
        case UnionShape():
            return _union_reader(where, field.shape, field.slot, required=field.required)
        case BytesShape():
            return lambda reader, table, at, size, depth, slots: byte_vector(reader, table, at, size, where)
        case IdentityShape(type=kind):
            parse = read_dataset_id if kind is DatasetId else kind.from_bytes
            return lambda reader, table, at, size, depth, slots: parse(
                byte_vector(reader, table, at, size, where)
            )
        case VectorShape(item=item):
            return _vector_reader(where, _element_reader(item, where))
        case shape:
            read = _element_reader(shape, where)
            return lambda reader, table, at, size, depth, slots: read(
                reader, follow(reader, table, at, size, where), depth
            )


def _number_reader(where: str, form: struct.Struct) -> FieldReader:
    width, unpack = form.size, form.unpack_from

    def read(reader: Reader, table: int, at: int, size: int, depth: int, slots: tuple[int, ...]) -> Any:
        if not 4 <= at <= size - width:
            malformed(where, "lies outside of its table")
        return unpack(reader.data, table + at)[0]

    return read


def _timestamp_reader(where: str) -> FieldReader:
    width, unpack = _TIMESTAMP.size, _TIMESTAMP.unpack_from

    def read(reader: Reader, table: int, at: int, size: int, depth: int, slots: tuple[int, ...]) -> Any:
        if not 4 <= at <= size - width:
            malformed(where, "lies outside of its table")
        return Timestamp.checked(*unpack(reader.data, table + at))

    return read


def _enum_reader(where: str, shape: EnumShape) -> FieldReader:
    values = {member.value: member for member in shape.enum}
    read_number = _number_reader(where, struct.Struct(shape.base.format))

    def read(reader: Reader, table: int, at: int, size: int, depth: int, slots: tuple[int, ...]) -> Any:
        number = read_number(reader, table, at, size, depth, slots)
        member = values.get(number)
        if member is None:
            raise UnsupportedMember(
                f"{where} has the number {number}, which no known {shape.enum.__name__} has.",
                objects=[where],
                extras={"enum": shape.enum.__name__, "number": number},
            )
        return member

    return read


def _union_reader(where: str, shape: UnionShape, slot: int, *, required: bool) -> FieldReader:
    """Reads the member that the type at `at` names, from the value's slot."""
    union, members = shape.declaration.name, shape.members
    for member in members:
        table_reader(member)
    read_type = _number_reader(where, struct.Struct("<B"))

    def read(reader: Reader, table: int, at: int, size: int, depth: int, slots: tuple[int, ...]) -> Any:
        number = read_type(reader, table, at, size, depth, slots)
        if number == 0 and not required:
            return None
        if not 1 <= number <= len(members):
            raise UnsupportedMember(
                f"{where} has the member number {number}, but {union} is known from 1 to {len(members)}.",
                objects=[where],
                extras={"union": union, "number": number},
            )
        if not slots[slot]:
            malformed(where, "has a type and no value")
        target = follow(reader, table, slots[slot], size, where)
        return _table_readers[members[number - 1]](reader, target, depth - 1)

    return read


def _vector_reader(where: str, read_item: ElementReader) -> FieldReader:
    def read(reader: Reader, table: int, at: int, size: int, depth: int, slots: tuple[int, ...]) -> Any:
        targets = offset_vector(reader, table, at, size, where)
        return tuple([read_item(reader, target, depth) for target in targets])

    return read


def _element_reader(shape: Shape, where: str) -> ElementReader:
    """Reads a text, a table or a wrapped union member at a position that has room for a length."""
    match shape:
        case StringShape():
            return lambda reader, target, depth: string_at(reader, target, where)
        case TextShape(form=form):
            return lambda reader, target, depth: form.parse(string_at(reader, target, where))
        case TableShape(table=table):
            table_reader(table)
            return lambda reader, target, depth: _table_readers[table](reader, target, depth - 1)
        case UnionShape():
            return _wrapped_reader(shape, where)
    raise TypeError(f"{shape!r} is not stored behind a reference.")


def _wrapped_reader(shape: UnionShape, where: str) -> ElementReader:
    read_member = _union_reader(where, shape, 1, required=True)

    def read(reader: Reader, target: int, depth: int) -> Any:
        slots, size = read_slots(reader, target, 2, where)
        if not slots[0]:
            malformed(where, "has an element without a value")
        return read_member(reader, target, slots[0], size, depth, slots)

    return read
