"""Rules about the schema of the data: 35 and 36 of metadata.md 6.

Allowed from one ODF schema to the next are other attributes, another order of the fields, and more
optional fields; the same inside structs and items of lists. The deployed implementation compares
types only where both lists of fields have the same names in the same order, and the golden chain
"type change is missed when a column is added at the same time" asks for just that; so it is done
here. What it lets through is met by the checks of the data files against the schema.
"""

from collections.abc import Iterator, Sequence

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
    faults = list(_field_faults(previous.fields, event.schema.fields, "", ignore_optionality=from_arrow))
    if faults:
        shown = "; ".join(faults[:_MOST_SHOWN]) + ("; …" if len(faults) > _MOST_SHOWN else "")
        raise InvalidEvent(
            f"The schema in block {block} is not compatible with the current one: {shown}.",
            rule=36,
            block=block,
        )


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
    old: Sequence[DataField], new: Sequence[DataField], path: str, *, ignore_optionality: bool
) -> Iterator[str]:
    if [item.name for item in old] == [item.name for item in new]:
        for before, after in zip(old, new, strict=True):
            place = path + before.name
            yield from _type_faults(before.type, after.type, place, ignore_optionality=ignore_optionality)
        return
    old_names = {item.name for item in old}
    new_names = {item.name for item in new}
    for item in old:
        if item.name not in new_names:
            yield f"field {path}{item.name} is gone"
    for item in new:
        if item.name not in old_names and not isinstance(item.type, DataTypeOption):
            yield f"new field {path}{item.name} is not optional"


def _type_faults(old: DataType, new: DataType, place: str, *, ignore_optionality: bool) -> Iterator[str]:
    if isinstance(old, DataTypeOption) or isinstance(new, DataTypeOption):
        if not ignore_optionality and not isinstance(old, DataTypeOption):
            yield f"{place} becomes optional"
        elif not ignore_optionality and not isinstance(new, DataTypeOption):
            yield f"{place} becomes required"
        yield from _type_faults(_inner(old), _inner(new), place, ignore_optionality=ignore_optionality)
    elif isinstance(old, DataTypeStruct) and isinstance(new, DataTypeStruct):
        yield from _field_faults(old.fields, new.fields, place + ".", ignore_optionality=ignore_optionality)
    elif isinstance(old, DataTypeList) and isinstance(new, DataTypeList):
        if old.fixed_length != new.fixed_length:
            yield f"the length of {place} changes"
        yield from _type_faults(
            old.item_type, new.item_type, place + "[]", ignore_optionality=ignore_optionality
        )
    elif not alike(old, new):
        yield f"{place} changes its type from {_name(old)} to {_name(new)}"


def _inner(data_type: DataType) -> DataType:
    return data_type.inner if isinstance(data_type, DataTypeOption) else data_type


def _name(data_type: DataType) -> str:
    return data_type.__class__.__name__.removeprefix("DataType")
