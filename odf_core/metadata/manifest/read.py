"""From JSON-compatible objects to values of the model, with every leniency of metadata.md 5 and no other.

A reader is a function of (value, path, remaining depth).
"""

import base64
import binascii
from collections.abc import Callable
from typing import Any, TypeAlias

from odf_core.errors import LimitExceeded, OdfError
from odf_core.metadata.declare import FormerName, PlainObject
from odf_core.metadata.errors import InvalidManifest, NestingTooDeep
from odf_core.metadata.manifest.place import Path, path_steps, path_text, refuse, shown
from odf_core.metadata.manifest.spelling import spellings
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
    is_plain_object,
    table_spec,
)
from odf_core.metadata.timestamp import Timestamp

Reader: TypeAlias = Callable[[Any, Path, int], Any]

_table_readers: dict[tuple[type, bool], Reader] = {}


def from_json(value: Any, shape: Shape, path: Path, max_depth: int) -> Any:
    """The value that a JSON-compatible object means.

    Raises `InvalidManifest`, whose sentence and `objects` name the place, or `NestingTooDeep`.
    """
    return _reader(shape)(value, path, max_depth)


def _reader(shape: Shape) -> Reader:
    match shape:
        case IntShape():
            return _integer_reader(shape)
        case BoolShape():
            return _typed(bool, "true or false")
        case StringShape():
            return _text_reader
        case TextShape(form=form):
            return _parsed(form.parse)
        case TimestampShape():
            return _parsed(Timestamp.parse)
        case EnumShape(enum=enum):
            return _enum_reader(enum)
        case BytesShape():
            return _base64_reader
        case IdentityShape(type=kind):
            return _parsed(kind.parse)
        case VectorShape(item=item):
            return _vector_reader(_reader(item))
        case TableShape(table=table) if is_plain_object(table):
            return _plain_object_reader(table)
        case TableShape(table=table):
            return lambda value, path, depth: _table_reader(table, False)(value, path, depth)
        case UnionShape():
            return _union_reader(shape)


def _typed(kind: type, name: str) -> Reader:
    def read(value: Any, path: Path, depth: int) -> Any:
        if type(value) is not kind:
            refuse(path, f"has to be {name}, not {shown(value)}")
        return value

    return read


def _text_reader(value: Any, path: Path, depth: int) -> Any:
    if type(value) is not str:
        refuse(path, f"has to be text, not {shown(value)}")
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            refuse(path, "holds half of a surrogate pair")
    return value


def _integer_reader(shape: IntShape) -> Reader:
    def read(value: Any, path: Path, depth: int) -> Any:
        if type(value) is not int or not shape.low <= value <= shape.high:
            refuse(path, f"has to be an integer from {shape.low} to {shape.high}, not {shown(value)}")
        return value

    return read


def _parsed(parse: Callable[[str], Any]) -> Reader:
    """Text that means a value."""

    def read(value: Any, path: Path, depth: int) -> Any:
        try:
            return parse(_text_reader(value, path, depth))
        except (LimitExceeded, InvalidManifest):
            raise
        except OdfError as error:
            where = path_text(path)
            raise InvalidManifest(
                f"Invalid manifest: {where}: {error.message}",
                objects=[where],
                extras={"place": path_steps(path)},
            ) from error

    return read


def _enum_reader(enum: Any) -> Reader:
    members = spellings((member.text, member) for member in enum)

    def read(value: Any, path: Path, depth: int) -> Any:
        member = members.get(value) if isinstance(value, str) else None
        if member is None:
            names = ", ".join(each.text for each in enum)
            refuse(path, f"has to be one of {names}, not {shown(value)}")
        return member

    return read


def _base64_reader(value: Any, path: Path, depth: int) -> Any:
    text = _text_reader(value, path, depth)
    try:
        data = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        refuse(path, "is not base64")
    if base64.b64encode(data).decode("ascii") != text:
        refuse(path, "is not base64 in canonical form")
    return data


