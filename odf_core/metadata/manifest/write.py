"""From values of the model to JSON-compatible objects in canonical form (metadata.md 5)."""

import base64
from collections.abc import Callable
from typing import Any, TypeAlias

from odf_core.metadata.shapes import (
    BoolShape,
    BytesShape,
    EnumShape,
    IdentityShape,
    IntShape,
    Shape,
    StringShape,
    TableShape,
    TextShape,
    TimestampShape,
    UnionShape,
    VectorShape,
    is_plain_object,
    table_spec,
)

Writer: TypeAlias = Callable[[Any], Any]

_table_writers: dict[tuple[type, str | None], Writer] = {}


def to_json(value: Any, shape: Shape) -> Any:
    """The JSON-compatible object of a value of this shape: new dicts and lists, text, numbers, booleans."""
    return _writer(shape)(value)


def _writer(shape: Shape) -> Writer:
    match shape:
        case IntShape() | BoolShape() | StringShape():
            return lambda value: value
        case TimestampShape() | TextShape() | IdentityShape():
            return str
        case EnumShape():
            return lambda value: value.text
        case BytesShape():
            return lambda value: base64.b64encode(value).decode("ascii")
        case VectorShape(item=item):
            write = _writer(item)
            return lambda value: [write(element) for element in value]
        case TableShape(table=table) if is_plain_object(table):
            return lambda value: value.to_object()
        case TableShape(table=table):
            return lambda value: _table_writer(table, None)(value)
        case UnionShape():
            return _union_writer(shape)


def _union_writer(shape: UnionShape) -> Writer:
    prefix = shape.declaration.prefix
    kinds = {member: member.__name__.removeprefix(prefix) for member in shape.members}
    return lambda value: _table_writer(type(value), kinds[type(value)])(value)


def _table_writer(table: type, kind: str | None) -> Writer:
    """The writer of a table; of a union's member, if `kind` is given."""
    known = _table_writers.get((table, kind))
    if known is None:
        known = _table_writers[table, kind] = _compose(table, kind)
    return known


def _compose(table: type, kind: str | None) -> Writer:
    fields = [
        (field.name, field.property, field.default, _writer(field.shape))
        for field in table_spec(table).fields
    ]

    def write(value: Any) -> dict[str, Any]:
        result: dict[str, Any] = {} if kind is None else {"kind": kind}
        for name, key, default, write_part in fields:
            part = getattr(value, name)
            if part is not None and (default is None or part != default):
                result[key] = write_part(part)
        return result

    return write
