"""Whether the columns of a slice are those that the dataset's schema promises (data.md 2).

**What must agree, and what need not.** A reader takes columns by name and trusts the declared types; so
names and types are held strictly, and left free is what deployed writers do differently without a
reader noticing:

* Every column of the schema is in the file and no other, each once. Their order is free: the Spark
  engine leaves the event time where the query put it, the others move it to the front.
* Types are equal as ODF types: how text, bytes, dates, decimals and lists are laid out in memory (Utf8
  or LargeUtf8 or Utf8View, Date32 or Date64, Decimal128 or Decimal256, List or LargeList or a list of
  fixed length) has no meaning. Signedness and width of integers, unit of times, precision and scale,
  and the length of fixed binaries have one.
* A timestamp without a zone is one in UTC, and `+00:00` is UTC: that is how ODF reads both. Any other
  zone has to be the same text.
* A column that the schema calls optional may be required in the file. The other way round is allowed
  where the file's statistics count no null in it, and inside structs and lists (the Spark engine
  declares everything optional).
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from odf_core.metadata import (
    DataField,
    DataType,
    DataTypeDuration,
    DataTypeList,
    DataTypeMap,
    DataTypeOption,
    DataTypeStruct,
    DataTypeTime,
    DataTypeTimestamp,
    TimeUnit,
)

_UTC = frozenset({"UTC", "+00:00", "Etc/UTC", "Z"})


def schema_differences(
    found: Sequence[DataField], declared: Sequence[DataField], null_counts: Mapping[str, int]
) -> Iterator[str]:
    """Sentences without a period, one for each way in which the file's columns differ from the declared."""
    yield from _name_differences(found, declared, "")
    by_name = {field.name: field.type for field in found}
    for field in declared:
        file_type = by_name.get(field.name)
        if file_type is None:
            continue
        yield from _type_differences(file_type, field.type, field.name)
        if _is_optional(file_type) and not _is_optional(field.type) and null_counts.get(field.name):
            yield f"column {field.name} has {null_counts[field.name]} nulls, but is declared required"


def _name_differences(found: Sequence[DataField], declared: Sequence[DataField], path: str) -> Iterator[str]:
    names = [field.name for field in found]
    wanted = {field.name for field in declared}
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            yield f"column {path}{name} occurs {names.count(name)} times"
        if name not in wanted:
            yield f"column {path}{name} is not in the dataset's schema"
    for field in declared:
        if field.name not in names:
            yield f"column {path}{field.name} is missing"


def _type_differences(found: DataType, declared: DataType, path: str) -> Iterator[str]:
    one, other = _plain(found), _plain(declared)
    if isinstance(one, DataTypeStruct) and isinstance(other, DataTypeStruct):
        yield from _name_differences(one.fields, other.fields, f"{path}.")
        by_name = {field.name: field.type for field in one.fields}
        for field in other.fields:
            if field.name in by_name:
                yield from _type_differences(by_name[field.name], field.type, f"{path}.{field.name}")
    elif isinstance(one, DataTypeList) and isinstance(other, DataTypeList):
        yield from _type_differences(one.item_type, other.item_type, f"{path}[]")
    elif isinstance(one, DataTypeMap) and isinstance(other, DataTypeMap):
        yield from _type_differences(one.key_type, other.key_type, f"{path}.key")
        yield from _type_differences(one.value_type, other.value_type, f"{path}.value")
    elif one != other:
        yield f"column {path} is {_shown(one)}, but is declared {_shown(other)}"


def _is_optional(data_type: DataType) -> bool:
    return isinstance(data_type, DataTypeOption)


def _plain(data_type: DataType) -> Any:
    """The type without its Option and with defaults filled in (metadata.md 1, "Version notes")."""
    if isinstance(data_type, DataTypeOption):
        return _plain(data_type.inner)
    if isinstance(data_type, DataTypeTimestamp):
        zone = data_type.timezone or "UTC"
        unit = data_type.unit or TimeUnit.MILLISECOND
        return DataTypeTimestamp(unit=unit, timezone="UTC" if zone in _UTC else zone)
    if isinstance(data_type, DataTypeTime | DataTypeDuration):
        return replace(data_type, unit=data_type.unit or TimeUnit.MILLISECOND)
    return data_type


def _shown(data_type: Any) -> str:
    """The type in a message: `Int64`, `Timestamp(unit=Millisecond, timezone=UTC)`."""
    name = type(data_type).__name__.removeprefix("DataType")
    if isinstance(data_type, DataTypeStruct | DataTypeList | DataTypeMap):
        return name
    properties = [
        f"{slot}={getattr(data_type, slot)}"
        for slot in data_type.__slots__
        if getattr(data_type, slot) is not None
    ]
    return f"{name}({', '.join(properties)})" if properties else name
