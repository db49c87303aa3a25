"""Records in the forms in which a node answers (data.md 6): objects, arrays, columns, CSV."""

import math
from enum import StrEnum
from typing import Any

import orjson
import pyarrow as pa

from odf_core.data.records.cells import column_cells
from odf_core.data.records.errors import RecordsTooLarge, UnsupportedRecordType
from odf_core.limits import MiB

MOST_COLUMN_BYTES = 100 * MiB
"""Records in columns are held as a whole: so many bytes of them at most."""

_QUOTED = frozenset(',"\n\r')


class RecordsFormat(StrEnum):
    """Forms of records; the values are the words of the query API."""

    JSON_AOS = "JsonAoS"
    """An array of objects, one per record."""
    JSON_SOA = "JsonSoA"
    """An object of arrays, one per column."""
    JSON_AOA = "JsonAoA"
    """An array of arrays, one per record, in the order of the columns."""
    CSV = "Csv"
    """Text: a header and a line per record, no line end after the last one."""


def encode_records(table: Any, form: RecordsFormat = RecordsFormat.JSON_AOS) -> Any:
    """The records of a `pa.Table` as a JSON-compatible value; as text for CSV.

    Raises `UnsupportedRecordType` for a column without cells in this form (structs have none in columns)
    and `RecordsTooLarge` for more than 100 MiB in columns.
    """
    match form:
        case RecordsFormat.CSV:
            return "\n".join(_csv_lines(table))
        case RecordsFormat.JSON_SOA:
            _check_columns(table)
            return dict(zip(table.column_names, _columns(table), strict=True))
        case RecordsFormat.JSON_AOA:
            return [list(row) for row in _rows(table)]
        case RecordsFormat.JSON_AOS:
            names = table.column_names
            return [dict(zip(names, row, strict=True)) for row in _rows(table)]


def json_text(value: Any) -> str:
    """Compact JSON text; floats in their shortest form."""
    return orjson.dumps(value).decode()


def _columns(table: Any, *, finite: bool = True) -> list[list[Any]]:
    return [
        column_cells(column, name, finite=finite)
        for name, column in zip(table.column_names, table.columns, strict=True)
    ]


def _rows(table: Any) -> list[tuple[Any, ...]]:
    columns = _columns(table)
    return list(zip(*columns, strict=True)) if columns else [()] * table.num_rows


def _check_columns(table: Any) -> None:
    for field in table.schema:
        if _has_struct(field.type):
            raise UnsupportedRecordType(
                f"Column {field.name!r} holds structs, which {RecordsFormat.JSON_SOA} cannot; take another "
                "form.",
                objects=[field.name],
            )
    if table.nbytes > MOST_COLUMN_BYTES:
        raise RecordsTooLarge(
            f"The records have {table.nbytes} bytes; {RecordsFormat.JSON_SOA} holds {MOST_COLUMN_BYTES}. "
            "Take fewer records, or another form.",
            extras={"bytes": table.nbytes, "limit": MOST_COLUMN_BYTES},
        )


def _has_struct(kind: Any) -> bool:
    if pa.types.is_struct(kind):
        return True
    return any(_has_struct(kind.field(index).type) for index in range(kind.num_fields))


def _csv_lines(table: Any) -> list[str]:
    columns = _columns(table, finite=False)
    lines = [",".join(_quoted(name) for name in table.column_names)]
    lines += [",".join(_csv_cell(cell) for cell in row) for row in zip(*columns, strict=True)]
    return lines


def _csv_cell(cell: Any) -> str:
    match cell:
        case None:
            return ""
        case str():
            return _quoted(cell)
        case float() if not math.isfinite(cell):
            return "NaN" if math.isnan(cell) else str(cell)
        case dict() | list():
            return _quoted(json_text(cell))  # NaN within becomes null, as in JSON
        case _:
            return json_text(cell)


def _quoted(text: str) -> str:
    if _QUOTED.isdisjoint(text):
        return text
    doubled = text.replace('"', '""')
    return f'"{doubled}"'