def _vector_reader(read_item: Reader) -> Reader:
    def read(value: Any, path: Path, depth: int) -> Any:
        if not isinstance(value, list):
            refuse(path, f"has to be an array, not {shown(value)}")
        return tuple([read_item(item, (path, index), depth) for index, item in enumerate(value)])

    return read


def _plain_object_reader(table: type[PlainObject]) -> Reader:
    def read(value: Any, path: Path, depth: int) -> Any:
        try:
            return table.from_object(value)
        except LimitExceeded:
            raise
        except OdfError as error:
            where = path_text(path)
            raise InvalidManifest(
                f"Invalid manifest: {where}: {error.message}",
                objects=[where],
                extras={"place": path_steps(path)},
            ) from error

    return read


def _union_reader(shape: UnionShape) -> Reader:
    declaration = shape.declaration
    members = spellings(
        (member.__name__.removeprefix(declaration.prefix), member) for member in shape.members
    )

    def read(value: Any, path: Path, depth: int) -> Any:
        if declaration.short_form and isinstance(value, str):
            value = {"kind": value}
        if not isinstance(value, dict):
            refuse(path, f"has to be an object, not {shown(value)}")
        if "kind" not in value:
            refuse(path, "lacks the property 'kind'")
        kind = value["kind"]
        member = members.get(kind) if isinstance(kind, str) else None
        if member is None:
            names = ", ".join(each.__name__.removeprefix(declaration.prefix) for each in shape.members)
            refuse((path, "kind"), f"has to be one of {names}, not {shown(kind)}")
        return _table_reader(member, True)(value, path, depth)

    return read


def _table_reader(table: type, member: bool) -> Reader:
    """The reader of a table; with `member`, of a union's member, whose `kind` has been looked at."""
    known = _table_readers.get((table, member))
    if known is None:
        known = _table_readers[table, member] = _compose(table, member)
    return known


def _compose(table: type, member: bool) -> Reader:
    fields = table_spec(table).fields
    readers = {field.name: _reader(field.shape) for field in fields}
    by_property = {field.property: field for field in fields}
    former = {field.former.name: (field.former, field) for field in fields if field.former is not None}

    def read(value: Any, path: Path, depth: int) -> Any:
        if not isinstance(value, dict):
            refuse(path, f"has to be an object, not {shown(value)}")
        if depth <= 0:
            raise NestingTooDeep(f"Invalid manifest: {path_text(path)} is nested too deep.")
        parts: dict[str, Any] = {}
        for key, part in value.items():
            if key == "kind" and member:
                continue
            field = _field_for(key, part, by_property, former)
            if field is None:
                known = ", ".join(by_property) or "none"
                refuse(path, f"has the unknown property {shown(key)} (known: {known})", at=(path, key))
            if field.name in parts:
                refuse(path, f"has the property {field.property} twice, once under its former name")
            parts[field.name] = _read_part(field, readers[field.name], part, (path, key), depth)
        for field in fields:
            if field.required and field.name not in parts:
                refuse(path, f"lacks the property {field.property!r}")
        return table(**parts)

    return read


def _field_for(
    key: Any,
    part: Any,
    by_property: dict[str, FieldSpec],
    former: dict[str, tuple[FormerName, FieldSpec]],
) -> FieldSpec | None:
    """The field that a property means; one name may have meant another field earlier (metadata.md 5.8)."""
    if key in former and isinstance(part, former[key][0].json_type):
        return former[key][1]
    return by_property.get(key)


def _read_part(field: FieldSpec, read: Reader, part: Any, path: Path, depth: int) -> Any:
    """A property's value; null stands for absence, but not of date-times and bytes (metadata.md 5.2)."""
    if part is None and not field.required and field.default is None and not _refuses_null(field.shape):
        return None
    return read(part, path, depth - 1)


def _refuses_null(shape: Shape) -> bool:
    return isinstance(shape, TimestampShape | BytesShape)
