"""The Arrow schema that the reference implementation sees in a Parquet file (data.md 1.1).

The logical hash covers the types of the *read* columns. The reference's reader and pyarrow agree on what a
Parquet type means, but not on how far the Arrow schema embedded by the writer (the *hint*) may change it.
The differences below are small and rare (64-bit dates, times without a Parquet type, time zones), and each
would give another hash.
"""

import base64
import binascii
from collections.abc import Iterable
from typing import Any

import pyarrow as pa

from odf_core.data.digest.types import storage_type
from odf_core.data.errors import InvalidDataFile
from odf_core.data.files.parquet import READ_ERRORS, reading
from odf_core.data.schema.texts import read_texts

_HINT_KEY = b"ARROW:schema"


def reference_schema(parquet_file: Any) -> Any:
    """The `pa.Schema` of a `pq.ParquetFile` as the reference derives it; raises `InvalidDataFile`."""
    with reading():
        read = parquet_file.schema_arrow
        read_texts(read)
    hints = _hinted_types(parquet_file.metadata.metadata or {})
    return pa.schema(_reference_fields(read, hints))


def _reference_fields(fields: Iterable[Any], hints: "_Hints") -> list[Any]:
    return [
        pa.field(field.name, _reference_type(field.type, hints.get(index, field.name)), field.nullable)
        for index, field in enumerate(fields)
    ]


class _Hints:
    """The fields of an embedded schema by position; one of another name says nothing."""

    def __init__(self, fields: list[Any]) -> None:
        self._fields = fields

    def get(self, index: int, name: str) -> Any:
        if index < len(self._fields) and self._fields[index].name == name:
            return self._fields[index].type
        return None


def _hinted_types(metadata: dict[bytes, bytes]) -> _Hints:
    text = metadata.get(_HINT_KEY)
    if text is None:
        return _Hints([])
    try:
        schema = pa.ipc.read_schema(pa.py_buffer(base64.b64decode(text)))
        read_texts(schema)
    except (binascii.Error, *READ_ERRORS) as error:
        raise InvalidDataFile(f"The Arrow schema embedded in a Parquet file is broken: {error}.") from error
    return _Hints(list(schema))


def _reference_type(read: Any, hint: Any) -> Any:
    read = storage_type(read)
    if hint is None:
        return read
    hint = storage_type(hint)
    if pa.types.is_struct(read) and pa.types.is_struct(hint):
        return pa.struct(_reference_fields(read, _Hints(list(hint))))
    if _is_any_list(read) and _is_any_list(hint):
        return _list_of(read, _reference_type(read.value_type, hint.value_type))
    return _hinted_scalar(read, hint)


def _is_any_list(t: Any) -> bool:
    return bool(pa.types.is_list(t) or pa.types.is_large_list(t) or pa.types.is_fixed_size_list(t))


def _list_of(list_type: Any, item: Any) -> Any:
    field = list_type.value_field.with_type(item)
    if pa.types.is_fixed_size_list(list_type):
        return pa.list_(field, list_type.list_size)
    return pa.large_list(field) if pa.types.is_large_list(list_type) else pa.list_(field)


def _hinted_scalar(read: Any, hint: Any) -> Any:
    """Where the reference follows the hint, the hint; else what the Parquet type says."""
    if pa.types.is_date64(hint) and (pa.types.is_date32(read) or pa.types.is_int64(read)):
        return hint
    if pa.types.is_int64(read) and (pa.types.is_time64(hint) or pa.types.is_duration(hint)):
        return hint
    if pa.types.is_int32(read) and pa.types.is_time32(hint):
        return hint
    if pa.types.is_decimal128(read) and pa.types.is_decimal(hint):
        return hint
    if pa.types.is_binary(read) and _is_text(hint):
        return hint
    if pa.types.is_timestamp(hint):
        return _hinted_timestamp(read, hint)
    return read


def _is_text(t: Any) -> bool:
    return bool(pa.types.is_string(t) or pa.types.is_large_string(t) or pa.types.is_string_view(t))


def _hinted_timestamp(read: Any, hint: Any) -> Any:
    """A hint gives its time zone to a timestamp of its own unit only; pyarrow gives it to any unit."""
    if pa.types.is_int64(read):
        return hint
    if not pa.types.is_timestamp(read):
        return read
    if read.unit == hint.unit:
        return read if hint.tz is None else hint
    if read.unit == "ns" and read.tz is None:
        return hint
    return pa.timestamp(read.unit, None if read.tz is None else "UTC")
