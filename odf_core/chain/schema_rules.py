"""Rules about the schema of the data: 35 and 36 of metadata.md 6.

Allowed from one ODF schema to the next are other attributes, another order of the fields, and more
optional fields; the same inside structs and items of lists. The deployed implementation compares
types only where both lists of fields have the same names in the same order, and the golden chain
"type change is missed when a column is added at the same time" asks for just that; so it is done
here. What it lets through is met by the checks of the data files against the schema, and is refused
where this program makes the event itself (`schema_faults`).
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from odf_core.chain.arrow_schema import arrow_schema_to_odf
from odf_core.chain.arrow_tables import UnreadableArrowSchema
from odf_core.chain.errors import InvalidEvent, NoOpEvent
from odf_core.chain.likeness import alike
from odf_core.identity import Multihash
from odf_core.metadata import (
    DataField,
    DataSchema,
    DataType,
    DataTypeList,
    DataTypeOption,
    DataTypeStruct,
    SetDataSchema,
)

_MOST_SHOWN = 5


def check_schema_event(event: SetDataSchema, current: SetDataSchema | None, block: Multihash) -> None:
    """Raises the refusal of the first rule that the event breaks after the schema `current`.

    An event with a raw Arrow schema is not checked. Against one, an ODF schema may also make fields
    optional or required, since Arrow schemas were written without care for that.
    """
    if event.schema is None:
        if event.raw_arrow_schema is None:
            raise InvalidEvent(f"SetDataSchema in block {block} has no schema.", rule=36, block=block)
        return
    if current is None:
        return
    previous = _odf_schema(current, block)
    if alike(previous, event.schema):
        raise NoOpEvent(f"Block {block} sets the schema that the dataset has already.", rule=35, block=block)
    from_arrow = current.raw_arrow_schema is not None
    faults = list(
        _field_faults(previous.fields, event.schema.fields, "", _Care(from_arrow, types_by_name=False))
    )
    if faults:
        raise InvalidEvent(
            f"The schema in block {block} is not compatible with the current one: {listed_faults(faults)}.",
            rule=36,
            block=block,
        )


def schema_faults(old: DataSchema, new: DataSchema, *, ignore_optionality: bool = False) -> list[str]:
    """Why records of the schema `old` cannot be read by `new`: clauses, none where they can. Types are
    compared of every field that both have."""
    return list(_field_faults(old.fields, new.fields, "", _Care(ignore_optionality, types_by_name=True)))


def listed_faults(faults: Sequence[str]) -> str:
    """The first few faults, for a sentence."""
    return "; ".join(faults[:_MOST_SHOWN]) + ("; …" if len(faults) > _MOST_SHOWN else "")


class _Care(NamedTuple):
    """What counts: optionality, and types where fields were added, removed or moved."""

    ignore_optionality: bool
    types_by_name: bool


def _odf_schema(current: SetDataSchema, block: Multihash) -> DataSchema:
    if current.schema is not None:
        return current.schema
    try:
        return arrow_schema_to_odf(current.raw_arrow_schema or b"")
    except UnreadableArrowSchema as error:
        raise InvalidEvent(
            f"The schema in block {block} cannot be compared with the current one, a raw Arrow schema that "
            f"cannot be read: {error}.",
            rule=36,
            block=block,
        ) from error


def _field_faults(
    old: Sequence[DataField], new: Sequence[DataField], path: str, care: _Care
) -> Iterator[str]:
    after = {item.name: item for item in new}
    are_same = [item.name for item in old] == [item.name for item in new]
    for item in old:
        if item.name not in after:
            yield f"field {path}{item.name} is gone"
        elif are_same or care.types_by_name:
            yield from _type_faults(item.type, after[item.name].type, path + item.name, care)
    old_names = {item.name for item in old}
    for item in new:
        if item.name not in old_names and not isinstance(item.type, DataTypeOption):
            yield f"new field {path}{item.name} is not optional"


def _type_faults(old: DataType, new: DataType, place: str, care: _Care) -> Iterator[str]:
    if isinstance(old, DataTypeOption) or isinstance(new, DataTypeOption):
        if not care.ignore_optionality and not isinstance(old, DataTypeOption):
            yield f"{place} becomes optional"
        elif not care.ignore_optionality and not isinstance(new, DataTypeOption):
            yield f"{place} becomes required"
        yield from _type_faults(_inner(old), _inner(new), place, care)
    elif isinstance(old, DataTypeStruct) and isinstance(new, DataTypeStruct):
        yield from _field_faults(old.fields, new.fields, place + ".", care)
    elif isinstance(old, DataTypeList) and isinstance(new, DataTypeList):
        if old.fixed_length != new.fixed_length:
            yield f"the length of {place} changes"
        yield from _type_faults(old.item_type, new.item_type, place + "[]", care)
    elif not alike(old, new):
        yield f"{place} changes its type from {_name(old)} to {_name(new)}"


def _inner(data_type: DataType) -> DataType:
    return data_type.inner if isinstance(data_type, DataTypeOption) else data_type


def _name(data_type: DataType) -> str:
    return data_type.__class__.__name__.removeprefix("DataType")
