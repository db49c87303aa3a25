"""JSON Schemas (draft 2020-12) of the manifests' contents, made from the model.

They describe the canonical form, which is what this project writes: long forms of variants in
PascalCase, current property names, nothing null.
"""

from typing import Any

from odf_core.metadata.errors import InvalidManifest
from odf_core.metadata.manifest.envelope import MANIFEST_SHAPES
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
from odf_core.metadata.versions import MAX_MANIFEST_VERSION, MIN_MANIFEST_VERSION

_DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(kind: str) -> dict[str, Any]:
    """The schema of the content of a manifest of a kind: `MetadataBlock`, `DatasetSnapshot` …

    Raises `InvalidManifest` for a kind that does not exist.
    """
    shape = _shape_of_kind(kind)
    definitions: dict[str, Any] = {}
    root = _schema(shape, definitions)
    return {"$schema": _DIALECT, "title": kind, **root, "$defs": dict(sorted(definitions.items()))}


def manifest_json_schema(kind: str) -> dict[str, Any]:
    """The schema of a whole manifest of a kind, with its wrapper. Raises as `json_schema`."""
    definitions: dict[str, Any] = {}
    content = _schema(_shape_of_kind(kind), definitions)
    low, high = (MIN_MANIFEST_VERSION, MAX_MANIFEST_VERSION) if kind == "MetadataBlock" else (1, 1)
    properties = {
        "kind": {"const": kind},
        "version": {"type": "integer", "minimum": low, "maximum": high},
        "content": content,
    }
    return {
        "$schema": _DIALECT,
        "title": f"Manifest of {kind}",
        **_object(properties, list(properties)),
        "$defs": dict(sorted(definitions.items())),
    }


def _shape_of_kind(kind: str) -> Shape:
    shape = MANIFEST_SHAPES.get(kind)
    if shape is None:
        raise InvalidManifest(
            f"There is no manifest of kind {kind!r}; the kinds are {', '.join(MANIFEST_SHAPES)}."
        )
    return shape


def _schema(shape: Shape, definitions: dict[str, Any]) -> dict[str, Any]:
    match shape:
        case IntShape(low=low, high=high):
            return {"type": "integer", "minimum": low, "maximum": high}
        case BoolShape():
            return {"type": "boolean"}
        case TimestampShape():
            return {"type": "string", "format": "date-time"}
        case EnumShape(enum=enum):
            return {"enum": [member.text for member in enum], "description": _sentence(enum)}
        case StringShape():
            return {"type": "string"}
        case TextShape(form=form):
            return {"type": "string", "description": form.description}
        case BytesShape():
            return {"type": "string", "contentEncoding": "base64"}
        case IdentityShape(type=kind):
            return {"type": "string", "description": f"{kind.__name__} as text"}
        case VectorShape(item=item):
            return {"type": "array", "items": _schema(item, definitions)}
        case TableShape(table=table):
            return _table_reference(table, definitions)
        case UnionShape():
            return _union_reference(shape, definitions)


def _table_reference(table: type, definitions: dict[str, Any]) -> dict[str, Any]:
    name = table.__name__
    if name not in definitions:
        definitions[name] = {}  # a recursive type refers to itself while it is described
        if is_plain_object(table):
            definitions[name] = {"type": "object", "description": _sentence(table)}
        else:
            definitions[name] = _table_schema(table, None, definitions)
    return {"$ref": f"#/$defs/{name}"}


def _union_reference(shape: UnionShape, definitions: dict[str, Any]) -> dict[str, Any]:
    name = shape.declaration.name
    if name not in definitions:
        definitions[name] = {}
        members = []
        for member in shape.members:
            kind = member.__name__.removeprefix(shape.declaration.prefix)
            key = f"{name}{kind}" if shape.declaration.prefix == "" else member.__name__
            definitions[key] = _table_schema(member, kind, definitions)
            members.append({"$ref": f"#/$defs/{key}"})
        definitions[name] = {"oneOf": members}
    return {"$ref": f"#/$defs/{name}"}


def _table_schema(table: type, kind: str | None, definitions: dict[str, Any]) -> dict[str, Any]:
    fields: tuple[FieldSpec, ...] = table_spec(table).fields
    properties: dict[str, Any] = {} if kind is None else {"kind": {"const": kind}}
    properties |= {field.property: _schema(field.shape, definitions) for field in fields}
    required = ([] if kind is None else ["kind"]) + [field.property for field in fields if field.required]
    return {"description": _sentence(table), **_object(properties, required)}


def _object(properties: dict[str, Any], required: list[str]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


def _sentence(described: type) -> str:
    """The first line of a docstring."""
    return (described.__doc__ or "").strip().splitlines()[0]
