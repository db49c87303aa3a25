"""Columns of links to objects (data.md 3.8): each link has to be the hash of an object of the dataset.

A field is one if its extra attributes say so: `opendatafabric.org/type` of the kind `ObjectLink` to a
`Multihash`. The objects lie where the dataset's slices do, under their SHA3-256; who puts them there does
so before the records that name them.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar, TypeAlias

import pyarrow.parquet as pq

from odf_core.errors import InvalidInput
from odf_core.identity import Multihash
from odf_core.ingest.words import shown
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataType,
    DataTypeList,
    DataTypeOption,
    DataTypeString,
    DataTypeStruct,
    ExtraAttributes,
)

LINKED_OBJECTS = "opendatafabric.org/linkedObjects"
FIELD_TYPE = "opendatafabric.org/type"
_ENCODING = "arrow.apache.org/"
_BATCH_RECORDS = 65_536
_SHOWN = 100

ObjectSize: TypeAlias = Callable[[Multihash], int | None]
"""The size in bytes of an object of the dataset, None where it has none of this hash."""


class LinkColumnUnsupported(InvalidInput):
    """A field is declared a link to objects that cannot be one: no text, nested, or another kind of link."""

    code: ClassVar[str] = "link_column_unsupported"


class LinkMalformed(InvalidInput):
    """A link that is not the hash of an object."""

    code: ClassVar[str] = "link_malformed"


class LinkDangling(InvalidInput):
    """A link to an object that the dataset does not have."""

    code: ClassVar[str] = "link_dangling"


@dataclass(frozen=True, slots=True)
class LinkedObjects:
    """How many links there are and how large their objects: one that is named twice counts twice."""

    number: int
    size: int

    def to_extra(self) -> ExtraAttributes:
        """As AddData tells it."""
        return ExtraAttributes.from_object(
            {LINKED_OBJECTS: {"numObjectsNaive": self.number, "sizeNaive": self.size}}
        )


def link_columns(schema: DataSchema) -> tuple[str, ...]:
    """The names of the columns of links. Raises `LinkColumnUnsupported`."""
    found = []
    for item in schema.fields:
        if _is_link(item):
            if not isinstance(_inner(item.type), DataTypeString):
                raise _unsupported(item.name, "is no text")
            found.append(item.name)
        _refuse_nested(item.type, item.name)
    return tuple(found)


def linked_objects(
    file: Path, columns: tuple[str, ...], offset_column: str, size_of: ObjectSize
) -> LinkedObjects:
    """The links in the slice `file`. Raises `LinkMalformed`, `LinkDangling`, what `size_of` raises."""
    sizes: dict[str, int] = {}
    number = size = 0
    for column, link, offset in _links(file, columns, offset_column):
        if link not in sizes:
            sizes[link] = _size(link, size_of, f"column {column!r} of the record with offset {offset}")
        number += 1
        size += sizes[link]
    return LinkedObjects(number, size)


def with_attributes(schema: DataSchema, declared: DataSchema | None) -> DataSchema:
    """`schema` with the extra attributes that the read step declares for fields of the same name and type,
    but for those about the encoding of buffers (data.md 2)."""
    if declared is None:
        return schema
    known = {item.name: item for item in declared.fields}
    fields = tuple(_with_extra(item, known) for item in schema.fields)
    return replace(schema, fields=fields)


def _with_extra(item: DataField, known: Mapping[str, DataField]) -> DataField:
    declared = known.get(item.name)
    if declared is None or declared.extra is None or _inner(declared.type) != _inner(item.type):
        return item
    told = declared.extra.to_object()
    kept = {name: value for name, value in told.items() if not name.startswith(_ENCODING)}
    return replace(item, extra=ExtraAttributes.from_object(kept)) if kept else item


def _links(file: Path, columns: tuple[str, ...], offset_column: str) -> Iterator[tuple[str, str, int]]:
    with pq.ParquetFile(file) as parquet:
        for batch in parquet.iter_batches(_BATCH_RECORDS, columns=[offset_column, *columns]):
            offsets = batch.column(offset_column)
            for column in columns:
                links: Any = batch.column(column).to_pylist()
                for row, link in enumerate(links):
                    if link is not None:
                        yield column, link, offsets[row].as_py()


def _size(link: str, size_of: ObjectSize, where: str) -> int:
    try:
        found = size_of(Multihash.parse(link))
    except InvalidInput as error:
        raise LinkMalformed(
            f"The link {shown(link, _SHOWN)} in {where} is not the hash of an object; write it as f1620….",
            objects=[link[:_SHOWN]],
        ) from error
    if found is None:
        raise LinkDangling(
            f"The link {shown(link, _SHOWN)} in {where} names an object that the dataset does not have; put "
            f"the object into its data first.",
            objects=[link],
        )
    return found


def _is_link(item: DataField) -> bool:
    told = None if item.extra is None else item.extra.to_object().get(FIELD_TYPE)
    if not isinstance(told, dict) or told.get("kind") != "ObjectLink":
        return False
    link_type = told.get("linkType")
    if not isinstance(link_type, dict) or link_type.get("kind") != "Multihash":
        raise _unsupported(item.name, "links by something else than a Multihash")
    return True


def _refuse_nested(data_type: DataType, path: str) -> None:
    match _inner(data_type):
        case DataTypeStruct(fields=fields):
            for item in fields:
                if _is_link(item):
                    raise _unsupported(f"{path}.{item.name}", "lies inside another column")
                _refuse_nested(item.type, f"{path}.{item.name}")
        case DataTypeList(item_type=item_type):
            _refuse_nested(item_type, f"{path}[]")


def _inner(data_type: DataType) -> DataType:
    return data_type.inner if isinstance(data_type, DataTypeOption) else data_type


def _unsupported(name: str, why: str) -> LinkColumnUnsupported:
    return LinkColumnUnsupported(
        f"Field {name!r} is declared a link to objects, but {why}; only columns of text that hold "
        f"multihashes can be links.",
        objects=[name],
    )
