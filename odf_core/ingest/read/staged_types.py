"""Arrow types as they are staged (contract of `StagedInput`).

Staged are plain types: no dictionaries, no views, no large variants, timestamps in milli- or microseconds
UTC (naive is UTC), dates as Date32. Everything else stays as it is; the engine maps what it lacks.
"""

from typing import Any

import pyarrow as pa

_PLAIN: dict[int, Any] = {
    **dict.fromkeys([pa.large_string().id, pa.string_view().id], pa.string()),
    **dict.fromkeys([pa.large_binary().id, pa.binary_view().id], pa.binary()),
    pa.date64().id: pa.date32(),
}
_item = pa.int8()
_LISTS = {
    t.id for t in (pa.list_(_item), pa.large_list(_item), pa.list_view(_item), pa.large_list_view(_item))
}


def staged_schema(schema: Any) -> Any:
    """The `pa.Schema` of the records as they are staged: types made plain, names and nullability kept."""
    return pa.schema([_staged_field(field) for field in schema])


def physical_schema(schema: Any) -> Any:
    """A staged schema with everything nullable but keys of maps: what the files carry."""
    return pa.schema([_nullable_field(field) for field in schema])


def staged_type(t: Any) -> Any:
    """One type made plain, whatever it is made of."""
    if isinstance(t, pa.BaseExtensionType):
        return staged_type(t.storage_type)
    if pa.types.is_dictionary(t):
        return staged_type(t.value_type)
    if pa.types.is_run_end_encoded(t):
        return staged_type(t.value_type)
    if pa.types.is_timestamp(t):
        return pa.timestamp("ms" if t.unit in ("s", "ms") else "us", "UTC")
    if pa.types.is_time(t):
        return pa.time64("us") if t.unit == "ns" else t
    if pa.types.is_nested(t):
        return _over_fields(t, _staged_field)
    return _PLAIN.get(t.id, t)


def _staged_field(field: Any) -> Any:
    return pa.field(field.name, staged_type(field.type), field.nullable)


def _nullable_field(field: Any) -> Any:
    t = _over_fields(field.type, _nullable_field) if pa.types.is_nested(field.type) else field.type
    return pa.field(field.name, t, nullable=True)


def _over_fields(t: Any, change: Any) -> Any:
    if pa.types.is_struct(t):
        return pa.struct([change(t.field(index)) for index in range(t.num_fields)])
    if pa.types.is_map(t):
        key = pa.field("key", change(t.key_field).type, nullable=False)
        return pa.map_(key, change(t.item_field), keys_sorted=t.keys_sorted)
    if pa.types.is_fixed_size_list(t):
        return pa.list_(change(t.value_field), t.list_size)
    if t.id in _LISTS:
        return pa.list_(change(t.value_field))
    return t
