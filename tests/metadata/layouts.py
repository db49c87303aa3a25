"""The model's binary layout in the terms of a FlatBuffers schema."""

from typing import Any

from odf_core.metadata import MetadataBlock
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
    shape_of,
    table_spec,
)


def model_layout() -> dict[str, dict[str, Any]]:
    """Tables, unions and enumerations that a block can hold."""
    layout: dict[str, dict[str, Any]] = {"tables": {}, "unions": {}, "enums": {}}
    _visit(shape_of(MetadataBlock), layout)
    return layout


def _visit(shape: Shape, layout: dict[str, dict[str, Any]]) -> None:
    match shape:
        case TableShape(table=table):
            if table.__name__ not in layout["tables"]:
                spec = table_spec(table)
                layout["tables"][spec.name] = [_field(field) for field in spec.fields]
                for field in spec.fields:
                    _visit(field.shape, layout)
        case UnionShape(declaration=declaration, members=members):
            if declaration.wrapper is not None:
                wrapped = {
                    "field": "value",
                    "type": declaration.name,
                    "slot": 1,
                    "typeSlot": 0,
                    "union": True,
                }
                layout["tables"][declaration.wrapper] = [wrapped]
            if declaration.name not in layout["unions"]:
                numbers = {member.__name__: number for number, member in enumerate(members, start=1)}
                layout["unions"][declaration.name] = numbers
                for member in members:
                    _visit(TableShape(member), layout)
        case VectorShape(item=item):
            _visit(item, layout)
        case EnumShape(enum=enum, base=base):
            values = {member.text: member.value for member in enum}
            layout["enums"][enum.__name__] = {"base": base.name, "values": values}


def _field(field: FieldSpec) -> dict[str, Any]:
    described: dict[str, Any] = {"field": field.name, "type": _type(field.shape), "slot": field.slot}
    if isinstance(field.shape, UnionShape):
        described |= {"typeSlot": field.slot - 1, "union": True}
    if isinstance(field.shape, IntShape | BoolShape | EnumShape) and not field.required:
        described["optionalScalar"] = True
    return described


def _type(shape: Shape) -> str:
    match shape:
        case IntShape(name=name):
            return name
        case BoolShape():
            return "bool"
        case EnumShape(enum=enum):
            return enum.__name__
        case TimestampShape():
            return "Timestamp"
        case StringShape() | TextShape():
            return "string"
        case BytesShape() | IdentityShape():
            return "[ubyte]"
        case TableShape(table=table):
            return table.__name__
        case UnionShape(declaration=declaration):
            return declaration.name
        case VectorShape(item=UnionShape(declaration=declaration)):
            return f"[{declaration.wrapper}]"
        case VectorShape(item=item):
            return f"[{_type(item)}]"
