"""When two parts of metadata say the same: an absent unit or time zone is its default (metadata.md 1).

The bytes of such twins differ, but an event that only spells a default out changes nothing.
"""

from dataclasses import fields, is_dataclass
from typing import Any

from odf_core.metadata import DataTypeDuration, DataTypeTime, DataTypeTimestamp, TimeUnit

_DEFAULTS: dict[tuple[type, str], Any] = {
    (DataTypeTime, "unit"): TimeUnit.MILLISECOND,
    (DataTypeTimestamp, "unit"): TimeUnit.MILLISECOND,
    (DataTypeTimestamp, "timezone"): "UTC",
    (DataTypeDuration, "unit"): TimeUnit.MILLISECOND,
}


def alike(one: Any, other: Any) -> bool:
    """Whether two values of the metadata model are equal once defaults of data types are filled in."""
    if one.__class__ is not other.__class__:
        return bool(one == other)
    if isinstance(one, tuple | list):
        return len(one) == len(other) and all(map(alike, one, other))
    if is_dataclass(one):
        return all(alike(_value(one, item.name), _value(other, item.name)) for item in fields(one))
    return bool(one == other)


def _value(owner: Any, name: str) -> Any:
    value = getattr(owner, name)
    return _DEFAULTS.get((owner.__class__, name)) if value is None else value
