"""What the annotations of the model mean: for every table its fields, slots and shapes, read once.

The codec, the manifests and the JSON Schemas are all made from these values, and from nothing else.
"""

import dataclasses
import functools
import types
from dataclasses import dataclass
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin, get_type_hints

from odf_core.identity import DatasetId, Multihash
from odf_core.metadata.declare import FormerName, PlainObject, Scalar, TextForm, UnionOf
from odf_core.metadata.enums import MetadataEnum, TimeUnit
from odf_core.metadata.timestamp import Timestamp


@dataclass(frozen=True, slots=True)
class IntShape:
    """An integer of a width: stored inline."""

    name: str
    format: str
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class BoolShape:
    """A boolean: one byte."""


@dataclass(frozen=True, slots=True)
class EnumShape:
    """An enumeration: stored as an integer of the base type, written as text."""

    enum: type[MetadataEnum]
    base: IntShape


@dataclass(frozen=True, slots=True)
class TimestampShape:
    """A moment: a struct of 16 bytes, stored inline."""


@dataclass(frozen=True, slots=True)
class StringShape:
    """Text."""


@dataclass(frozen=True, slots=True)
class TextShape:
    """A value that is stored as text."""

    form: TextForm


@dataclass(frozen=True, slots=True)
class BytesShape:
    """A byte vector; base64 in manifests."""


@dataclass(frozen=True, slots=True)
class IdentityShape:
    """A hash or an identifier: a byte vector of its binary form; text in manifests."""

    type: type[Multihash] | type[DatasetId]


@dataclass(frozen=True, slots=True)
class TableShape:
    """A table, by its class."""

    table: type


@dataclass(frozen=True, slots=True)
class UnionShape:
    """One of several tables; the number of a member is its position, counted from 1."""

    declaration: UnionOf
    members: tuple[type, ...]


@dataclass(frozen=True, slots=True)
class VectorShape:
    """Several values of one shape: strings, tables or (wrapped) union members."""

    item: "Shape"


Shape: TypeAlias = (
    IntShape
    | BoolShape
    | EnumShape
    | TimestampShape
    | StringShape
    | TextShape
    | BytesShape
    | IdentityShape
    | TableShape
    | UnionShape
    | VectorShape
)

INTS = {
    "int16": IntShape("int16", "<h", -(1 << 15), (1 << 15) - 1),
    "int32": IntShape("int32", "<i", -(1 << 31), (1 << 31) - 1),
    "uint32": IntShape("uint32", "<I", 0, (1 << 32) - 1),
    "uint64": IntShape("uint64", "<Q", 0, (1 << 64) - 1),
}


@dataclass(frozen=True, slots=True)
class FieldSpec:
    """A field of a table. `slot` is that of the value; a union's type is in the slot before."""

    name: str
    property: str
    shape: Shape
    required: bool
    slot: int
    default: Any = None
    former: FormerName | None = None


@dataclass(frozen=True, slots=True)
class TableSpec:
    """A table: its class, its fields in the order of their slots."""

    table: type
    fields: tuple[FieldSpec, ...]
    slots: int

    @property
    def name(self) -> str:
        """The table's name in the FlatBuffers schema."""
        return self.table.__name__


@functools.cache
def table_spec(table: type) -> TableSpec:
    """The fields of a table, from its annotations."""
    hints = get_type_hints(table, include_extras=True)
    fields: list[FieldSpec] = []
    slot = 0
    for field in dataclasses.fields(table):
        shape, former = _read_hint(hints[field.name])
        slot += isinstance(shape, UnionShape)
        required = field.default is dataclasses.MISSING
        default = None if required else field.default
        fields.append(FieldSpec(field.name, camel_case(field.name), shape, required, slot, default, former))
        slot += 1
    return TableSpec(table, tuple(fields), slot)


def shape_of(hint: Any) -> Shape:
    """The shape that an annotation means: a table's class, a union alias, a vector …"""
    return _read_hint(hint)[0]


def is_plain_object(table: type) -> bool:
    """Whether manifests write the table as a JSON object of any content."""
    return issubclass(table, PlainObject)


def camel_case(name: str) -> str:
    """`new_data` as `newData`."""
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


def _read_hint(hint: Any) -> tuple[Shape, FormerName | None]:
    """Shape of an annotation (None as an alternative left aside) and the former name, if it has one."""
    if get_origin(hint) is Annotated:
        base, *marks = get_args(hint)
        for mark in marks:
            match mark:
                case FormerName():
                    return _read_hint(base)[0], mark
                case Scalar():
                    return INTS[mark.name], None
                case TextForm():
                    return TextShape(mark), None
                case UnionOf():
                    return UnionShape(mark, get_args(base) or (base,)), None
    if get_origin(hint) in (Union, types.UnionType):
        (base,) = (part for part in get_args(hint) if part is not type(None))
        return _read_hint(base)
    if get_origin(hint) is tuple:
        return VectorShape(_read_hint(get_args(hint)[0])[0]), None
    return _plain_shape(hint), None


def _plain_shape(hint: type) -> Shape:
    if hint is bool:
        return BoolShape()
    if hint is str:
        return StringShape()
    if hint is Timestamp:
        return TimestampShape()
    if hint is bytes:
        return BytesShape()
    if hint is Multihash or hint is DatasetId:
        return IdentityShape(hint)
    if issubclass(hint, MetadataEnum):
        return EnumShape(hint, INTS["int16" if hint is TimeUnit else "int32"])
    if isinstance(hint, type) and dataclasses.is_dataclass(hint):
        return TableShape(hint)
    raise TypeError(f"{hint!r} has no shape in the metadata.")
