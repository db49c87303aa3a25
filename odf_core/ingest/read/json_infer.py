"""The schema of JSON records from a sample (data.md 3.2, 3.3).

Columns are alphabetical within a record; those that come first in a later record follow. Whole numbers
are int64, with others among them float64; scalars of several kinds, whole numbers beyond 64 bits and
columns without any value are strings.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa

from odf_core.ingest.read.errors import InputLimitExceeded, UnexpectedInputShape, UnsupportedInputType
from odf_core.ingest.read.json_columns import kind_of
from odf_core.limits import Limits

_INT64 = range(-(1 << 63), 1 << 63)


@dataclass(slots=True)
class _Seen:
    """What has been seen in one place of the records."""

    path: str
    scalars: set[Any] = field(default_factory=set)
    items: "_Seen | None" = None
    members: "dict[str, _Seen] | None" = None


def infer_schema(records: Sequence[dict[str, Any]], file: str, limits: Limits) -> Any:
    """The `pa.Schema` (all nullable) of the records, the first of which is row 1.

    Raises `UnexpectedInputShape` where a column is an object in one record and an array or a scalar in
    another, `UnsupportedInputType`, `InputLimitExceeded`.
    """
    survey = _Survey(file, limits)
    root = _Seen("")
    for row, record in enumerate(records, start=1):
        survey.look(record, root, row, 0)
    members = root.members or {}
    return pa.schema([(name, survey.type_of(seen)) for name, seen in members.items()])


class _Survey:
    def __init__(self, file: str, limits: Limits) -> None:
        self._file = file
        self._limits = limits
        self._columns = 0

    def look(self, value: Any, seen: _Seen, row: int, depth: int) -> None:
        if depth > self._limits.nesting_depth:
            raise InputLimitExceeded.at(
                self._file, f"values are nested deeper than {self._limits.nesting_depth}.", row=row
            )
        if isinstance(value, dict):
            self._look_at_object(value, seen, row, depth)
        elif isinstance(value, list):
            self._require(seen, "an array", row, ok=seen.members is None and not seen.scalars)
            seen.items = seen.items or _Seen(f"{seen.path}[]")
            for item in value:
                self.look(item, seen.items, row, depth + 1)
        elif value is not None:
            self._require(seen, kind_of(value), row, ok=seen.members is None and seen.items is None)
            seen.scalars.add(_scalar_type(value))

    def _look_at_object(self, value: dict[str, Any], seen: _Seen, row: int, depth: int) -> None:
        self._require(seen, "an object", row, ok=seen.items is None and not seen.scalars)
        seen.members = {} if seen.members is None else seen.members
        for name in sorted(value):
            if name not in seen.members:
                self._count(row)
                seen.members[name] = _Seen(f"{seen.path}.{name}" if seen.path else name)
            self.look(value[name], seen.members[name], row, depth + 1)

    def type_of(self, seen: _Seen) -> Any:
        if seen.items is not None:
            return pa.list_(self.type_of(seen.items))
        if seen.members is not None:
            if not seen.members:
                raise UnsupportedInputType.at(
                    self._file, "it holds empty objects only, which make no column; leave it out.",
                    column=seen.path,
                )  # fmt: skip
            return pa.struct([(name, self.type_of(member)) for name, member in seen.members.items()])
        if seen.scalars == {pa.int64(), pa.float64()}:
            return pa.float64()
        return next(iter(seen.scalars)) if len(seen.scalars) == 1 else pa.string()

    def _count(self, row: int) -> None:
        self._columns += 1
        if self._columns > self._limits.slice_columns:
            raise InputLimitExceeded.at(
                self._file, f"more than {self._limits.slice_columns} columns.", row=row
            )

    def _require(self, seen: _Seen, found: str, row: int, *, ok: bool) -> None:
        if not ok:
            raise UnexpectedInputShape.at(
                self._file,
                f"{found} stands where earlier rows have something else; declare the column in the read "
                "step's schema, or mend the row.",
                row=row,
                column=seen.path,
            )


def _scalar_type(value: Any) -> Any:
    if isinstance(value, bool):
        return pa.bool_()
    if isinstance(value, int):
        return pa.int64() if value in _INT64 else pa.string()
    return pa.string() if isinstance(value, str) or not hasattr(value, "real") else pa.float64()
