"""The columns of a schema as the logical hash sees them: fields depth first, leaves with hashers."""

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from odf_core.data.digest.bits import Bits, combine_validity, own_validity
from odf_core.data.digest.types import sized_text, storage_type, type_prefix


@dataclass(frozen=True, slots=True)
class Layout:
    """What of a schema enters the hash: names with nesting levels, and a type prefix for each leaf.

    Two schemas with equal layouts have records of one digest: nullability, metadata and the encoding
    of buffers do not count (data.md 1.2).
    """

    header: bytes
    prefixes: tuple[bytes, ...]
    names: tuple[str, ...]


def layout_of(schema: Any) -> Layout:
    """The layout of a `pa.Schema`; raises `UnsupportedLogicalHashType`."""
    header: list[bytes] = []
    leaves: list[tuple[str, bytes]] = []
    for field in schema:
        _visit(field, 0, field.name, header, leaves)
    return Layout(b"".join(header), tuple(prefix for _, prefix in leaves), tuple(name for name, _ in leaves))


def _visit(field: Any, level: int, path: str, header: list[bytes], leaves: list[tuple[str, bytes]]) -> None:
    header.append(sized_text(field.name) + struct.pack("<Q", level))
    data_type = storage_type(field.type)
    if not pa.types.is_struct(data_type):
        leaves.append((path, type_prefix(data_type, path)))
        return
    for child in data_type:
        _visit(child, level + 1, f"{path}.{child.name}", header, leaves)


def leaf_arrays(batch: Any) -> Iterator[tuple[Any, Bits | None]]:
    """Every leaf of a record batch in layout order, with the validity that the reference gives it."""
    for column in batch.columns:
        yield from _leaves(column, None)


def _leaves(array: Any, parent: Bits | None) -> Iterator[tuple[Any, Bits | None]]:
    while isinstance(array, pa.ExtensionArray):
        array = array.storage
    validity = combine_validity(parent, own_validity(array))
    if not pa.types.is_struct(array.type):
        yield array, validity
        return
    for position in range(array.type.num_fields):
        yield from _leaves(array.field(position), validity)


def mixes_validity(schema: Any) -> bool:
    """True where a nullable field lies below a nullable struct: there the hash depends on the bounds
    of batches and on what null slots hold (data.md 1.6)."""
    return any(_mixes(field, under_nullable=False) for field in schema)


def _mixes(field: Any, *, under_nullable: bool) -> bool:
    if field.nullable and under_nullable:
        return True
    data_type = storage_type(field.type)
    if not pa.types.is_struct(data_type):
        return False
    return any(_mixes(child, under_nullable=under_nullable or field.nullable) for child in data_type)
